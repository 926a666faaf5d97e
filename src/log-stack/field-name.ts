import { SearchError } from "./search-error.ts";

const FIELD_LENGTH_MAX = 256;

/** A trailing `.keyword` is how the real store names the exact form of a text. */
export function fieldName(value: unknown): string {
  if (typeof value !== "string" || value === "" || value.length > FIELD_LENGTH_MAX) {
    throw new SearchError("a field is named by a text");
  }
  if (/["\u0000-\u001f]/.test(value)) throw new SearchError("a field name has a forbidden sign");
  return value.replace(/\.keyword$/, "");
}
