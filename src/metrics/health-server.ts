/**
 * What an orchestrator and `quorate status` ask a node: /live (the process works), /ready (it can
 * do its job now), /status (where it stands, as JSON), /metrics (for Prometheus). Read only, no
 * secrets, small.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CodedError } from "../base/coded-error.ts";

export type HealthOptions = { readonly host: string; readonly port: number };

export type HealthSource = {
  /** Undefined when ready, else why not. */
  notReadyReason(): string | undefined;
  status(): Readonly<Record<string, unknown>>;
  metrics?: { readonly contentType: string; text(): Promise<string> };
};

const CONNECTIONS_MAX = 64;
const HEADER_BYTES_MAX = 8 * 1024;
const TIMEOUT_MS = 5_000;

export class HealthServer {
  readonly #server: Server;

  private constructor(source: HealthSource) {
    this.#server = createServer(
      { maxHeaderSize: HEADER_BYTES_MAX, headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS },
      (request, response) => answer(source, request, response),
    );
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.timeout = TIMEOUT_MS;
  }

  /** Resolves when it answers. Throws HEALTH_LISTEN_FAILED. */
  static async open({ host, port }: HealthOptions, source: HealthSource): Promise<HealthServer> {
    const health = new HealthServer(source);
    await new Promise<void>((resolve, reject) => {
      const onError = (error: Error): void =>
        reject(new CodedError("HEALTH_LISTEN_FAILED", { host, port }, error));
      health.#server.once("error", onError);
      health.#server.listen(port, host, () => {
        health.#server.removeListener("error", onError);
        resolve();
      });
    });
    // A node that has nothing else to do may end.
    health.#server.unref();
    return health;
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}

function answer(source: HealthSource, request: IncomingMessage, response: ServerResponse): void {
  const { method, url } = request;
  const send = (status: number, body: unknown): void => {
    const text = `${JSON.stringify(body, bigintToText)}\n`;
    response
      .writeHead(status, { "content-type": "application/json", "cache-control": "no-store" })
      .end(method === "HEAD" ? undefined : text);
  };
  if (method !== "GET" && method !== "HEAD") {
    send(405, { error: "only GET" });
    return;
  }
  switch (url ?? "/") {
    case "/live":
      send(200, { isLive: true });
      return;
    case "/ready": {
      const reason = source.notReadyReason();
      send(reason === undefined ? 200 : 503, { isReady: reason === undefined, reason });
      return;
    }
    case "/status":
      send(200, source.status());
      return;
    case "/metrics":
      if (source.metrics !== undefined) {
        answerMetrics(source.metrics, method, response);
        return;
      }
      break;
    default:
      break;
  }
  send(404, { error: "ask for /live, /ready, /status or /metrics" });
}

function answerMetrics(
  metrics: NonNullable<HealthSource["metrics"]>,
  method: string,
  response: ServerResponse,
): void {
  metrics.text().then(
    (body) => {
      response.writeHead(200, { "content-type": metrics.contentType, "cache-control": "no-store" });
      response.end(method === "HEAD" ? undefined : body);
    },
    () => response.writeHead(500).end(),
  );
}

function bigintToText(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
