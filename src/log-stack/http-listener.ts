/** What the three servers of the log stack share: limits, bodies, answers and access checks. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { CodedError } from "../base/coded-error.ts";

export type ListenOptions = {
  readonly host: string;
  readonly port: number;
  /** Names besides addresses and localhost under which a page of this server may be opened. */
  readonly hostNames?: readonly string[];
};

export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
};

export type BodyLimits = { readonly sentMax: number; readonly unpackedMax: number };

/** Answered as it is; for what a handler finds wrong with a request. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const CONNECTIONS_MAX = 256;
const HEADER_BYTES_MAX = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;

export class HttpListener {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Throws LOG_STACK_LISTEN_FAILED. */
  static async open(
    { host, port, hostNames = [] }: ListenOptions,
    handle: (exchange: Exchange) => Promise<void>,
  ): Promise<HttpListener> {
    const server = createServer(
      {
        maxHeaderSize: HEADER_BYTES_MAX,
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
      },
      (request, response) => void answer(request, response, hostNames, handle),
    );
    server.maxConnections = CONNECTIONS_MAX;
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error) => {
        reject(new CodedError("LOG_STACK_LISTEN_FAILED", { host, port }, error));
      });
      server.listen(port, host, resolve);
    });
    server.removeAllListeners("error");
    server.on("error", () => undefined);
    return new HttpListener(server);
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}

/**
 * Unpacks gzip and deflate. Throws an HttpError: 413 over a limit, 400 or 415 where it is
 * malformed.
 */
export async function readRequestBody(
  request: IncomingMessage,
  limits: BodyLimits,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size > limits.sentMax) throw new HttpError(413, "the body is too large");
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding === "identity") return body;
  const unpack = { gzip: promisify(gunzip), deflate: promisify(inflate) }[encoding];
  if (unpack === undefined) throw new HttpError(415, "content-encoding: gzip or deflate");
  try {
    return await unpack(body, { maxOutputLength: limits.unpackedMax });
  } catch (error) {
    const isTooLarge = error instanceof RangeError;
    throw new HttpError(isTooLarge ? 413 : 400, isTooLarge ? "the body is too large" : "bad gzip");
  }
}

export function sendText(
  { request, response }: Exchange,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...headers,
  });
  response.end(request.method === "HEAD" ? undefined : text);
}

export function sendJson(
  exchange: Exchange,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendText(exchange, status, text, { "content-type": "application/json", ...headers });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  hostNames: readonly string[],
  handle: (exchange: Exchange) => Promise<void>,
): Promise<void> {
  const exchange = { request, response, url: urlOf(request) };
  // The request ends when its client disconnects.
  request.on("error", () => undefined);
  response.on("error", () => undefined);
  try {
    if (isForeign(request, hostNames)) throw new HttpError(403, "not from that page or name");
    await handle(exchange);
  } catch (error) {
    const isKnown = error instanceof HttpError;
    const status = isKnown ? error.status : 500;
    const text = isKnown ? error.message : "something went wrong";
    // The rest of a body that is not read would be taken for the next request.
    if (!request.complete) response.setHeader("connection", "close");
    sendText(exchange, status, `${text}\n`, status === 429 ? { "retry-after": "1" } : {});
  }
}

/**
 * A page of another site must neither write nor read logs on the machine of the person who looks
 * at it: browsers name the page in `origin`, and a name that was made to point here is in `host`.
 */
function isForeign(request: IncomingMessage, hostNames: readonly string[]): boolean {
  const { host, origin } = request.headers;
  if (host === undefined) return false;
  if (origin !== undefined && !/^https?:\/\//.test(origin)) return true;
  if (origin !== undefined && origin.replace(/^https?:\/\//, "") !== host) return true;
  const name = host.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
  const isLocal = name === "localhost" || name.endsWith(".localhost");
  return !isLocal && isIP(name) === 0 && !hostNames.includes(name);
}

function urlOf(request: IncomingMessage): URL {
  const path = request.url ?? "/";
  return URL.parse(path, "http://host") ?? new URL("http://host/");
}
