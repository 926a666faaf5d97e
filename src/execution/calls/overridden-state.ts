/** A state with overrides of some accounts. */
import type { AccountOverride } from "../../api/call-request.ts";
import {
  type Account,
  type AccountCode,
  EMPTY_CODE,
  EMPTY_STORAGE_ROOT,
} from "../../state/account.ts";
import type { StateReader } from "../../state/state-reader.ts";
import { WordMap } from "../../state/word-map.ts";

/**
 * Stands for the root of storage that is not empty and whose trie is never built: calls only check
 * whether it is empty.
 */
const SOME_STORAGE_ROOT = 1n;

type Overridden = {
  readonly account: Account | undefined;
  readonly slots: WordMap<bigint>;
  /** Slots that are not named are 0. */
  readonly isWhole: boolean;
};

export function overrideState(
  state: StateReader,
  overrides: readonly AccountOverride[],
): StateReader {
  const accounts = new WordMap<Overridden>();
  const codes = new WordMap<AccountCode>();
  for (const override of overrides) {
    accounts.set(override.address, overrideAccount(state, override, codes));
  }
  return {
    account: (address) => {
      const overridden = accounts.get(address);
      return overridden === undefined ? state.account(address) : overridden.account;
    },
    storage: (address, slot) => {
      const overridden = accounts.get(address);
      if (overridden === undefined) return state.storage(address, slot);
      const value = overridden.slots.get(slot);
      if (value !== undefined) return value;
      return overridden.isWhole ? 0n : state.storage(address, slot);
    },
    code: (hash) => codes.get(hash) ?? state.code(hash),
    internCode: (bytes) => state.internCode(bytes),
  };
}

function overrideAccount(
  state: StateReader,
  override: AccountOverride,
  codes: WordMap<AccountCode>,
): Overridden {
  const before = state.account(override.address);
  const code = override.code === undefined ? undefined : state.internCode(override.code);
  if (code !== undefined) codes.set(code.hash, code);
  const slots = new WordMap<bigint>();
  for (const { slot, value } of override.storage ?? override.slots ?? []) slots.set(slot, value);
  const isWhole = override.storage !== undefined;
  const { nonce, balance } = override;
  const isNamed = nonce !== undefined || balance !== undefined || code !== undefined;
  if (before === undefined && !isNamed && slots.size === 0) {
    return { account: undefined, slots, isWhole };
  }
  const account = {
    nonce: nonce ?? before?.nonce ?? 0n,
    balance: balance ?? before?.balance ?? 0n,
    codeHash: code?.hash ?? before?.codeHash ?? EMPTY_CODE.hash,
    storageRoot: storageRootOf(before, slots, isWhole),
  };
  return { account, slots, isWhole };
}

function storageRootOf(
  before: Account | undefined,
  slots: WordMap<bigint>,
  isWhole: boolean,
): bigint {
  for (const value of slots.values()) if (value !== 0n) return SOME_STORAGE_ROOT;
  return isWhole ? EMPTY_STORAGE_ROOT : (before?.storageRoot ?? EMPTY_STORAGE_ROOT);
}
