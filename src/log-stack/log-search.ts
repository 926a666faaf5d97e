/** Runs a search over one connection and answers in the real store's form. */
import type { DatabaseSync } from "node:sqlite";
import { isRecord } from "../base/parse-json.ts";
import { DATA_STREAM } from "./log-pipeline.ts";
import { aggregate } from "./search-aggregations.ts";
import type { SearchRequest, SortKey } from "./search-request.ts";
import { type Condition, conditionOf, isColumn, pathsOf, type SqlValue } from "./search-sql.ts";
import { SearchError } from "./search-error.ts";

export type Hit = {
  readonly _index: string;
  readonly _id: string;
  readonly _score: null;
  readonly _source?: Readonly<Record<string, unknown>>;
  readonly sort: readonly (string | number | null)[];
};

export const OUT_OF_TIME = "the search took too long; ask for a shorter time or a rarer word";

type Row = Readonly<Record<string, unknown>>;

/** No more than this of the sources goes into one answer. */
const ANSWER_LENGTH_MAX = 64 * 1024 * 1024;

export function searchLogs(
  database: DatabaseSync,
  request: SearchRequest,
  nowMs: number,
): Readonly<Record<string, unknown>> {
  const startedMs = performance.now();
  const condition = inTime(conditionOf(request.query, nowMs));
  const hits = request.size === 0 ? [] : findHits(database, request, condition);
  const total = request.isCounted
    ? { total: { value: countEntries(database, condition), relation: "eq" } }
    : {};
  const aggregations = aggregate(database, request.aggregations, condition);
  return {
    took: Math.round(performance.now() - startedMs),
    timed_out: false,
    _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
    hits: { ...total, max_score: null, hits },
    ...(request.aggregations.length === 0 ? {} : { aggregations }),
  };
}

/** The database asks for every entry it looks at, so that no search holds the thread for ever. */
export function limitTime(database: DatabaseSync, timeMaxMs: number): () => void {
  let deadlineMs = Number.POSITIVE_INFINITY;
  let asked = 0;
  database.function("is_in_time", { deterministic: false }, () => {
    asked += 1;
    // Reading the clock costs more than this check.
    if (asked % 256 === 0 && performance.now() > deadlineMs) throw new Error(OUT_OF_TIME);
    return 1;
  });
  return () => {
    deadlineMs = performance.now() + timeMaxMs;
  };
}

export function inTime({ sql, values }: Condition): Condition {
  return { sql: `${sql} AND is_in_time()`, values };
}

export function countEntries(database: DatabaseSync, { sql, values }: Condition): number {
  const row = database
    .prepare(`SELECT count(*) AS count FROM entries AS e WHERE ${sql}`)
    .get(...values);
  return Number(row?.["count"] ?? 0);
}

/** Names of fields among the newest entries that match, with how many of those have them. */
export function fieldCounts(
  database: DatabaseSync,
  { sql, values }: Condition,
  sampleMax: number,
): Readonly<Record<string, number>> {
  const rows = database
    .prepare(`SELECT source FROM entries AS e WHERE ${sql} ORDER BY time_ms DESC LIMIT ?`)
    .all(...values, sampleMax);
  const counts = new Map<string, number>();
  for (const row of rows) {
    for (const name of Object.keys(sourceOf(row))) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function findHits(database: DatabaseSync, request: SearchRequest, condition: Condition): Hit[] {
  const keys = withTieBreak(request.sort);
  const after = afterCondition(keys, request.searchAfter);
  const order = keys.map(({ sql, isDescending }) => `${sql} ${isDescending ? "DESC" : "ASC"}`);
  const columns = keys.map(({ sql }, index) => `${sql} AS key${index}`).join(", ");
  const rows = database
    .prepare(
      `SELECT e.id, e.source, ${columns} FROM entries AS e` +
        ` WHERE ${condition.sql} AND ${after.sql} ORDER BY ${order.join(", ")} LIMIT ? OFFSET ?`,
    )
    .iterate(...condition.values, ...after.values, request.size, request.from);
  const hits: Hit[] = [];
  let length = 0;
  for (const row of rows) {
    length += typeof row["source"] === "string" ? row["source"].length : 0;
    if (length > ANSWER_LENGTH_MAX) throw new SearchError("the answer is too large; lower [size]");
    hits.push(hitOf(row, keys, request.sourceFields));
  }
  return hits;
}

type OrderedKey = SortKey & { readonly sql: string };

/** Entries of one millisecond keep the order of their arrival. */
function withTieBreak(sort: readonly SortKey[]): readonly OrderedKey[] {
  const keys = sort.map((key) => ({ ...key, sql: sortSql(key.field) }));
  if (keys.some(({ field }) => field === "_id")) return keys;
  return [...keys, { field: "_id", sql: "e.id", isDescending: keys[0]?.isDescending ?? true }];
}

function sortSql(field: string): string {
  if (field === "@timestamp") return "e.time_ms";
  if (field === "_id") return "e.id";
  if (isColumn(field)) return `e.${field}`;
  const paths = pathsOf(field).map((path) => `json_extract(e.source, '${quoteText(path)}')`);
  return paths.length === 1 ? (paths[0] ?? "") : `coalesce(${paths.join(", ")})`;
}

/** A path stands in the statement itself: ORDER BY takes no bound values. */
function quoteText(text: string): string {
  return text.replaceAll("'", "''");
}

/** What comes after the given values in the order of the keys, which may differ in direction. */
function afterCondition(
  keys: readonly OrderedKey[],
  after: readonly (string | number)[] | undefined,
): Condition {
  if (after === undefined) return { sql: "1", values: [] };
  const used = keys.slice(0, after.length);
  if (used.length < after.length) throw new SearchError("[search_after] has too many values");
  const alternatives: string[] = [];
  const values: SqlValue[] = [];
  used.forEach(({ sql, isDescending }, index) => {
    const equal = used.slice(0, index).map((key) => `${key.sql} = ?`);
    alternatives.push(`(${[...equal, `${sql} ${isDescending ? "<" : ">"} ?`].join(" AND ")})`);
    values.push(...after.slice(0, index + 1).map((value) => idValue(value)));
  });
  return { sql: `(${alternatives.join(" OR ")})`, values };
}

/** Ids are texts on the wire and numbers in the database. */
function idValue(value: string | number): SqlValue {
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
}

function hitOf(row: Row, keys: readonly OrderedKey[], fields: readonly string[] | undefined): Hit {
  const source = sourceOf(row);
  const sort = keys.map((_key, index) => {
    const value = row[`key${index}`];
    return typeof value === "string" || typeof value === "number" ? value : null;
  });
  const head = { _index: DATA_STREAM, _id: String(row["id"]), _score: null };
  if (fields === undefined) return { ...head, _source: source, sort };
  if (fields.length === 0) return { ...head, sort };
  const chosen = Object.entries(source).filter(([name]) => fields.includes(name));
  return { ...head, _source: Object.fromEntries(chosen), sort };
}

function sourceOf(row: Row): Readonly<Record<string, unknown>> {
  const text = row["source"];
  const value: unknown = typeof text === "string" ? JSON.parse(text) : {};
  return isRecord(value) ? value : {};
}
