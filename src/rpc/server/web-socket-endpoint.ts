/** Turns HTTP requests that ask for it into WebSockets, on the same paths, with the same guards. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import {
  type AccessControl,
  createMethodCheck,
  credentialsOf,
  mayConnect,
} from "../auth/access-control.ts";
import { isBearerProtocol } from "../auth/bearer-protocol.ts";
import type { BudgetShare } from "./byte-budget.ts";
import { clientOfAddress } from "./client-name.ts";
import { evictable } from "./evictable-socket.ts";
import type { CallerNamer } from "../../api/chain-reader.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { isAllowedHost, isAllowedOrigin } from "./http-guard.ts";
import type { Dialect, MethodCheck } from "../method.ts";
import type { RequestAdmission } from "./rate-limit.ts";
import { RequestCorrelation } from "./request-correlation.ts";
import type { RpcOptions } from "../rpc-options.ts";
import type { WaitingRoom } from "./waiting-room.ts";
import { WebSocketConnection } from "./web-socket-connection.ts";

export type WebSocketDependencies = {
  readonly dispatcher: Dispatcher;
  /** Undefined where everyone may do everything. */
  readonly access: AccessControl | undefined;
  /** For one connection; undefined where requests are not counted. */
  readonly admissionOf: (caller: CallerNamer) => RequestAdmission | undefined;
  readonly callerOf: (request: IncomingMessage) => CallerNamer;
  readonly waiting: WaitingRoom;
  readonly shareOf: (socket: Socket) => BudgetShare;
  /** Undefined for a path that is not served. */
  readonly dialectOf: (url: string) => Dialect | undefined;
  readonly onInternalError: (error: unknown) => void;
};

export class WebSocketEndpoint {
  readonly #options: RpcOptions;
  readonly #dependencies: WebSocketDependencies;
  readonly #server: WebSocketServer;
  /** With the client address of each. */
  readonly #connections = new Map<WebSocketConnection, string>();

  constructor(options: RpcOptions, dependencies: WebSocketDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: options.limits.bodyBytesMax,
      // Compression costs memory for each connection, and time for each message.
      perMessageDeflate: false,
      // Pongs are memory, too, where the peer does not read: the connection sends them.
      autoPong: false,
      // A token is never echoed.
      handleProtocols: (names) => [...names].find((name) => !isBearerProtocol(name)) ?? false,
    });
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { allowedHosts, allowedOrigins } = this.#options;
    const { host, origin } = request.headers;
    const dialect = this.#dependencies.dialectOf(request.url ?? "/");
    // A browser lets any page open a WebSocket: only the origin header distinguishes them.
    const isOriginAllowed = origin === undefined || isAllowedOrigin(origin, allowedOrigins);
    if (!isAllowedHost(host, allowedHosts) || !isOriginAllowed) refuse(socket, "403 Forbidden");
    else if (dialect === undefined) refuse(socket, "404 Not Found");
    else if (!this.#makeRoom(clientOfAddress(request.socket.remoteAddress))) {
      refuse(socket, "503 Service Unavailable");
    } else {
      this.#admit(request, socket).then(
        (isAdmitted) => {
          if (!isAdmitted) refuse(socket, "401 Unauthorized");
          else if (!socket.destroyed) this.#upgrade(request, socket, head, dialect);
        },
        (error: unknown) => {
          this.#dependencies.onInternalError(error);
          socket.destroy();
        },
      );
    }
  }

  /** False if all places are taken, and by connections that have a better right to them. */
  #makeRoom(newcomer: string): boolean {
    const { socketsMax } = this.#options.limits;
    if (this.#connections.size < socketsMax) return true;
    const evicted = evictable(this.#connections, newcomer, socketsMax / 2);
    if (evicted === undefined) return false;
    this.#connections.delete(evicted);
    evicted.end("idle: its place is needed for another connection");
    return true;
  }

  /** Before the upgrade, so that an unauthenticated caller costs no more than the request. */
  async #admit(request: IncomingMessage, socket: Duplex): Promise<boolean> {
    const { access } = this.#dependencies;
    if (access === undefined) return true;
    const onError = (): void => undefined;
    socket.on("error", onError);
    const isAdmitted = await mayConnect(access, credentialsOf(request));
    socket.removeListener("error", onError);
    return isAdmitted;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, dialect: Dialect): void {
    const { limits } = this.#options;
    this.#server.handleUpgrade(request, socket, head, (opened) => {
      const { dispatcher, access, onInternalError } = this.#dependencies;
      const createCheck = access === undefined ? undefined : checkOf(access, request);
      // The opening names all requests of its connection; requests without an id get their own.
      const createCorrelation = (): RequestCorrelation => new RequestCorrelation(request.headers);
      const caller = this.#dependencies.callerOf(request);
      const admit = this.#dependencies.admissionOf(caller);
      const waits = this.#dependencies.waiting.waitsOf(request);
      const budget = this.#dependencies.shareOf(request.socket);
      const parts = {
        ...{ dispatcher, admit, caller, createCheck, createCorrelation, waits, budget },
        onInternalError,
        transport: request.socket,
      };
      const connection = new WebSocketConnection(opened, dialect, limits, parts);
      this.#connections.set(connection, clientOfAddress(request.socket.remoteAddress));
      connection.onClose(() => this.#connections.delete(connection));
    });
  }

  close(): void {
    for (const connection of this.#connections.keys()) connection.end("the node stops");
    this.#server.close();
  }
}

/** The credentials are those of the opening, for as long as the connection lasts. */
function checkOf(access: AccessControl, request: IncomingMessage): () => MethodCheck {
  const credentials = credentialsOf(request);
  return () => createMethodCheck(access, credentials);
}

function refuse(socket: Duplex, status: string): void {
  socket.on("error", () => undefined);
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
