import { keccak256 } from "../crypto/keccak256.ts";
import { addressToBytes, ZERO_ADDRESS } from "./address.ts";
import type { Block } from "./block.ts";
import { genesisHash, type GenesisConfig } from "./genesis.ts";
import {
  EMPTY_OMMERS_HASH,
  EMPTY_REQUESTS_HASH,
  EMPTY_TRIE_ROOT,
  ZERO_HASH,
} from "./hash-constants.ts";
import { HEADER_NONCE_SIZE, headerHash } from "./header.ts";
import { listRoot } from "./list-root.ts";
import { createReceipt, encodeReceipt, type Receipt } from "./receipt.ts";
import { encodeRlp } from "./rlp/rlp.ts";

/**
 * The beneficiary of every block ("quorate" in ASCII). Its key is unknown: a fee that is offered
 * although gas is free is burned, and no leader gains by ordering.
 */
export const COINBASE_ADDRESS = 0x71756f72617465n;

/**
 * The one transaction of block 0. It is a record of the first funding, not something that was
 * signed or run: decodeTransaction refuses it, and the zero address keeps nonce and balance 0.
 */
export type GenesisTransaction = {
  readonly encoded: Uint8Array;
  readonly hash: Uint8Array;
  readonly from: bigint;
  readonly to: bigint;
  readonly value: bigint;
};

export type GenesisBlock = {
  readonly block: Block;
  readonly hash: Uint8Array;
  readonly transaction: GenesisTransaction;
  readonly receipt: Receipt;
};

/** Block 0. The state root is the caller's: it covers alloc and the permission contract. */
export function createGenesisBlock(config: GenesisConfig, stateRoot: Uint8Array): GenesisBlock {
  const transaction = createGenesisTransaction(config);
  const receipt = createReceipt({ type: 0, succeeded: true, cumulativeGasUsed: 0n, logs: [] });
  const transactions = [transaction.encoded];
  const header = {
    parentHash: ZERO_HASH,
    ommersHash: EMPTY_OMMERS_HASH,
    coinbase: COINBASE_ADDRESS,
    stateRoot,
    transactionsRoot: listRoot(transactions),
    receiptsRoot: listRoot([encodeReceipt(receipt)]),
    logsBloom: receipt.logsBloom,
    difficulty: 0n,
    number: 0n,
    gasLimit: config.gasLimit,
    gasUsed: 0n,
    timestamp: config.timestamp,
    extraData: new Uint8Array(0),
    // Later blocks carry their consensus block's hash here; before the first there is the genesis.
    mixHash: genesisHash(config),
    nonce: new Uint8Array(HEADER_NONCE_SIZE),
    baseFeePerGas: 0n,
    withdrawalsRoot: EMPTY_TRIE_ROOT,
    blobGasUsed: 0n,
    excessBlobGas: 0n,
    parentBeaconBlockRoot: ZERO_HASH,
    requestsHash: EMPTY_REQUESTS_HASH,
  };
  return { block: { header, transactions }, hash: headerHash(header), transaction, receipt };
}

/** To the first account of alloc; without any, nothing to the zero address. */
function createGenesisTransaction(config: GenesisConfig): GenesisTransaction {
  const [first] = config.alloc;
  const to = first?.address ?? ZERO_ADDRESS;
  const value = first?.balance ?? 0n;
  const noData = new Uint8Array(0);
  const encoded = encodeRlp([0, 0, 0, addressToBytes(to), value, noData, 0, 0, 0]);
  return { encoded, hash: keccak256(encoded), from: ZERO_ADDRESS, to, value };
}
