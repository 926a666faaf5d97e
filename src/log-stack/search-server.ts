/** The read endpoint (SPEC L2: the store at port 9200): a part of the real store's API. */
import {
  type Exchange,
  HttpError,
  HttpListener,
  type ListenOptions,
  readRequestBody,
  sendJson,
  sendText,
} from "./http-listener.ts";
import { DATA_STREAM } from "./log-pipeline.ts";
import { errorBody } from "./search-error.ts";
import type { SearchService } from "./search-service.ts";

const BODY_LIMITS = { sentMax: 1024 * 1024, unpackedMax: 1024 * 1024 };

/** The form of the answers, not the product: scripts ask for it before anything else. */
const FORM_VERSION = "7.17.3";

export class SearchServer {
  readonly #search: SearchService;
  #listener: HttpListener | undefined;

  private constructor(search: SearchService) {
    this.#search = search;
  }

  static async open(options: ListenOptions, search: SearchService): Promise<SearchServer> {
    const server = new SearchServer(search);
    server.#listener = await HttpListener.open(options, (exchange) => server.#answer(exchange));
    return server;
  }

  get port(): number {
    return this.#listener?.port ?? 0;
  }

  async close(): Promise<void> {
    await this.#listener?.close();
  }

  async #answer(exchange: Exchange): Promise<void> {
    const { request, response, url } = exchange;
    response.setHeader("x-elastic-product", "Elasticsearch");
    if (request.method !== "GET" && request.method !== "POST" && request.method !== "HEAD") {
      sendFailure(exchange, 405, "method_not_allowed", "this store is written through its input");
      return;
    }
    const parts = url.pathname.split("/").filter((part) => part !== "");
    const last = parts.at(-1) ?? "";
    if (parts.length === 0) sendJson(exchange, 200, JSON.stringify(describeStore()));
    else if (parts.length === 2 && parts[0]?.startsWith("_") !== true && !isOurs(parts[0] ?? "")) {
      const reason = `no such index [${parts[0] ?? ""}]; there is ${DATA_STREAM}`;
      sendFailure(exchange, 404, "index_not_found_exception", reason);
    } else if (last === "_search" || last === "_count") await this.#find(exchange, last);
    else if (last === "_field_caps" || last === "_mapping") await this.#fields(exchange);
    else if (url.pathname === "/_cluster/health") sendJson(exchange, 200, HEALTH);
    else if (url.pathname === "/_cat/indices") await this.#catIndices(exchange);
    else if (parts[0] === "_data_stream") sendJson(exchange, 200, DATA_STREAMS);
    else sendFailure(exchange, 404, "no_handler", `[${url.pathname}] is not part of this store`);
  }

  async #find(exchange: Exchange, action: "_search" | "_count"): Promise<void> {
    const body = await readJson(exchange);
    const { searchParams } = exchange.url;
    const asked: Record<string, unknown> = { ...body };
    const text = searchParams.get("q");
    if (text !== null) {
      const operator = searchParams.get("default_operator") ?? "or";
      asked["query"] = { query_string: { query: text, default_operator: operator } };
    }
    if (action === "_search") {
      for (const name of ["size", "from", "sort"]) {
        const value = searchParams.get(name);
        if (value !== null) asked[name] = name === "sort" ? value.split(",") : value;
      }
    }
    const kind = action === "_search" ? "search" : "count";
    const { status, text: answer } = await this.#search.run(kind, asked);
    sendJson(exchange, status, answer);
  }

  async #fields(exchange: Exchange): Promise<void> {
    const { status, text } = await this.#search.run("fields", {});
    sendJson(exchange, status, text);
  }

  async #catIndices(exchange: Exchange): Promise<void> {
    const { text } = await this.#search.run("count", {});
    const count: unknown = JSON.parse(text);
    const row = {
      health: "green",
      status: "open",
      index: DATA_STREAM,
      "docs.count": countIn(count),
    };
    if (exchange.url.searchParams.get("format") === "json") {
      sendJson(exchange, 200, JSON.stringify([row]));
    } else sendText(exchange, 200, `${Object.values(row).join(" ")}\n`);
  }
}

const HEALTH = JSON.stringify({
  cluster_name: "quorate-logs",
  status: "green",
  timed_out: false,
  number_of_nodes: 1,
});

const DATA_STREAMS = JSON.stringify({
  data_streams: [
    {
      name: DATA_STREAM,
      timestamp_field: { name: "@timestamp" },
      generation: 1,
      status: "GREEN",
      template: "logs",
    },
  ],
});

function describeStore(): Readonly<Record<string, unknown>> {
  return {
    name: "quorate-logs",
    cluster_name: "quorate-logs",
    version: { number: FORM_VERSION, build_flavor: "default", build_type: "quorate" },
    tagline: "The embedded log store of Quorate",
  };
}

/** `logs-generic-default*`, `logs-*`, `*`, `_all`, and lists of such names. */
function isOurs(pattern: string): boolean {
  return decodeURIComponent(pattern)
    .split(",")
    .some((one) => {
      const isPrefix = one.endsWith("*");
      const text = isPrefix ? one.slice(0, -1) : one;
      return one === "_all" || (isPrefix ? DATA_STREAM.startsWith(text) : text === DATA_STREAM);
    });
}

export async function readJson(exchange: Exchange): Promise<Readonly<Record<string, unknown>>> {
  const body = await readRequestBody(exchange.request, BODY_LIMITS);
  if (body.length === 0) return {};
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Answered below.
  }
  throw new HttpError(400, "the body must be a JSON object");
}

function sendFailure(exchange: Exchange, status: number, type: string, reason: string): void {
  sendJson(exchange, status, JSON.stringify(errorBody(type, reason, status)));
}

function countIn(value: unknown): unknown {
  return typeof value === "object" && value !== null && "count" in value ? value.count : 0;
}
