import { CodedError } from "../base/coded-error.ts";
import { parseTimestamp } from "../chain/genesis-timestamp.ts";

/** Throws GENESIS_TIMESTAMP_MALFORMED or GENESIS_TIMESTAMP_NOT_A_DATE. */
export function timestampOf(text: string): bigint {
  const parsed = parseTimestamp(text);
  if (!parsed.ok) throw new CodedError(parsed.error.code, { given: text });
  return parsed.value;
}
