import { readBigEndian } from "../../base/big-endian.ts";
import { addressHash, wordHash } from "../../chain/word-hash.ts";
import { EMPTY_CODE, encodeAccount } from "../account.ts";
import { encodeSlotValue } from "../slot-value.ts";
import { accountTrieAt, putOrDelete, storageTrieAt } from "./state-tries.ts";
import { Trie } from "./trie.ts";
import type { WriteBehindStore } from "../write-behind-store.ts";

/** A hypothetical account. An empty one counts as absent. */
export type TrialAccount = {
  readonly address: bigint;
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly codeHash: bigint;
  /** The slots are all that there are, not only those that differ. */
  readonly isStorageWhole: boolean;
  readonly slots: readonly { readonly slot: bigint; readonly value: bigint }[];
};

/** The root that the state after a retained block would have with these accounts. */
export function trialStateRoot(
  store: WriteBehindStore,
  block: bigint,
  changed: readonly TrialAccount[],
): Uint8Array {
  const accounts = accountTrieAt(store, block);
  for (const { address, nonce, balance, codeHash, isStorageWhole, slots } of changed) {
    const isEmpty = nonce === 0n && balance === 0n && codeHash === EMPTY_CODE.hash;
    const storage = isStorageWhole
      ? new Trie({ load: () => undefined })
      : storageTrieAt(store, block, address);
    for (const { slot, value } of slots) {
      putOrDelete(storage, wordHash(slot), value === 0n ? undefined : encodeSlotValue(value));
    }
    const storageRoot = readBigEndian(storage.rootHash(), 0, 32);
    const encoded = encodeAccount({ nonce, balance, codeHash, storageRoot });
    putOrDelete(accounts, addressHash(address), isEmpty ? undefined : encoded);
  }
  return accounts.rootHash();
}
