/** The words of an entry that a search without a field looks at: all its values, not its names. */
import { isRecord } from "../base/parse-json.ts";

/** The same in every entry, or a time that is looked for by range. */
const SILENT_FIELDS: ReadonlySet<string> = new Set(["@timestamp", "@version", "data_stream"]);

export type SearchableText = { readonly message: string; readonly rest: string };

export function searchableText(fields: Readonly<Record<string, unknown>>): SearchableText {
  const { message, ...others } = fields;
  const words: string[] = [];
  for (const [name, value] of Object.entries(others)) {
    if (!SILENT_FIELDS.has(name)) gatherWords(value, words);
  }
  const own: string[] = [];
  gatherWords(message, own);
  return { message: withoutNul(own.join(" ")), rest: withoutNul(words.join(" ")) };
}

function gatherWords(value: unknown, words: string[]): void {
  if (typeof value === "string") words.push(value);
  else if (typeof value === "number" || typeof value === "boolean") words.push(String(value));
  else if (Array.isArray(value)) for (const one of value) gatherWords(one, words);
  else if (isRecord(value)) for (const one of Object.values(value)) gatherWords(one, words);
}

/** The database would take it for the end of the text. */
function withoutNul(text: string): string {
  return text.includes("\u0000") ? text.replaceAll("\u0000", " ") : text;
}
