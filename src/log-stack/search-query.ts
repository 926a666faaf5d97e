/**
 * The part of the store's query language that the read endpoint takes, as values. What is not
 * understood is refused with its name, never ignored: a script must not get the wrong entries.
 */
import { fieldName } from "./field-name.ts";
import { isRecord } from "../base/parse-json.ts";
import { parseQueryString } from "./query-string.ts";
import type { Query, Scalar } from "./query.ts";
import { SearchError } from "./search-error.ts";

const DEPTH_MAX = 20;
const CLAUSES_MAX = 256;
const TEXT_LENGTH_MAX = 4_096;

type Parse = (body: unknown, depth: number) => Query;

export function parseQuery(value: unknown, depth = 0): Query {
  if (depth > DEPTH_MAX) throw new SearchError(`queries may be nested ${DEPTH_MAX} deep`);
  const [name, body] = onlyEntry(value, "query");
  const parse = PARSERS.get(name);
  if (parse === undefined) {
    const known = [...PARSERS.keys()].join(", ");
    throw new SearchError(`unknown query [${name}]; this store knows: ${known}`);
  }
  return parse(body, depth + 1);
}

const PARSERS: ReadonlyMap<string, Parse> = new Map<string, Parse>([
  ["match_all", () => ({ kind: "all" })],
  ["match_none", () => ({ kind: "none" })],
  ["match", parseMatch],
  ["match_phrase", (body) => parseFieldText(body, "phrase")],
  ["multi_match", parseMultiMatch],
  ["term", parseTerm],
  ["terms", parseTerms],
  ["prefix", parsePrefix],
  ["exists", (body) => ({ kind: "exists", field: fieldName(record(body, "exists")["field"]) })],
  ["range", parseRange],
  ["ids", parseIds],
  ["bool", parseBool],
  ["query_string", parseQueryStringBody],
  ["simple_query_string", parseQueryStringBody],
]);

function parseMatch(body: unknown): Query {
  const [field, value] = onlyEntry(body, "match");
  if (!isRecord(value)) return words(field, textOf(value), "some");
  const { query, operator, ...others } = value;
  refuseOthers(others, "match");
  return words(field, textOf(query), isAnd(operator) ? "every" : "some");
}

function parseFieldText(body: unknown, mode: "phrase"): Query {
  const [field, value] = onlyEntry(body, "match_phrase");
  return words(field, textOf(isRecord(value) ? value["query"] : value), mode);
}

function parseMultiMatch(body: unknown): Query {
  const { query, fields = ["*"], operator, ...others } = record(body, "multi_match");
  refuseOthers(others, "multi_match");
  const mode = isAnd(operator) ? "every" : "some";
  const names = list(fields).map(fieldName);
  return some(names.map((name) => words(name, textOf(query), mode)));
}

function words(field: string, text: string, mode: "every" | "some" | "phrase"): Query {
  const name = fieldName(field);
  return { kind: "words", field: name === "*" || name === "_all" ? undefined : name, text, mode };
}

function parseTerm(body: unknown): Query {
  const [field, value] = onlyEntry(body, "term");
  const scalar = scalarOf(isRecord(value) ? value["value"] : value);
  return { kind: "term", field: fieldName(field), values: [scalar] };
}

function parseTerms(body: unknown): Query {
  const [field, value] = onlyEntry(body, "terms");
  return { kind: "term", field: fieldName(field), values: list(value).map(scalarOf) };
}

function parsePrefix(body: unknown): Query {
  const [field, value] = onlyEntry(body, "prefix");
  const text = textOf(isRecord(value) ? value["value"] : value);
  return { kind: "prefix", field: fieldName(field), value: text };
}

function parseRange(body: unknown): Query {
  const [field, value] = onlyEntry(body, "range");
  const { gte, gt, lte, lt, ...others } = record(value, "range");
  refuseOthers(others, "range", ["format"]);
  const bounds = {
    ...(gte === undefined ? {} : { gte: scalarOf(gte) }),
    ...(gt === undefined ? {} : { gt: scalarOf(gt) }),
    ...(lte === undefined ? {} : { lte: scalarOf(lte) }),
    ...(lt === undefined ? {} : { lt: scalarOf(lt) }),
  };
  return { kind: "range", field: fieldName(field), bounds };
}

function parseIds(body: unknown): Query {
  const ids = list(record(body, "ids")["values"]).map(Number);
  return { kind: "ids", ids: ids.filter((id) => Number.isSafeInteger(id)) };
}

function parseBool(body: unknown, depth: number): Query {
  const clauses = record(body, "bool");
  const { must, filter, should, must_not: mustNot, minimum_should_match, ...others } = clauses;
  refuseOthers(others, "bool");
  const parseAll = (value: unknown): Query[] =>
    (value === undefined ? [] : list(value)).map((one) => parseQuery(one, depth));
  const needed = [...parseAll(must), ...parseAll(filter)];
  const optional = parseAll(should);
  const countMin = Number(minimum_should_match ?? (needed.length === 0 ? 1 : 0));
  if (!Number.isInteger(countMin)) throw new SearchError("[minimum_should_match] takes a number");
  const refused = parseAll(mustNot).map((query): Query => ({ kind: "not", query }));
  const chosen: Query[] =
    optional.length === 0 || countMin <= 0 ? [] : [{ kind: "some", queries: optional, countMin }];
  return { kind: "every", queries: [...needed, ...chosen, ...refused] };
}

/** Options that affect only ranking or leniency are accepted and ignored. */
const QUIET_OPTIONS = ["fields", "default_field", "analyze_wildcard", "lenient"];

function parseQueryStringBody(body: unknown): Query {
  const { query, default_operator, ...others } = record(body, "query_string");
  refuseOthers(others, "query_string", QUIET_OPTIONS);
  return parseQueryString(textOf(query), isAnd(default_operator) ? "every" : "some");
}

function isAnd(operator: unknown): boolean {
  return typeof operator === "string" && operator.toLowerCase() === "and";
}

export function some(queries: readonly Query[]): Query {
  return { kind: "some", queries, countMin: 1 };
}

export function record(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new SearchError(`[${name}] takes an object`);
  return value;
}

export function onlyEntry(value: unknown, name: string): readonly [string, unknown] {
  const entries = Object.entries(record(value, name));
  const [first] = entries;
  if (first === undefined || entries.length > 1) {
    throw new SearchError(`[${name}] takes an object with exactly one name`);
  }
  return first;
}

export function refuseOthers(
  others: Readonly<Record<string, unknown>>,
  name: string,
  allowed: readonly string[] = [],
): void {
  const other = Object.keys(others).find((key) => !allowed.includes(key));
  if (other !== undefined) throw new SearchError(`[${name}] does not know [${other}]`);
}

function list(value: unknown): readonly unknown[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (values.length > CLAUSES_MAX) throw new SearchError(`at most ${CLAUSES_MAX} clauses`);
  return values;
}

function scalarOf(value: unknown): Scalar {
  if (typeof value === "string" && value.length <= TEXT_LENGTH_MAX) return value;
  if (typeof value === "number" || typeof value === "boolean") return value;
  throw new SearchError("a value is a text, a number or a boolean");
}

function textOf(value: unknown): string {
  return String(scalarOf(value));
}
