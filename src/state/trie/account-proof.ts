import { addressHash, wordHash } from "../../chain/word-hash.ts";
import type { Account } from "../account.ts";
import type { StateReader } from "../state-reader.ts";
import { accountTrieAt, storageTrieAt } from "./state-tries.ts";
import type { Trie } from "./trie.ts";
import type { WriteBehindStore } from "../write-behind-store.ts";

/** An account and some of its slots with their proofs, from the root down (eth_getProof). */
export type StateProof = {
  readonly address: bigint;
  readonly account: Account | undefined;
  readonly proof: readonly Uint8Array[];
  readonly storage: readonly SlotProof[];
};

export type SlotProof = {
  readonly slot: bigint;
  readonly value: bigint;
  readonly proof: readonly Uint8Array[];
};

/** `state` is the one whose tries these are. */
export function proveAccount(
  tries: { readonly accounts: Trie; readonly storage: Trie },
  state: StateReader,
  address: bigint,
  slots: readonly bigint[],
): StateProof {
  return {
    address,
    account: state.account(address),
    proof: tries.accounts.prove(addressHash(address)),
    storage: slots.map((slot) => ({
      slot,
      value: state.storage(address, slot),
      proof: tries.storage.prove(wordHash(slot)),
    })),
  };
}

/** In the state after a retained block, whose tries are made from the last that were saved. */
export function proveAccountAt(
  store: WriteBehindStore,
  state: StateReader,
  block: bigint,
  address: bigint,
  slots: readonly bigint[],
): StateProof {
  const accounts = accountTrieAt(store, block);
  const storage = storageTrieAt(store, block, address);
  return proveAccount({ accounts, storage }, state, address, slots);
}
