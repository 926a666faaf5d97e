/**
 * Whether a job is worth a try on a thread that must not be held up. What a job costs before its
 * first opcode (hashing and analysing code, recovering signatures, walking tries) cannot be
 * interrupted, so it is bounded by what the job holds.
 */
import type { CallRequest } from "../../api/call-request.ts";
import { accessListOf, authorizationListOf } from "../../chain/transaction.ts";
import type { ReadKind, ReadParams } from "./read-job.ts";

/** Init code of the largest size, and some more. */
const BYTES_MAX = 65_536;
const WORDS_MAX = 256;
/** Each is a signature to recover. */
const AUTHORIZATIONS_MAX = 2;
/** Each is a path of a trie to encode. */
const PROOF_SLOTS_MAX = 4;

export function isLightRead<Kind extends ReadKind>(kind: Kind, params: ReadParams[Kind]): boolean {
  return IS_LIGHT[kind](params);
}

const IS_LIGHT: { readonly [Kind in ReadKind]: (params: ReadParams[Kind]) => boolean } = {
  call: ({ request }) => isLightCall(request),
  estimateGas: ({ request }) => isLightCall(request),
  accessList: ({ request }) => isLightCall(request),
  proof: ({ slots }) => slots.length <= PROOF_SLOTS_MAX,
  traceCall: () => false,
  traceTransactions: () => false,
  traceEntries: () => false,
  simulation: () => false,
};

function isLightCall({ transaction, stateOverrides = [] }: CallRequest): boolean {
  let bytes = transaction.data.length;
  let words = 0;
  for (const { code, storage, slots } of stateOverrides) {
    bytes += code?.length ?? 0;
    words += 1 + (storage?.length ?? 0) + (slots?.length ?? 0);
  }
  for (const { storageKeys } of accessListOf(transaction)) words += 1 + storageKeys.length;
  const { length: authorizations } = authorizationListOf(transaction);
  return bytes <= BYTES_MAX && words <= WORDS_MAX && authorizations <= AUTHORIZATIONS_MAX;
}
