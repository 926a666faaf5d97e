/**
 * The block executor of a client node: its state keeps its past, and its index finds every block by
 * its number. Nothing reaches the disk but by `flush`, which the follower calls only when replicas
 * have signed the same results: a state that went wrong is gone with its process.
 */
import { CodedError } from "../../base/coded-error.ts";
import { createGenesisBlock, type GenesisBlock } from "../../chain/genesis-block.ts";
import type { GenesisConfig } from "../../chain/genesis.ts";
import { BlockExecutor, type BlockExecutorOptions } from "../../ledger/block-executor.ts";
import { assertGenesis } from "../../ledger/chain-records.ts";
import type { StateMark } from "../../state/state-database.ts";
import type { StateStore } from "../../storage/state-store.ts";
import type { StateUpdate } from "../reads/read-worker.ts";
import { BlockNumbers } from "./block-numbers.ts";

export type ChainExecutor = BlockExecutor<BlockNumbers>;

export type OpenedChain = {
  readonly executor: ChainExecutor;
  readonly genesisBlock: GenesisBlock;
};

/** Makes block 0 in an empty store. Throws STATE_CORRUPT, or GENESIS_MISMATCH. */
export function openChainExecutor(
  options: Omit<BlockExecutorOptions, "keepsHistory">,
  store: StateStore,
): OpenedChain {
  const index = new BlockNumbers(store);
  const executor = new BlockExecutor({ ...options, keepsHistory: true }, { store, index });
  return { executor, genesisBlock: readGenesisBlock(executor, options.genesis) };
}

/** What a thread that reads beside this one needs to see the same state (read-worker.ts). */
export function unwrittenState(
  { database, index }: ChainExecutor,
  since: StateMark | undefined,
): StateUpdate & { readonly mark: StateMark } {
  const unwritten = database.unwritten(since);
  const { mark } = database;
  const isWritten = since !== undefined && since.flushCount !== mark.flushCount;
  return { unwritten, isWritten, hashes: index.unwrittenHashes(), mark };
}

function readGenesisBlock(
  { database, genesis: { net, blockHash } }: ChainExecutor,
  genesis: GenesisConfig,
): GenesisBlock {
  const stateRoot = database.stateRootAt(0n);
  if (stateRoot === undefined) throw new CodedError("STATE_CORRUPT", { block: 0n });
  const genesisBlock = createGenesisBlock(genesis, stateRoot);
  assertGenesis({ net, blockHash }, { net, blockHash: genesisBlock.hash });
  return genesisBlock;
}
