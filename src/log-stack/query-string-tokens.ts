/** The signs and words of a search text (see query-string.ts). */
import { SearchError } from "./search-error.ts";
import { fieldName } from "./field-name.ts";
import type { RangeBounds } from "./query.ts";

export type QueryToken =
  | ("(" | ")" | "+" | "-" | "AND" | "OR" | "NOT")
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "word"; readonly text: string; readonly isPrefix: boolean }
  | { readonly kind: "phrase"; readonly text: string }
  | { readonly kind: "range"; readonly bounds: RangeBounds };

const TOKENS_MAX = 256;

const SPACE = /\s+/y;
const SIGN = /[()]|[+-](?=\S)|&&|\|\||!(?=\S)/y;
const PHRASE = /"((?:[^"\\]|\\.)*)"/y;
const RANGE = /([[{])\s*(\S+)\s+TO\s+([^\s\]}]+)\s*([\]}])/iy;
const COMPARISON = /(>=|<=|>|<)\s*([^\s()]+)/y;
const FIELD = /((?:[^\s()":\\<>]|\\.)+):(?=\S)/y;
const WORD = /(?:[^\s()"\\]|\\.)+/y;

const SIGNS: Readonly<Record<string, QueryToken>> = { "&&": "AND", "||": "OR", "!": "NOT" };

export function tokenizeQueryString(text: string): QueryToken[] {
  const tokens: QueryToken[] = [];
  let position = 0;
  const match = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = position;
    const found = pattern.exec(text);
    if (found === null) return undefined;
    position = pattern.lastIndex;
    return found;
  };
  while (position < text.length) {
    if (match(SPACE) !== undefined) continue;
    tokens.push(nextToken(match, tokens.at(-1)));
    if (tokens.length > TOKENS_MAX) throw new SearchError(`query_string: over ${TOKENS_MAX} words`);
  }
  return tokens;
}

function nextToken(
  match: (pattern: RegExp) => RegExpExecArray | undefined,
  last: QueryToken | undefined,
): QueryToken {
  const isValue = typeof last === "object" && last.kind === "field";
  // `view:-1` is a value, `-view:1` a refusal.
  const sign = isValue ? match(/\(/y) : match(SIGN);
  if (sign !== undefined) return signOf(sign[0]);
  const phrase = match(PHRASE);
  if (phrase !== undefined) return { kind: "phrase", text: withoutEscapes(phrase[1] ?? "") };
  const range = match(RANGE);
  if (range !== undefined) return { kind: "range", bounds: boundsOf(range) };
  const comparison = isValue ? match(COMPARISON) : undefined;
  if (comparison !== undefined) return comparisonOf(comparison[1] ?? "", comparison[2] ?? "");
  const field = isValue ? undefined : match(FIELD);
  if (field !== undefined)
    return { kind: "field", name: fieldName(withoutEscapes(field[1] ?? "")) };
  const word = match(WORD);
  if (word === undefined) throw new SearchError("query_string: a quotation mark is not closed");
  return wordOf(word[0]);
}

function signOf(sign: string): QueryToken {
  switch (sign) {
    case "(":
    case ")":
    case "+":
    case "-":
      return sign;
    default:
      return SIGNS[sign] ?? { kind: "word", text: sign, isPrefix: false };
  }
}

function wordOf(word: string): QueryToken {
  if (word === "AND" || word === "OR" || word === "NOT") return word;
  const isPrefix = word.endsWith("*") && !word.endsWith("\\*");
  return { kind: "word", text: withoutEscapes(isPrefix ? word.slice(0, -1) : word), isPrefix };
}

function boundsOf([, open, from, to, close]: RegExpExecArray): RangeBounds {
  const lower = from === undefined || from === "*" ? {} : { [open === "[" ? "gte" : "gt"]: from };
  const upper = to === undefined || to === "*" ? {} : { [close === "]" ? "lte" : "lt"]: to };
  return { ...lower, ...upper };
}

function comparisonOf(sign: string, value: string): QueryToken {
  const name = { ">=": "gte", ">": "gt", "<=": "lte", "<": "lt" }[sign] ?? "gte";
  return { kind: "range", bounds: { [name]: value } };
}

function withoutEscapes(text: string): string {
  return text.replace(/\\(.)/gs, "$1");
}
