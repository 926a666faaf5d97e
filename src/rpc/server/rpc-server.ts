/**
 * ethrpc over HTTP and WebSocket: `/` in the dialect that is configured, `/standard` in the strict one, on one
 * port. Everything that a client can send or hold is bounded (SPEC E9), and a client that is too
 * slow loses its connection.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { CodedError } from "../../base/coded-error.ts";
import { type AccessControl, createMethodCheck, credentialsOf } from "../auth/access-control.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { answerSignIn, isSignInPath, SIGN_IN_BODY_BYTES_MAX } from "../auth/sign-in-endpoints.ts";
import type { SignIn } from "../auth/sign-in.ts";
import type { Awaitable } from "../../api/awaitable.ts";
import { type BudgetShare, ByteBudget } from "./byte-budget.ts";
import { clientOfAddress } from "./client-name.ts";
import { createCallerNamer } from "./caller-namer.ts";
import type { CallerNamer } from "../../api/chain-reader.ts";
import { type Answer, Dispatcher, type DispatcherDependencies, refusal } from "./dispatcher.ts";
import { corsHeaders, isAllowedHost, isAllowedOrigin, PREFLIGHT_HEADERS } from "./http-guard.ts";
import { createHttpServer, type HttpServer, replaceTls } from "./http-server.ts";
import type { Dialect } from "../method.ts";
import {
  type RequestAdmission,
  createAdmission,
  createRateLimit,
  type RateLimit,
} from "./rate-limit.ts";
import { readBody } from "./read-body.ts";
import { RequestCorrelation } from "./request-correlation.ts";
import { type RequestSlot, RequestSlots } from "./request-slots.ts";
import { INVALID_REQUEST, LIMIT_EXCEEDED, RpcError } from "../rpc-error.ts";
import type { RpcOptions, RpcTlsOptions } from "../rpc-options.ts";
import { WaitingRoom } from "./waiting-room.ts";
import { WebSocketEndpoint } from "./web-socket-endpoint.ts";

const STANDARD_PATH = "/standard";
const ALLOWED_METHODS = "POST, GET, HEAD, OPTIONS";
const JSON_TYPES: ReadonlySet<string> = new Set([
  "application/json",
  "application/json-rpc",
  "application/jsonrequest",
]);
const GREETING = "ethrpc: send JSON-RPC 2.0 requests by POST with content-type application/json\n";
/** How long requests under way may take when the server closes. */
const CLOSE_TIMEOUT_MS = 2_000;
const RETRY_AFTER_SECONDS = "1";

type Headers = Readonly<Record<string, string>>;

export type RpcServerDependencies = DispatcherDependencies & {
  /** Access control; without it, or while its rules are open, every caller may call everything. */
  readonly access?: AccessControl | undefined;
};

export class RpcServer {
  readonly #options: RpcOptions;
  readonly #dispatcher: Dispatcher;
  readonly #server: HttpServer;
  readonly #access: AccessControl | undefined;
  readonly #sockets: WebSocketEndpoint;
  readonly #budget: ByteBudget;
  readonly #slots: RequestSlots;
  readonly #waiting: WaitingRoom;
  readonly #rate: RateLimit | undefined;
  readonly #authenticator: Authenticator | undefined;
  /** A Host header that was found to be allowed. */
  #allowedHost: string | undefined;

