/**
 * How many connections there may be. When the limit is reached, a new one replaces an idle one: of
 * the address with the most of them, the one that has been idle for longest. So connections that
 * are only held open cannot lock other callers out. Without an idle one, the new one is refused.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientOfAddress } from "./client-name.ts";

type Held = { readonly socket: Socket; readonly client: string; requestCount: number };

/**
 * Node counts first, so its limit is one higher: a connection is accepted before another one is
 * closed.
 */
const NEWCOMERS_MAX = 64;

export class ConnectionLimit {
  readonly #connectionsMax: number;
  /**
   * The one that was used last is the last. By address and port of the peer: a request over TLS
   * comes from another socket than the connection that it is on.
   */
  readonly #held = new Map<string, Held>();

  constructor(connectionsMax: number) {
    this.#connectionsMax = connectionsMax;
  }

  watch(server: Server): void {
    server.maxConnections = this.#connectionsMax + NEWCOMERS_MAX;
    // Of a TLS server, before the handshake: a connection that never speaks counts, too.
    server.prependListener("connection", (socket: Socket) => this.#onConnection(socket));
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      this.#onRequest(request.socket, response);
    });
    server.on("upgrade", ({ socket }: IncomingMessage) => this.#onUpgrade(socket));
  }

  #onConnection(socket: Socket): void {
    const key = keyOf(socket);
    const held = { socket, client: clientOfAddress(socket.remoteAddress), requestCount: 0 };
    this.#held.set(key, held);
    socket.once("close", () => {
      if (this.#held.get(key) === held) this.#held.delete(key);
    });
    if (this.#held.size <= this.#connectionsMax) return;
    const idle = this.#longestIdle(socket) ?? socket;
    this.#held.delete(keyOf(idle));
    idle.destroy();
  }

  #onRequest(socket: Socket, response: ServerResponse): void {
    this.#use(socket, 1);
    response.once("close", () => this.#use(socket, -1));
  }

  /** A WebSocket is never idle: what it may do is bounded for itself. */
  #onUpgrade(socket: Socket): void {
    this.#use(socket, 1);
  }

  #use(socket: Socket, change: number): void {
    const key = keyOf(socket);
    const held = this.#held.get(key);
    if (held === undefined) return;
    held.requestCount += change;
    this.#held.delete(key);
    this.#held.set(key, held);
  }

  #longestIdle(newcomer: Socket): Socket | undefined {
    const counts = new Map<string, number>();
    for (const { client } of this.#held.values()) {
      counts.set(client, (counts.get(client) ?? 0) + 1);
    }
    let found: Socket | undefined;
    let most = 0;
    for (const { socket, client, requestCount } of this.#held.values()) {
      const count = counts.get(client) ?? 0;
      if (requestCount > 0 || socket === newcomer || count <= most) continue;
      found = socket;
      most = count;
    }
    return found;
  }
}

function keyOf({ remoteAddress = "", remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
