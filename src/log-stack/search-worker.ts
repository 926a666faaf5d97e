/**
 * The reading side of the log store, on a thread of its own: a search over the whole store takes
 * nothing from the input. One request at a time, in order; answers are JSON texts.
 */
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { invariant } from "../base/invariant.ts";
import { openForReading } from "./log-database.ts";
import {
  countEntries,
  fieldCounts,
  inTime,
  limitTime,
  OUT_OF_TIME,
  searchLogs,
} from "./log-search.ts";
import { errorBody, SearchError } from "./search-error.ts";
import { parseQuery, record } from "./search-query.ts";
import { parseSearchRequest } from "./search-request.ts";
import { conditionOf } from "./search-sql.ts";

export type SearchWorkerOptions = { readonly filePath: string; readonly timeMaxMs: number };

export type SearchTask = {
  readonly ticket: number;
  readonly kind: "search" | "count" | "fields";
  readonly body: unknown;
};

export type SearchAnswer = {
  readonly ticket: number;
  readonly status: number;
  readonly text: string;
};

const FIELD_SAMPLE_MAX = 500;

if (!isMainThread && parentPort !== null) serve(workerData as SearchWorkerOptions);

function serve({ filePath, timeMaxMs }: SearchWorkerOptions): void {
  const port = parentPort;
  invariant(port !== null, "the search thread has a parent");
  const database = openForReading(filePath);
  const startClock = limitTime(database, timeMaxMs);
  port.on("message", (task: SearchTask) => {
    startClock();
    port.postMessage(answerTo(task));
  });

  function answerTo({ ticket, kind, body }: SearchTask): SearchAnswer {
    try {
      return { ticket, status: 200, text: JSON.stringify(run(kind, body ?? {})) };
    } catch (error) {
      const { status, type, message } = failureOf(error);
      return { ticket, status, text: JSON.stringify(errorBody(type, message, status)) };
    }
  }

  function run(kind: SearchTask["kind"], body: unknown): unknown {
    const nowMs = Date.now();
    if (kind === "search") return searchLogs(database, parseSearchRequest(body), nowMs);
    const { query } = record(body, `_${kind}`);
    const parsed = query === undefined ? { kind: "all" as const } : parseQuery(query);
    const condition = inTime(conditionOf(parsed, nowMs));
    if (kind === "fields") return { fields: fieldCounts(database, condition, FIELD_SAMPLE_MAX) };
    return { count: countEntries(database, condition), _shards: { total: 1, successful: 1 } };
  }
}

function failureOf(error: unknown): SearchError {
  if (error instanceof SearchError) return error;
  const text = error instanceof Error ? error.message : "";
  if (text.includes(OUT_OF_TIME)) return new SearchError(OUT_OF_TIME, 503, "timeout_exception");
  return new SearchError("the store could not answer", 500, "store_exception");
}
