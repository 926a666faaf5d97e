/**
 * The viewer (SPEC L7, L8): one page with its own style and script, and what the script asks for.
 * Log texts are written by anyone who can make a node log something, so the page loads nothing but
 * itself, runs no text, and shows every text as text.
 */
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import {
  type Exchange,
  HttpError,
  HttpListener,
  type ListenOptions,
  sendJson,
  sendText,
} from "./http-listener.ts";
import { DATA_STREAM } from "./log-pipeline.ts";
import { readJson } from "./search-server.ts";
import type { SearchService } from "./search-service.ts";

const ASSETS: Readonly<Record<string, string>> = {
  "discover.html": "text/html; charset=utf-8",
  "discover.css": "text/css; charset=utf-8",
  "discover.js": "text/javascript; charset=utf-8",
  "histogram.js": "text/javascript; charset=utf-8",
  "page-state.js": "text/javascript; charset=utf-8",
  "entry-rows.js": "text/javascript; charset=utf-8",
  "time-range.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
};

const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-cache",
};

const WATCHERS_MAX = 32;
/** Notifications are batched: a page asks for new entries at most this often. */
const NEWS_INTERVAL_MS = 250;
const KEEP_ALIVE_MS = 15_000;

export class ViewerServer {
  readonly #search: SearchService;
  readonly #watchers = new Set<ServerResponse>();
  readonly #assets: ReadonlyMap<string, string>;
  readonly #keepAliveTimer: NodeJS.Timeout;
  #listener: HttpListener | undefined;
  #newsTimer: NodeJS.Timeout | undefined;
  #lastId = 0;

  private constructor(search: SearchService) {
    this.#search = search;
    this.#assets = new Map(
      Object.keys(ASSETS).map((name) => [
        name,
        readFileSync(new URL(`./viewer/${name}`, import.meta.url), "utf8"),
      ]),
    );
    this.#keepAliveTimer = setInterval(() => this.#tell(": still here\n\n"), KEEP_ALIVE_MS).unref();
  }

  static async open(options: ListenOptions, search: SearchService): Promise<ViewerServer> {
    const viewer = new ViewerServer(search);
    viewer.#listener = await HttpListener.open(options, (exchange) => viewer.#answer(exchange));
    return viewer;
  }

  get port(): number {
    return this.#listener?.port ?? 0;
  }

  /** There are entries up to this id. */
  onWritten(lastId: number): void {
    this.#lastId = lastId;
    if (this.#watchers.size === 0) return;
    this.#newsTimer ??= setTimeout(() => {
      this.#newsTimer = undefined;
      this.#tell(`data: ${this.#lastId}\n\n`);
    }, NEWS_INTERVAL_MS).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#keepAliveTimer);
    clearTimeout(this.#newsTimer);
    for (const watcher of this.#watchers) watcher.destroy();
    await this.#listener?.close();
  }

  async #answer(exchange: Exchange): Promise<void> {
    const { request, url } = exchange;
    const { pathname } = url;
    if (request.method === "POST") {
      if (pathname !== "/api/search" && pathname !== "/api/fields") throw new HttpError(404, "?");
      const kind = pathname === "/api/search" ? "search" : "fields";
      const { status, text } = await this.#search.run(kind, await readJson(exchange));
      sendJson(exchange, status, text);
      return;
    }
    if (request.method !== "GET" && request.method !== "HEAD") throw new HttpError(405, "GET");
    if (pathname === "/" || pathname === "/app" || pathname === "/app/") {
      sendText(exchange, 302, "", { location: "/app/discover" });
    } else if (pathname === "/api/news") this.#watch(exchange);
    else if (pathname === "/api/status") {
      const status = { dataStream: DATA_STREAM, timeField: "@timestamp" };
      sendJson(exchange, 200, JSON.stringify(status));
    } else this.#sendAsset(exchange, pathname);
  }

  #sendAsset(exchange: Exchange, pathname: string): void {
    const isPage = /^\/app\/discover\/?$/.test(pathname);
    const name = isPage ? "discover.html" : pathname.replace(/^\/app\/assets\//, "");
    const text = this.#assets.get(name);
    const type = ASSETS[name];
    if (text === undefined || type === undefined || (!isPage && name === "discover.html")) {
      throw new HttpError(404, "the viewer is at /app/discover");
    }
    sendText(exchange, 200, text, { ...PAGE_HEADERS, "content-type": type });
  }

  #watch({ request, response }: Exchange): void {
    if (this.#watchers.size >= WATCHERS_MAX) throw new HttpError(429, "too many pages are open");
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(`data: ${this.#lastId}\n\n`);
    this.#watchers.add(response);
    request.on("close", () => this.#watchers.delete(response));
    response.on("close", () => this.#watchers.delete(response));
  }

  #tell(text: string): void {
    for (const watcher of this.#watchers) {
      // A page that does not read gets no further notification until it has.
      if (!watcher.writableNeedDrain) watcher.write(text);
    }
  }
}