  private constructor(options: RpcOptions, dependencies: RpcServerDependencies) {
    const { limits } = options;
    this.#options = options;
    this.#dispatcher = new Dispatcher(limits, dependencies);
    this.#budget = new ByteBudget(limits.bufferedBytesMax);
    this.#slots = new RequestSlots(limits.concurrentRequestsMax);
    this.#waiting = new WaitingRoom(limits);
    const { access } = dependencies;
    // With open rules, callers are not identified.
    this.#access = access?.rules.isOpen === true ? undefined : access;
    this.#rate = createRateLimit(limits);
    this.#authenticator = access?.authenticator;
    this.#server = createHttpServer(options);
    this.#sockets = new WebSocketEndpoint(options, {
      dispatcher: this.#dispatcher,
      access: this.#access,
      callerOf: (request) => createCallerNamer(this.#authenticator, request),
      admissionOf: (caller) => this.#admissionOf(caller),
      waiting: this.#waiting,
      shareOf: (socket) => this.#shareOf(socket),
      dialectOf: (url) => this.#dialectOf(url),
      onInternalError: (error) => dependencies.onInternalError?.("websocket", error),
    });
    this.#server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#sockets.onUpgrade(request, socket, head);
    });
    this.#server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      this.#onRequest(request, response).catch((error: unknown) => {
        dependencies.onInternalError?.("http", error);
        response.destroy();
      });
    });
  }

  /** Resolves when the port answers. Throws RPC_LISTEN_FAILED, RPC_TLS_INVALID. */
  static async open(options: RpcOptions, dependencies: RpcServerDependencies): Promise<RpcServer> {
    const rpc = new RpcServer(options, dependencies);
    const { host, port } = options;
    await new Promise<void>((resolve, reject) => {
      const onError = (error: Error): void =>
        reject(new CodedError("RPC_LISTEN_FAILED", { host, port }, error));
      rpc.#server.once("error", onError);
      rpc.#server.listen(port, host, () => {
        rpc.#server.removeListener("error", onError);
        resolve();
      });
    });
    return rpc;
  }

  get port(): number {
    return addressOf(this.#server)?.port ?? this.#options.port;
  }

  /** Throws RPC_TLS_INVALID, and then the certificate stays as it was. */
  replaceTls(tls: RpcTlsOptions): void {
    replaceTls(this.#server, tls);
  }

  /** WebSockets that are open. */
  get socketCount(): number {
    return this.#sockets.connectionCount;
  }

  /** Takes no new connection, lets requests under way finish for a moment, then ends them. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#sockets.close();
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => this.#server.closeAllConnections(), CLOSE_TIMEOUT_MS);
    await closed;
    clearTimeout(timer);
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { allowedHosts, allowedOrigins } = this.#options;
    request.url = originForm(request.url ?? "/");
    const { host, origin } = request.headers;
    const headers = corsHeaders(origin, allowedOrigins);
    // Nearly all come with the same name: that one was looked at before.
    if (host !== undefined && host === this.#allowedHost) {
      // It may pass.
    } else if (isAllowedHost(host, allowedHosts)) {
      this.#allowedHost = host;
    } else {
      const message = "invalid host: use an IP address or a name that the node is configured with";
      this.#send(response, refusal(403, invalid(message)), headers);
      return;
    }
    const offered = this.#access?.signIn;
    const signIn = offered !== undefined && isSignInPath(request.url ?? "/") ? offered : undefined;
    if (signIn !== undefined && request.method !== "OPTIONS") {
      await this.#onSignIn(request, response, signIn, headers);
      return;
    }
    const dialect = signIn === undefined ? this.#dialectOf(request.url ?? "/") : "standard";
    if (dialect === undefined) {
      const message = `unknown path: send requests to / or ${STANDARD_PATH}`;
      this.#send(response, refusal(404, invalid(message)), headers);
      return;
    }
    switch (request.method) {
      case "POST":
        await this.#onPost(request, response, dialect, headers);
        break;
      case "OPTIONS": {
        const isAllowed = origin === undefined || isAllowedOrigin(origin, allowedOrigins);
        const allow = { ...headers, ...(isAllowed && PREFLIGHT_HEADERS), allow: ALLOWED_METHODS };
        response.writeHead(isAllowed ? 204 : 403, allow).end();
        break;
      }
      case "GET":
      case "HEAD":
        response.writeHead(200, { ...headers, "content-type": "text/plain" }).end(GREETING);
        break;
      case undefined:
      default: {
        const message = `HTTP method not allowed: use ${ALLOWED_METHODS}`;
        const answer = refusal(405, invalid(message));
        this.#send(response, answer, { ...headers, allow: ALLOWED_METHODS });
      }
    }
  }

  async #onPost(
    request: IncomingMessage,
    response: ServerResponse,
    dialect: Dialect,
    headers: Headers,
  ): Promise<void> {
    const { limits } = this.#options;
    if (!isJson(request)) {
      const message = "unsupported body: send content-type application/json, not compressed";
      this.#end(response, refusal(415, invalid(message)), headers);
      return;
    }
    // Before the body: a socket that was closed has no address.
    const caller = createCallerNamer(this.#authenticator, request);
    const budget = this.#shareOf(request.socket);
    const body = await readBody(request, limits.bodyBytesMax, budget);
    if (body.kind === "aborted") return;
    if (body.kind === "tooLarge") {
      const message = `request too large: at most ${limits.bodyBytesMax} bytes`;
      this.#end(response, refusal(413, invalid(message)), headers);
      return;
    }
    if (body.kind === "noRoom") {
      this.#end(response, BUSY, { ...headers, "retry-after": RETRY_AFTER_SECONDS });
      return;
    }
    try {
      await this.#whileRoom(response, headers, (slot) => {
        const check =
          this.#access === undefined
            ? undefined
            : createMethodCheck(this.#access, credentialsOf(request));
        const correlation = new RequestCorrelation(request.headers);
        const admit = this.#admissionOf(caller);
        const waits = this.#waiting.waitsOf(request, slot);
        const asked = { admit, caller, check, correlation, waits };
        return this.#dispatcher.answer(body.bytes, dialect, asked);
      });
    } finally {
      budget.release(body.bytes.length);
    }
  }

  async #onSignIn(
    request: IncomingMessage,
    response: ServerResponse,
    signIn: SignIn,
    headers: Headers,
  ): Promise<void> {
    const caller = createCallerNamer(this.#authenticator, request);
    const exceeded = await this.#admissionOf(caller)?.(1);
    if (exceeded !== undefined) {
      const text = JSON.stringify({ error: { code: "SIWE_TOO_MANY" } });
      this.#end(response, { status: 429, text }, { ...headers, ...retry(exceeded.retryAfterMs) });
      return;
    }
    const budget = this.#shareOf(request.socket);
    const body = await readBody(request, SIGN_IN_BODY_BYTES_MAX, budget);
    if (body.kind === "aborted") return;
    if (body.kind !== "body") {
      const message = `request too large: at most ${SIGN_IN_BODY_BYTES_MAX} bytes`;
      const answer = body.kind === "noRoom" ? BUSY : refusal(413, invalid(message));
      this.#end(response, answer, headers);
      return;
    }
    const { method = "", url = "/" } = request;
    const { host, origin } = request.headers;
    try {
      const asked = { method, url, host, origin, body: body.bytes };
      const answered = await answerSignIn(signIn, asked, Date.now());
      const answer = { status: answered.status, text: JSON.stringify(answered.body) };
      this.#send(response, answer, { ...headers, ...answered.headers });
    } finally {
      budget.release(body.bytes.length);
    }
  }

  async #whileRoom(
    response: ServerResponse,
    headers: Headers,
    answer: (slot: RequestSlot) => Awaitable<Answer>,
  ): Promise<void> {
    const slot = this.#slots.take();
    if (slot === undefined) {
      this.#send(response, BUSY, { ...headers, "retry-after": RETRY_AFTER_SECONDS });
      return;
    }
    try {
      const answered = await answer(slot);
      const { retryAfterMs } = answered;
      const more = retryAfterMs === undefined ? headers : { ...headers, ...retry(retryAfterMs) };
      this.#send(response, answered, more);
    } finally {
      slot.release();
    }
  }

  /** An answer counts until the client has read it, or is gone. */
  #send(response: ServerResponse, { status, text }: Answer, headers: Headers): void {
    if (response.destroyed) return;
    if (text === undefined) {
      response.writeHead(status, headers).end();
      return;
    }
    const size = Buffer.byteLength(text);
    const budget = this.#shareOf(response.socket);
    if (!budget.reserve(size)) {
      response.writeHead(503, { ...headers, "retry-after": RETRY_AFTER_SECONDS }).end();
      return;
    }
    // Without this, a connection that is busy when the server closes would be kept for the next.
    const last = this.#server.listening ? {} : { connection: "close" };
    response.writeHead(status, {
      ...headers,
      ...last,
      "content-type": "application/json",
      "content-length": size.toString(),
    });
    // As text, head and body go out in one write; bytes would be a second.
    response.end(text, size === text.length ? "latin1" : "utf8");
    if (response.socket?.writableLength === 0) budget.release(size);
    else this.#holdUntilRead(response, () => budget.release(size));
  }

  /** A client that takes too long to read its answer loses its connection. */
  #holdUntilRead(response: ServerResponse, release: () => void): void {
    const { answerReadMs } = this.#options.limits;
    const timer = setTimeout(() => response.destroy(), answerReadMs).unref();
    response.once("close", () => {
      clearTimeout(timer);
      release();
    });
  }

  /** Answers before the body was read: what is left of it is not waited for. */
  #end(response: ServerResponse, answer: Answer, headers: Headers): void {
    this.#send(response, answer, { ...headers, connection: "close" });
  }

  #shareOf(socket: Socket | null): BudgetShare {
    return this.#budget.shareOf(clientOfAddress(socket?.remoteAddress));
  }

  #admissionOf(caller: CallerNamer): RequestAdmission | undefined {
    return this.#rate === undefined ? undefined : createAdmission(this.#rate, caller);
  }

  #dialectOf(url: string): Dialect | undefined {
    const path = url.includes("?") ? (url.split("?", 1)[0] ?? url) : url;
    if (path === "/") return this.#options.rootDialect;
    return path === STANDARD_PATH || path === `${STANDARD_PATH}/` ? "standard" : undefined;
  }
}

const BUSY: Answer = refusal(
  429,
  new RpcError(LIMIT_EXCEEDED, "too many requests at the same time; try again in a moment"),
);

function invalid(message: string): RpcError {
  return new RpcError(INVALID_REQUEST, message);
}

/** Whole seconds, as the header has them. */
function retry(afterMs: number): Headers {
  return { "retry-after": Math.ceil(afterMs / 1_000).toString() };
}

/** A target may name the server, too, as it does for proxies (RFC 9112, 3.2.2). */
function originForm(target: string): string {
  if (!/^https?:\/\//i.test(target)) return target;
  const url = URL.parse(target);
  return url === null ? target : `${url.pathname}${url.search}`;
}

function isJson({ headers }: IncomingMessage): boolean {
  if ((headers["content-encoding"] ?? "identity") !== "identity") return false;
  const given = headers["content-type"] ?? "";
  if (JSON_TYPES.has(given)) return true;
  const type = given.split(";", 1)[0] ?? "";
  return JSON_TYPES.has(type.trim().toLowerCase());
}

function addressOf(server: HttpServer): AddressInfo | undefined {
  const address = server.address();
  return typeof address === "object" && address !== null ? address : undefined;
}
