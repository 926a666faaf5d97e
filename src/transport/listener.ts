/** Accepts connections of peers. An unknown peer is disconnected without having received a byte. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { createServer, type SecureContextOptions, type Server, type TLSSocket } from "node:tls";
import { CodedError } from "../base/coded-error.ts";
import type { ListenerCounters } from "./link-counters.ts";
import type { Refusal } from "./link-reason.ts";
import type { Endpoint, PinnedKeys, Principal } from "./principal.ts";
import { identifyPeer, LINK_PROTOCOL, refusalOf, remoteName } from "./tls-peer.ts";

/** Connections that may be in their handshake at once. */
const PENDING_HANDSHAKES_MAX = 64;

export type ListenerOptions = {
  readonly listen: Endpoint;
  readonly secureOptions: SecureContextOptions;
  readonly handshakeMs: number;
};

export type ListenerDependencies = {
  readonly keys: PinnedKeys;
  readonly counters: ListenerCounters;
  onPeer(principal: Principal, socket: TLSSocket): void;
  onRefusal(refusal: Refusal): void;
};

export class Listener {
  readonly #server: Server;
  readonly #dependencies: ListenerDependencies;
  /** In their handshake, by remote address and port; the longest waiting comes first. */
  readonly #pendingHandshakes = new Map<string, Socket>();

  static async open(
    options: ListenerOptions,
    dependencies: ListenerDependencies,
  ): Promise<Listener> {
    const listener = new Listener(options, dependencies);
    const { host, port } = options.listen;
    try {
      listener.#server.listen({ host, port });
      await once(listener.#server, "listening");
    } catch (error) {
      throw new CodedError("TRANSPORT_LISTEN_FAILED", { host, port }, error);
    }
    // After it listens, a server reports only failed accepts (no file handles left): it goes on.
    listener.#server.on("error", () => undefined);
    return listener;
  }

  private constructor(options: ListenerOptions, dependencies: ListenerDependencies) {
    this.#dependencies = dependencies;
    this.#server = createServer({
      ...options.secureOptions,
      ALPNProtocols: [LINK_PROTOCOL],
      requestCert: true,
      rejectUnauthorized: false, // identifyPeer decides, by the pinned key
      handshakeTimeout: options.handshakeMs,
    });
    this.#server.on("connection", (socket: Socket) => this.#onConnection(socket));
    this.#server.on("secureConnection", (socket: TLSSocket) => this.#onHandshake(socket));
    this.#server.on("tlsClientError", (error: NodeJS.ErrnoException, socket: TLSSocket) => {
      this.#refuse(refusalOf("PEER_HANDSHAKE_FAILED", socket, error.code ?? error.message));
      socket.destroy();
    });
  }

  /** The port that was given or that the system chose. */
  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  /** Takes no more connections; those that became links are not its own. */
  close(): void {
    this.#server.close();
    for (const socket of this.#pendingHandshakes.values()) socket.destroy();
    this.#pendingHandshakes.clear();
  }

  #onConnection(socket: Socket): void {
    this.#dependencies.counters.accepted++;
    // Handshakes take milliseconds, so the oldest pending one is the least likely to be a peer.
    const [oldest] = this.#pendingHandshakes;
    if (oldest !== undefined && this.#pendingHandshakes.size >= PENDING_HANDSHAKES_MAX) {
      this.#pendingHandshakes.delete(oldest[0]);
      this.#refuse(refusalOf("PEER_HANDSHAKE_CROWDED", oldest[1]));
      oldest[1].destroy();
    }
    const name = remoteName(socket);
    this.#pendingHandshakes.set(name, socket);
    socket.once("close", () => {
      if (this.#pendingHandshakes.get(name) === socket) this.#pendingHandshakes.delete(name);
    });
  }

  #onHandshake(socket: TLSSocket): void {
    this.#pendingHandshakes.delete(remoteName(socket));
    socket.on("error", () => undefined); // the owner of the socket is notified by "close"
    const identified = identifyPeer(socket, this.#dependencies.keys, undefined);
    if (identified.ok) {
      this.#dependencies.onPeer(identified.value, socket);
      return;
    }
    this.#refuse(identified.error);
    socket.destroy();
  }

  #refuse(refusal: Refusal): void {
    this.#dependencies.counters.refused++;
    this.#dependencies.onRefusal(refusal);
  }
}
