/** Queries as conditions of the database over `entries AS e`. Values are always bound, never text. */
import { unreachable } from "../base/invariant.ts";
import { COLUMN_FIELDS } from "./log-database.ts";
import { parseMoment } from "./moment.ts";
import { SearchError } from "./search-error.ts";
import type { Query, RangeBounds, Scalar } from "./query.ts";

export type SqlValue = string | number;
export type Condition = { readonly sql: string; readonly values: readonly SqlValue[] };

const ALWAYS: Condition = { sql: "1", values: [] };
const NEVER: Condition = { sql: "0", values: [] };

/** The database gives the two booleans as 1 and 0. */
export const LEAF_TEXT = "iif(type IN ('true', 'false'), type, CAST(atom AS TEXT))";

export function conditionOf(query: Query, nowMs: number): Condition {
  switch (query.kind) {
    case "all":
      return ALWAYS;
    case "none":
      return NEVER;
    case "words":
      return wordsCondition(query);
    case "term":
      return termCondition(query.field, query.values, nowMs);
    case "prefix":
      return prefixCondition(query.field, query.value);
    case "exists":
      return existsCondition(query.field);
    case "range":
      return rangeCondition(query.field, query.bounds, nowMs);
    case "ids":
      return oneOf("e.id", query.ids);
    case "every":
      return join(query.queries, " AND ", ALWAYS, nowMs);
    case "some":
      return someCondition(query.queries, query.countMin, nowMs);
    case "not": {
      const { sql, values } = conditionOf(query.query, nowMs);
      // A field that is not there gives no answer in SQL; here that means "does not match".
      return { sql: `NOT coalesce(${sql}, 0)`, values };
    }
    default:
      return unreachable(query);
  }
}

/** Where a field of an entry may stand: nested, or under a name that has dots itself. */
export function pathsOf(field: string): readonly string[] {
  const nested = `$${field
    .split(".")
    .map((name) => `."${name}"`)
    .join("")}`;
  return field.includes(".") ? [nested, `$."${field}"`] : [nested];
}

export function isColumn(field: string): boolean {
  return COLUMN_FIELDS.includes(field);
}

function join(queries: readonly Query[], word: string, empty: Condition, nowMs: number): Condition {
  if (queries.length === 0) return empty;
  const parts = queries.map((query) => conditionOf(query, nowMs));
  const sql = `(${parts.map((part) => part.sql).join(word)})`;
  return { sql, values: parts.flatMap(({ values }) => values) };
}

function someCondition(queries: readonly Query[], countMin: number, nowMs: number): Condition {
  if (countMin <= 1) return join(queries, " OR ", NEVER, nowMs);
  const parts = queries.map((query) => conditionOf(query, nowMs));
  const sum = parts.map(({ sql }) => `coalesce(${sql}, 0) <> 0`).map((sql) => `(${sql})`);
  return {
    sql: `(${sum.join(" + ")}) >= ${countMin}`,
    values: parts.flatMap(({ values }) => values),
  };
}

function wordsCondition(query: Extract<Query, { readonly kind: "words" }>): Condition {
  const { field, text, mode } = query;
  if (field === "@timestamp" || field === "_id") {
    throw new SearchError(`[${field}] is asked for with [range] or [ids]`);
  }
  const words = wordsOf(text);
  if (words.length === 0) return NEVER;
  const wanted = mode === "phrase" || mode === "prefix" ? [text.toLowerCase()] : words;
  const testOf = (subject: string): string =>
    wanted.map(() => `instr(lower(${subject}), ?) > 0`).join(mode === "every" ? " AND " : " OR ");
  if (field !== undefined && isColumn(field)) {
    return { sql: `(${testOf(`e.${field}`)})`, values: wanted };
  }
  const column = field === "message" ? "message : " : "";
  const quoted = words.map((word) => `"${word}"`);
  const expression =
    mode === "phrase" || mode === "prefix"
      ? `"${words.join(" ")}"${mode === "prefix" ? " *" : ""}`
      : quoted.join(mode === "every" ? " AND " : " OR ");
  const indexed = matches(`${column}(${expression})`);
  if (field === undefined || field === "message") return indexed;
  // The index knows that the words are in the entry; that they are in this field is looked up.
  return both(indexed, leafCondition(field, testOf(LEAF_TEXT), wanted));
}

