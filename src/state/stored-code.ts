import { invariant } from "../base/invariant.ts";
import { EMPTY_CODE, type AccountCode } from "./account.ts";
import type { CodeCache } from "./code-cache.ts";
import type { KeyValueStore } from "./key-value-store.ts";
import { codeKey } from "./state-keys.ts";

/** The code of an account, from memory or from the store, where it must be. */
export function storedCode(
  hash: bigint,
  codes: CodeCache,
  store: Pick<KeyValueStore, "get">,
): AccountCode {
  if (hash === EMPTY_CODE.hash) return EMPTY_CODE;
  const known = codes.get(hash);
  if (known !== undefined) return known;
  const stored = store.get(codeKey(hash));
  invariant(stored !== undefined, "the code of an account is in the store");
  return codes.intern(stored);
}
