/**
 * Mutual TLS links between the nodes of a network (docs/adr/0008-transport.md). A link carries
 * frames in order while it is up. It guarantees nothing across a disconnection: the protocol above
 * retransmits what was not received.
 */
import { createSecureContext } from "node:tls";
import { invariant } from "../base/invariant.ts";
import { Listener } from "./listener.ts";
import { FlushTurn } from "./flush-turn.ts";
import { Link, type LinkEvents } from "./link.ts";
import type { ListenerCounters, LinkCounters } from "./link-counters.ts";
import type { LinkReason, Refusal } from "./link-reason.ts";
import { type Endpoint, isDialer, PinnedKeys, type Principal } from "./principal.ts";
import { createSecureOptions } from "./tls-peer.ts";
import {
  CLIENT_LIMITS,
  DEFAULT_LINK_TIMING,
  REPLICA_LIMITS,
  type PeerLimits,
  type TransportOptions,
} from "./transport-options.ts";

/** Called from the event loop, one at a time. */
export type TransportEvents = {
  onUp(peer: Principal): void;
  onDown(peer: Principal, reason: LinkReason): void;
  /**
   * The frame may be a view of a larger buffer that lives as long as the view: copy what is kept
   * for long, or a hundred bytes keep sixteen thousand alive.
   */
  onFrame(peer: Principal, frame: Uint8Array): void;
  /** After `send` returned false for an up peer: there is room again. */
  onDrain?(peer: Principal): void;
  /** Unknown peers and failed handshakes: for debug logs only. */
  onRefusal?(refusal: Refusal): void;
};

export type PeerStatus = {
  readonly peer: Principal;
  readonly isUp: boolean;
  readonly queuedBytes: number;
  readonly counters: Readonly<LinkCounters>;
};

export class Transport {
  readonly counters: ListenerCounters = { accepted: 0, refused: 0 };
  readonly #self: Principal;
  readonly #clientPrincipalMin: Principal;
  readonly #links = new Map<Principal, Link>();
  /** What peers accept from this node. */
  readonly #frameSizeMax: number;
  readonly #sweepTimer: NodeJS.Timeout;
  #listener: Listener | undefined = undefined;

  /** Listens and begins to dial. Rejects if the port cannot be had. */
  static async open(options: TransportOptions, events: TransportEvents): Promise<Transport> {
    const keys = new PinnedKeys(options.peers);
    const transport = new Transport(options, keys, events);
    try {
      await transport.#listen(options, keys, events);
    } catch (error) {
      await transport.close();
      throw error;
    }
    for (const [peer, { endpoint }] of options.peers) {
      if (endpoint !== undefined) transport.setEndpoint(peer, endpoint);
    }
    return transport;
  }

  private constructor(options: TransportOptions, keys: PinnedKeys, events: TransportEvents) {
    const { self, timing = DEFAULT_LINK_TIMING } = options;
    invariant(!options.peers.has(self), "a node is not its own peer");
    this.#self = self;
    this.#clientPrincipalMin = options.clientPrincipalMin;
    this.#frameSizeMax = limitsOf(self, options).frameSizeMax;
    const secureContext = createSecureContext(createSecureOptions(options.identity));
    const dependencies = {
      turn: new FlushTurn(),
      dial: { secureContext, keys, handshakeMs: timing.handshakeMs },
      random: Math.random,
      events: this.#linkEvents(events),
    };
    for (const peer of options.peers.keys()) {
      const limits = limitsOf(peer, options);
      const linkOptions = {
        peer,
        isDialer: isDialer(self, peer, options.clientPrincipalMin),
        limits,
        timing,
      };
      this.#links.set(peer, new Link(linkOptions, dependencies));
    }
    this.#sweepTimer = setInterval(() => this.#sweep(), timing.sweepMs);
  }

  /** The port this node listens on; 0 if it does not. */
  get port(): number {
    return this.#listener?.port ?? 0;
  }

  /** Where a peer is to be found, if that was not known at the start or has changed. */
  setEndpoint(peer: Principal, endpoint: Endpoint): void {
    const clientMin = this.#clientPrincipalMin;
    const isTalking =
      isDialer(this.#self, peer, clientMin) || isDialer(peer, this.#self, clientMin);
    if (isTalking && peer < clientMin) this.#linkOf(peer).setEndpoint(endpoint);
  }

  /**
   * Queues a frame, given whole or in parts that must not change afterwards. False if it was not
   * taken, because the peer is down or too much waits for it; the protocol retransmits it.
   */
  send(peer: Principal, frame: Uint8Array | readonly Uint8Array[]): boolean {
    let size = 0;
    if (frame instanceof Uint8Array) size = frame.length;
    else for (const part of frame) size += part.length;
    invariant(size <= this.#frameSizeMax, "a frame is not larger than peers accept");
    return this.#linkOf(peer).send(frame, size);
  }

  /** Stops reading from a peer until released; up to one chunk of frames may still arrive. */
  hold(peer: Principal, isHeld: boolean): void {
    this.#linkOf(peer).hold(isHeld);
  }

  /** Cuts the link to a misbehaving peer and refuses a new one for the given time. */
  bar(peer: Principal, pauseMs: number): void {
    this.#linkOf(peer).bar(pauseMs);
  }

  isUp(peer: Principal): boolean {
    return this.#linkOf(peer).isUp;
  }

  status(): PeerStatus[] {
    return Array.from(this.#links, ([peer, { isUp, queuedBytes, counters }]) => {
      return { peer, isUp, queuedBytes, counters };
    });
  }

  /** Sends what waits, as far as that is done within the deadline, and ends everything. */
  async close(deadlineMs = 1_000): Promise<void> {
    clearInterval(this.#sweepTimer);
    this.#listener?.close();
    const links = [...this.#links.values()];
    const deadline = setTimeout(() => links.forEach((link) => link.cut()), deadlineMs);
    await Promise.all(links.map((link) => link.close()));
    clearTimeout(deadline);
  }

  async #listen(
    options: TransportOptions,
    keys: PinnedKeys,
    events: TransportEvents,
  ): Promise<void> {
    const { listen, identity, timing = DEFAULT_LINK_TIMING } = options;
    if (listen === undefined) return;
    const secureOptions = createSecureOptions(identity);
    const { handshakeMs } = timing;
    this.#listener = await Listener.open(
      { listen, secureOptions, handshakeMs },
      {
        keys,
        counters: this.counters,
        onPeer: (peer, socket) => this.#linkOf(peer).onAccepted(socket),
        onRefusal: (refusal) => events.onRefusal?.(refusal),
      },
    );
  }

  #linkEvents(events: TransportEvents): LinkEvents {
    return {
      onUp: (peer) => events.onUp(peer),
      onDown: (peer, reason) => events.onDown(peer, reason),
      onFrame: (peer, frame) => events.onFrame(peer, frame),
      onDrain: (peer) => events.onDrain?.(peer),
      onRefusal: (refusal) => {
        this.counters.refused++;
        events.onRefusal?.(refusal);
      },
    };
  }

  #linkOf(peer: Principal): Link {
    const link = this.#links.get(peer);
    invariant(link !== undefined, "only peers of the table have links");
    return link;
  }

  #sweep(): void {
    for (const link of this.#links.values()) link.sweep();
  }
}

function limitsOf(principal: Principal, options: TransportOptions): PeerLimits {
  const { replicaLimits = REPLICA_LIMITS, clientLimits = CLIENT_LIMITS } = options;
  return principal < options.clientPrincipalMin ? replicaLimits : clientLimits;
}
