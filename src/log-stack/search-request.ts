/** The body of `_search` as a value. */
import { fieldName } from "./field-name.ts";
import { isRecord } from "../base/parse-json.ts";
import { parseInterval } from "./moment.ts";
import { SearchError } from "./search-error.ts";
import type { Query } from "./query.ts";
import { onlyEntry, parseQuery, record, refuseOthers } from "./search-query.ts";

export type SortKey = { readonly field: string; readonly isDescending: boolean };

export type Aggregation =
  | {
      readonly kind: "dateHistogram";
      readonly name: string;
      readonly intervalMs: number;
      readonly countMin: number;
      readonly within: TermsAggregation | undefined;
    }
  | TermsAggregation;

export type TermsAggregation = {
  readonly kind: "terms";
  readonly name: string;
  readonly field: string;
  readonly size: number;
};

export type SearchRequest = {
  readonly query: Query;
  readonly from: number;
  readonly size: number;
  readonly sort: readonly SortKey[];
  readonly searchAfter: readonly (string | number)[] | undefined;
  readonly isCounted: boolean;
  /** Undefined: the whole source; empty: none of it. */
  readonly sourceFields: readonly string[] | undefined;
  readonly aggregations: readonly Aggregation[];
};

export const RESULT_WINDOW_MAX = 10_000;
const SIZE_DEFAULT = 10;
const AGGREGATIONS_MAX = 16;
const TERMS_SIZE_DEFAULT = 10;
const TERMS_SIZE_MAX = 1_000;
const SORT_KEYS_MAX = 4;
const SOURCE_FIELDS_MAX = 256;

export function parseSearchRequest(body: unknown): SearchRequest {
  const { query, from = 0, size = SIZE_DEFAULT, sort, ...more } = record(body, "_search");
  const { search_after, track_total_hits = true, _source, aggs, aggregations, ...others } = more;
  refuseOthers(others, "_search", ["timeout"]);
  const window = { from: count(from, "from"), size: count(size, "size") };
  if (window.from + window.size > RESULT_WINDOW_MAX) {
    throw new SearchError(
      `[from] + [size] may be ${RESULT_WINDOW_MAX} at most; go on with [search_after]`,
    );
  }
  return {
    query: query === undefined ? { kind: "all" } : parseQuery(query),
    ...window,
    sort: parseSort(sort),
    searchAfter: parseSearchAfter(search_after),
    isCounted: track_total_hits !== false,
    sourceFields: parseSourceFields(_source),
    aggregations: parseAggregations(aggregations ?? aggs),
  };
}

function parseSort(value: unknown): SortKey[] {
  if (value === undefined) return [{ field: "@timestamp", isDescending: true }];
  const keys: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (keys.length > SORT_KEYS_MAX) throw new SearchError(`[sort] takes ${SORT_KEYS_MAX} keys`);
  return keys.map((key) => {
    if (typeof key === "string") {
      const [field, order = "asc"] = key.split(":");
      return { field: sortField(field), isDescending: order === "desc" };
    }
    const [field, order] = onlyEntry(key, "sort");
    const direction = isRecord(order) ? (order["order"] ?? "asc") : order;
    return { field: sortField(field), isDescending: direction === "desc" };
  });
}

function sortField(name: unknown): string {
  const field = fieldName(name);
  return field === "_doc" || field === "_shard_doc" || field === "_score" ? "_id" : field;
}

function parseSearchAfter(value: unknown): readonly (string | number)[] | undefined {
  if (value === undefined) return undefined;
  const values: readonly unknown[] = Array.isArray(value) ? value : [];
  const scalars = values.filter((one) => typeof one === "string" || typeof one === "number");
  if (scalars.length === 0 || scalars.length !== values.length) {
    throw new SearchError("[search_after] takes the [sort] values of the last hit");
  }
  return scalars;
}

function parseSourceFields(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === true) return undefined;
  if (value === false) return [];
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (names.length > SOURCE_FIELDS_MAX) throw new SearchError("[_source] has too many names");
  return names.map(fieldName);
}

function parseAggregations(value: unknown): Aggregation[] {
  if (value === undefined) return [];
  const entries = Object.entries(record(value, "aggs"));
  if (entries.length > AGGREGATIONS_MAX) {
    throw new SearchError(`at most ${AGGREGATIONS_MAX} aggregations`);
  }
  return entries.map(([name, body]) => parseAggregation(name, body));
}

function parseAggregation(name: string, value: unknown): Aggregation {
  const { aggs, aggregations, ...own } = record(value, name);
  const [kind, body] = onlyEntry(own, name);
  const within = parseAggregations(aggregations ?? aggs);
  if (kind === "terms" && within.length === 0) return parseTerms(name, body);
  if (kind !== "date_histogram") {
    throw new SearchError(
      `aggregation [${kind}]: this store knows date_histogram, terms, and terms in a date_histogram`,
    );
  }
  const [inner, ...more] = within;
  if (more.length > 0 || inner?.kind === "dateHistogram") {
    throw new SearchError("in a date_histogram there may be one terms aggregation");
  }
  return parseDateHistogram(name, body, inner);
}

function parseTerms(name: string, body: unknown): TermsAggregation {
  const { field, size = TERMS_SIZE_DEFAULT, ...others } = record(body, "terms");
  refuseOthers(others, "terms", ["min_doc_count"]);
  const sizeMax = Math.min(count(size, "size"), TERMS_SIZE_MAX);
  return { kind: "terms", name, field: fieldName(field), size: sizeMax };
}

function parseDateHistogram(
  name: string,
  body: unknown,
  within: TermsAggregation | undefined,
): Aggregation {
  const { field, fixed_interval, calendar_interval, ...others } = record(body, "date_histogram");
  const { interval, min_doc_count = 0, ...rest } = others;
  refuseOthers(rest, "date_histogram");
  if (fieldName(field) !== "@timestamp") {
    throw new SearchError("[date_histogram] is over [@timestamp]");
  }
  return {
    kind: "dateHistogram",
    name,
    intervalMs: parseInterval(fixed_interval ?? calendar_interval ?? interval),
    countMin: count(min_doc_count, "min_doc_count"),
    within,
  };
}

function count(value: unknown, name: string): number {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number) && number >= 0) return number;
  throw new SearchError(`[${name}] takes a number from 0`);
}
