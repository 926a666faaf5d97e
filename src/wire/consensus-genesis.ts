/**
 * Block 0 of the consensus chain, as replicas and client nodes alike derive it from the genesis.
 */
import { genesisHash, type GenesisConfig } from "../chain/genesis.ts";
import type { Hash, Header } from "../consensus/block.ts";
import { bytesToHash, ZERO_HASH_TEXT } from "./hash-text.ts";

export type ConsensusGenesis = {
  /** Names the network in every signature and block hash. */
  readonly net: Uint8Array;
  readonly header: Header;
  /** The result of executing block 0, which every replica is taken to have. */
  readonly result: Hash;
};

/** `result` is the result hash of the Ethereum block 0 of this genesis. */
export function consensusGenesis(config: GenesisConfig, result: Uint8Array): ConsensusGenesis {
  const net = genesisHash(config);
  const resultText = bytesToHash(result);
  const header: Header = {
    epoch: 0,
    height: 0,
    parent: ZERO_HASH_TEXT,
    payloadHash: bytesToHash(net),
    txCount: 0,
    payloadSize: 0,
    timestampMs: Number(config.timestamp) * 1_000,
    execHeight: 0,
    execResult: resultText,
  };
  return { net, header, result: resultText };
}