function termCondition(field: string, terms: readonly Scalar[], nowMs: number): Condition {
  if (field === "_id") return oneOf("e.id", terms.map(Number));
  if (field === "@timestamp") {
    return oneOf(
      "e.time_ms",
      terms.map((term) => parseMoment(term, nowMs)),
    );
  }
  const texts = terms.map(String);
  if (isColumn(field)) return oneOf(`e.${field}`, texts);
  const exact = leafCondition(field, oneOf(LEAF_TEXT, texts).sql, texts);
  const phrases = texts.map((text) => wordsOf(text));
  if (phrases.some((words) => words.length === 0)) return exact;
  const indexed = matches(phrases.map((words) => `"${words.join(" ")}"`).join(" OR "));
  return both(indexed, exact);
}

function prefixCondition(field: string, value: string): Condition {
  if (isColumn(field)) {
    return { sql: `substr(e.${field}, 1, length(?)) = ?`, values: [value, value] };
  }
  const test = `substr(${LEAF_TEXT}, 1, length(?)) = ?`;
  return leafCondition(field, test, [value, value]);
}

function existsCondition(field: string): Condition {
  if (field === "@timestamp" || field === "_id") return ALWAYS;
  if (isColumn(field)) return { sql: `e.${field} IS NOT NULL`, values: [] };
  return leafCondition(field, "atom IS NOT NULL", []);
}

const COMPARISONS = { gte: ">=", gt: ">", lte: "<=", lt: "<" } as const;

function rangeCondition(field: string, bounds: RangeBounds, nowMs: number): Condition {
  const parts = (["gte", "gt", "lte", "lt"] as const).flatMap((name): Condition[] => {
    const bound = bounds[name];
    if (bound === undefined) return [];
    const sign = COMPARISONS[name];
    if (field === "@timestamp") {
      return [{ sql: `e.time_ms ${sign} ?`, values: [parseMoment(bound, nowMs)] }];
    }
    if (field === "_id") return [{ sql: `e.id ${sign} ?`, values: [Number(bound)] }];
    if (isColumn(field)) return [{ sql: `e.${field} ${sign} ?`, values: [String(bound)] }];
    return [leafRange(field, sign, bound)];
  });
  return parts.length === 0 ? existsCondition(field) : parts.reduce(both);
}

/** Numbers are compared as numbers, texts as texts; the two never mix. */
function leafRange(field: string, sign: string, bound: Scalar): Condition {
  const number = Number(bound);
  const test =
    `(type IN ('integer', 'real') AND atom ${sign} ?)` + ` OR (type = 'text' AND atom ${sign} ?)`;
  if (String(bound).trim() === "" || Number.isNaN(number)) {
    return leafCondition(field, `type = 'text' AND atom ${sign} ?`, [String(bound)]);
  }
  return leafCondition(field, test, [number, String(bound)]);
}

/** True when a value of the field, which may be a list, passes the test over `atom`. */
function leafCondition(field: string, test: string, values: readonly SqlValue[]): Condition {
  const paths = pathsOf(field);
  const one = `EXISTS (SELECT 1 FROM json_tree(e.source, ?) WHERE atom IS NOT NULL AND (${test}))`;
  return {
    sql: `(${paths.map(() => one).join(" OR ")})`,
    values: paths.flatMap((path) => [path, ...values]),
  };
}

function matches(expression: string): Condition {
  return {
    sql: "e.id IN (SELECT rowid FROM entry_words WHERE entry_words MATCH ?)",
    values: [expression],
  };
}

function oneOf(sql: string, values: readonly SqlValue[]): Condition {
  if (values.length === 0) return NEVER;
  return { sql: `${sql} IN (${values.map(() => "?").join(", ")})`, values };
}

function both(a: Condition, b: Condition): Condition {
  return { sql: `(${a.sql} AND ${b.sql})`, values: [...a.values, ...b.values] };
}

/** As the index cuts them: letters, digits and what belongs to them. */
function wordsOf(text: string): readonly string[] {
  return (text.match(/[\p{L}\p{N}\p{M}\p{Co}]+/gu) ?? []).map((word) => word.toLowerCase());
}
