/** Counts over the entries that match: by time, by the values of a field, or both. */
import type { DatabaseSync } from "node:sqlite";
import { SearchError } from "./search-error.ts";
import type { Aggregation, TermsAggregation } from "./search-request.ts";
import { type Condition, isColumn, LEAF_TEXT, pathsOf } from "./search-sql.ts";

type Json = Readonly<Record<string, unknown>>;
type TermCount = { readonly key: string; readonly doc_count: number };

const BUCKETS_MAX = 10_000;

export function aggregate(
  database: DatabaseSync,
  aggregations: readonly Aggregation[],
  condition: Condition,
): Json {
  const results = aggregations.map((aggregation): [string, Json] => [
    aggregation.name,
    aggregation.kind === "terms"
      ? countTerms(database, aggregation, condition)
      : countByTime(database, aggregation, condition),
  ]);
  return Object.fromEntries(results);
}

function countTerms(
  database: DatabaseSync,
  { field, size }: TermsAggregation,
  condition: Condition,
): Json {
  const { from, key, paths } = groupingOf(field);
  const rows = database
    .prepare(
      `SELECT ${key} AS key, count(DISTINCT e.id) AS count FROM ${from}` +
        ` WHERE ${condition.sql} AND ${key} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?`,
    )
    .all(...paths, ...condition.values, BUCKETS_MAX);
  const counts = rows.map((row) => ({ key: String(row["key"]), doc_count: Number(row["count"]) }));
  const rest = counts.slice(size).reduce((sum, one) => sum + one.doc_count, 0);
  return {
    doc_count_error_upper_bound: 0,
    sum_other_doc_count: rest,
    buckets: counts.slice(0, size),
  };
}

function countByTime(
  database: DatabaseSync,
  aggregation: Extract<Aggregation, { readonly kind: "dateHistogram" }>,
  condition: Condition,
): Json {
  const { intervalMs, countMin, within } = aggregation;
  // The remainder of a time before 1970 is negative: it is moved up before it is taken away.
  const bucket = `e.time_ms - ((e.time_ms % ${intervalMs}) + ${intervalMs}) % ${intervalMs}`;
  const rows = database
    .prepare(
      `SELECT ${bucket} AS bucket, count(*) AS count FROM entries AS e` +
        ` WHERE ${condition.sql} GROUP BY 1 ORDER BY 1 LIMIT ?`,
    )
    .all(...condition.values, BUCKETS_MAX + 1);
  if (rows.length > BUCKETS_MAX) throw tooManyBuckets();
  const counts = new Map(rows.map((row) => [Number(row["bucket"]), Number(row["count"])]));
  const terms = within === undefined ? undefined : termsByTime(database, bucket, within, condition);
  const times = countMin === 0 ? everyTime([...counts.keys()], intervalMs) : [...counts.keys()];
  const buckets = times
    .filter((timeMs) => (counts.get(timeMs) ?? 0) >= countMin)
    .map((timeMs) => ({
      key_as_string: new Date(timeMs).toISOString(),
      key: timeMs,
      doc_count: counts.get(timeMs) ?? 0,
      ...(within === undefined
        ? {}
        : { [within.name]: { buckets: (terms?.get(timeMs) ?? []).slice(0, within.size) } }),
    }));
  return { buckets };
}

function termsByTime(
  database: DatabaseSync,
  bucket: string,
  { field }: TermsAggregation,
  condition: Condition,
): ReadonlyMap<number, readonly TermCount[]> {
  const { from, key, paths } = groupingOf(field);
  const rows = database
    .prepare(
      `SELECT ${bucket} AS bucket, ${key} AS key, count(*) AS count FROM ${from}` +
        ` WHERE ${condition.sql} AND ${key} IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 3 DESC LIMIT ?`,
    )
    .all(...paths, ...condition.values, BUCKETS_MAX * 10);
  const byTime = new Map<number, TermCount[]>();
  for (const row of rows) {
    const timeMs = Number(row["bucket"]);
    const term = { key: String(row["key"]), doc_count: Number(row["count"]) };
    const known = byTime.get(timeMs);
    if (known === undefined) byTime.set(timeMs, [term]);
    else known.push(term);
  }
  return byTime;
}

function groupingOf(field: string): {
  readonly from: string;
  readonly key: string;
  readonly paths: readonly string[];
} {
  if (isColumn(field)) return { from: "entries AS e", key: `e.${field}`, paths: [] };
  const [path = "$"] = pathsOf(field);
  const from = "entries AS e, json_tree(e.source, ?) AS leaf";
  return { from, key: `iif(leaf.atom IS NULL, NULL, ${LEAF_TEXT})`, paths: [path] };
}

/** Without gaps, as a chart needs them. */
function everyTime(times: readonly number[], intervalMs: number): readonly number[] {
  const first = times[0];
  const last = times.at(-1);
  if (first === undefined || last === undefined) return [];
  const count = (last - first) / intervalMs + 1;
  if (count > BUCKETS_MAX) throw tooManyBuckets();
  return Array.from({ length: count }, (_none, index) => first + index * intervalMs);
}

function tooManyBuckets(): SearchError {
  return new SearchError(
    `more than ${BUCKETS_MAX} buckets; ask for a longer interval or a shorter time`,
    400,
    "too_many_buckets_exception",
  );
}
