/**
 * The keys of the store. The first byte is the kind.
 *
 *     ACCOUNT address               -> the account as in its leaf
 *     SLOT address slot             -> the value as in its leaf
 *     CODE hash                     -> the bytes
 *     ACCOUNT_NODE path             -> a record of the account trie
 *     STORAGE_NODE address path     -> a record of that account's storage trie
 *     HISTORY key block             -> what `key` held before `block` changed it
 *     BLOCK block                   -> what the block changed, its root, its checkpoint
 *     CHECKPOINT block              -> which records were saved with that block
 *     PROGRESS                      -> how far the state has come
 */
import { ADDRESS_SIZE } from "../chain/address.ts";
import { writeBigEndian } from "../base/big-endian.ts";

export const KEY_KIND = {
  account: 1,
  slot: 2,
  code: 3,
  accountNode: 4,
  storageNode: 5,
  history: 6,
  block: 7,
  checkpoint: 8,
  progress: 9,
} as const;

export const WORD_SIZE = 32;
export const BLOCK_SIZE = 8;

export const PROGRESS_KEY: Uint8Array = Uint8Array.of(KEY_KIND.progress);
export const ACCOUNT_NODE_PREFIX: Uint8Array = Uint8Array.of(KEY_KIND.accountNode);

export function accountKey(address: bigint): Uint8Array {
  return addressKey(KEY_KIND.account, address);
}

export function storageNodePrefix(address: bigint): Uint8Array {
  return addressKey(KEY_KIND.storageNode, address);
}

export function slotKey(address: bigint, slot: bigint): Uint8Array {
  const key = new Uint8Array(1 + ADDRESS_SIZE + WORD_SIZE);
  key[0] = KEY_KIND.slot;
  writeBigEndian(address, key, 1, ADDRESS_SIZE);
  writeBigEndian(slot, key, 1 + ADDRESS_SIZE, WORD_SIZE);
  return key;
}

export function codeKey(hash: bigint): Uint8Array {
  const key = new Uint8Array(1 + WORD_SIZE);
  key[0] = KEY_KIND.code;
  writeBigEndian(hash, key, 1, WORD_SIZE);
  return key;
}

export function nodeKey(prefix: Uint8Array, path: Uint8Array): Uint8Array {
  const key = new Uint8Array(prefix.length + path.length);
  key.set(prefix);
  key.set(path, prefix.length);
  return key;
}

/** Keys of one kind have one length up to here, so no other key's history comes in between. */
export function historyKey(key: Uint8Array, block: bigint): Uint8Array {
  const history = new Uint8Array(1 + key.length + BLOCK_SIZE);
  history[0] = KEY_KIND.history;
  history.set(key, 1);
  writeBigEndian(block, history, 1 + key.length, BLOCK_SIZE);
  return history;
}

export function blockKey(block: bigint): Uint8Array {
  return numberKey(KEY_KIND.block, block);
}

export function checkpointKey(block: bigint): Uint8Array {
  return numberKey(KEY_KIND.checkpoint, block);
}

function numberKey(kind: number, block: bigint): Uint8Array {
  const key = new Uint8Array(1 + BLOCK_SIZE);
  key[0] = kind;
  writeBigEndian(block, key, 1, BLOCK_SIZE);
  return key;
}

function addressKey(kind: number, address: bigint): Uint8Array {
  const key = new Uint8Array(1 + ADDRESS_SIZE);
  key[0] = kind;
  writeBigEndian(address, key, 1, ADDRESS_SIZE);
  return key;
}
