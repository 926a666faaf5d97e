import type { TLSSocket } from "node:tls";
import { BackOff } from "./back-off.ts";
import { Connection } from "./connection.ts";
import { dialPeer, type Dial, type DialContext } from "./dial.ts";
import type { FlushTurn } from "./flush-turn.ts";
import { createLinkCounters, type LinkCounters } from "./link-counters.ts";
import type { LinkReason, Refusal } from "./link-reason.ts";
import type { Endpoint, Principal } from "./principal.ts";
import type { LinkTiming, PeerLimits } from "./transport-options.ts";

export type LinkOptions = {
  readonly peer: Principal;
  /** Whether this node dials the peer; if not, it waits for it. */
  readonly isDialer: boolean;
  readonly limits: PeerLimits;
  readonly timing: LinkTiming;
};

export type LinkDependencies = {
  readonly turn: FlushTurn;
  readonly dial: DialContext;
  /** Uniform over 0 .. 1, for jitter. */
  readonly random: () => number;
  readonly events: LinkEvents;
};

export type LinkEvents = {
  onUp(peer: Principal): void;
  onDown(peer: Principal, reason: LinkReason): void;
  onFrame(peer: Principal, frame: Uint8Array): void;
  onDrain(peer: Principal): void;
  onRefusal(refusal: Refusal): void;
};

/**
 * A link that was up this long counts as healthy: the back-off starts again at its next failure.
 */
const SOUND_MS = 1_000;

/**
 * All connections to one peer, as one link: at most one is up, and losing it starts the search for
 * the next. A connection is up once the peer greeted on it.
 */
export class Link {
  readonly counters: LinkCounters = createLinkCounters();
  readonly #options: LinkOptions;
  readonly #dependencies: LinkDependencies;
  readonly #backOff: BackOff;
  #endpoint: Endpoint | undefined = undefined;
  #dial: Dial | undefined = undefined;
  #retryTimer: NodeJS.Timeout | undefined = undefined;
  /** Its key was checked, its greeting is awaited. */
  #candidate: Connection | undefined = undefined;
  #connection: Connection | undefined = undefined;
  #upSinceMs = 0;
  #isHeld = false;
  #barredUntilMs = 0;
  #isClosing = false;
  #onAllClosed: () => void = () => undefined;

  constructor(options: LinkOptions, dependencies: LinkDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const { reconnectMinMs, reconnectMaxMs } = options.timing;
    this.#backOff = new BackOff(reconnectMinMs, reconnectMaxMs, dependencies.random);
  }

  get isUp(): boolean {
    return this.#connection !== undefined;
  }

  get queuedBytes(): number {
    return this.#connection?.queuedBytes ?? 0;
  }

  /** Where the peer is. A peer that moved is looked for at its new place at once. */
  setEndpoint(endpoint: Endpoint): void {
    this.#endpoint = endpoint;
    if (this.#options.isDialer) {
      this.#dial?.abort();
      this.#dial = undefined;
      this.#backOff.reset();
      this.#tryDial();
    } else if (this.#connection === undefined) {
      this.#probe(endpoint);
    }
  }

  /** A connection that the peer opened; its key was checked. */
  onAccepted(socket: TLSSocket): void {
    if (this.#isClosing || this.#barredMs() > 0) socket.destroy();
    else if (this.#options.isDialer) this.#onKnock(socket);
    else this.#adopt(socket);
  }

  send(parts: Uint8Array | readonly Uint8Array[], size: number): boolean {
    if (this.#connection?.send(parts, size) === true) return true;
    this.counters.framesRefused++;
    return false;
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#connection?.hold(isHeld);
  }

  sweep(): void {
    this.#connection?.sweep();
  }

  /** Sends what waits, says goodbye and resolves when the peer has gone or `cut` was called. */
  close(): Promise<void> {
    this.#isClosing = true;
    this.#dial?.abort();
    this.#dial = undefined;
    clearTimeout(this.#retryTimer);
    this.#candidate?.cut("LINK_CLOSED");
    const connection = this.#connection;
    if (connection === undefined) return Promise.resolve();
    const closed = new Promise<void>((resolve) => {
      this.#onAllClosed = resolve;
    });
    connection.end();
    return closed;
  }

  cut(): void {
    this.#connection?.cut("LINK_CLOSED");
  }

  /** Ends the link and has no new one for so long, whichever side dials. */
  bar(pauseMs: number): void {
    this.#barredUntilMs = performance.now() + pauseMs;
    this.#candidate?.cut("LINK_BARRED");
    this.#connection?.cut("LINK_BARRED");
  }

  #barredMs(): number {
    return Math.max(0, this.#barredUntilMs - performance.now());
  }

  /**
   * The side that waits cannot dial, and the other may be in a long pause between two attempts. A
   * node that starts therefore connects once as a probe: the peer recognises its key, closes the
   * connection and dials at once.
   */
  #probe(endpoint: Endpoint): void {
    const { peer } = this.#options;
    this.#dial = dialPeer(endpoint, peer, this.#dependencies.dial, (result) => {
      this.#dial = undefined;
      if (!result.ok) return;
      const socket = result.value;
      this.#dial = { abort: () => socket.destroy() };
      socket.once("close", () => {
        this.#dial = undefined;
      });
      socket.setTimeout(this.#options.timing.handshakeMs, () => socket.destroy());
      socket.resume();
      socket.end();
    });
  }

  #onKnock(socket: TLSSocket): void {
    socket.destroy();
    // A peer that probes has no link. If ours is older than any handshake, it is a leftover.
    const upForMs = performance.now() - this.#upSinceMs;
    if (this.#connection !== undefined && upForMs > this.#options.timing.handshakeMs) {
      this.#connection.cut("LINK_REPLACED");
    }
    this.#backOff.reset();
    this.#tryDial();
  }

  #tryDial(): void {
    const isBusy = (this.#connection ?? this.#candidate ?? this.#dial) !== undefined;
    if (isBusy || this.#isClosing || this.#endpoint === undefined) return;
    clearTimeout(this.#retryTimer);
    if (this.#barredMs() > 0) {
      this.#retry();
      return;
    }
    this.counters.dials++;
    const { peer } = this.#options;
    this.#dial = dialPeer(this.#endpoint, peer, this.#dependencies.dial, (result) => {
      this.#dial = undefined;
      if (result.ok) {
        this.#adopt(result.value);
      } else {
        this.#dependencies.events.onRefusal(result.error);
        this.#retry();
      }
    });
  }

  #retry(): void {
    if (!this.#options.isDialer || this.#isClosing) return;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(
      () => this.#tryDial(),
      Math.max(this.#barredMs(), this.#backOff.nextMs()),
    );
  }

  #adopt(socket: TLSSocket): void {
    this.#candidate?.cut("LINK_REPLACED");
    const { turn, events } = this.#dependencies;
    const { peer } = this.#options;
    const connection: Connection = new Connection(socket, this.#options, {
      counters: this.counters,
      turn,
      events: {
        onGreeted: () => this.#onGreeted(connection),
        onFrame: (frame) => events.onFrame(peer, frame),
        onDrain: () => events.onDrain(peer),
        onClose: (reason) => this.#onClosed(connection, reason),
      },
    });
    this.#candidate = connection;
  }

  #onGreeted(connection: Connection): void {
    // The peer has one link to us and just opened this one, so an older one is a leftover of it.
    this.#connection?.cut("LINK_REPLACED");
    this.#candidate = undefined;
    this.#connection = connection;
    this.#upSinceMs = performance.now();
    this.counters.ups++;
    if (this.#isHeld) connection.hold(true);
    this.#dependencies.events.onUp(this.#options.peer);
  }

  #onClosed(connection: Connection, reason: LinkReason): void {
    if (this.#candidate === connection) {
      this.#candidate = undefined;
      if (this.#options.isDialer && this.#endpoint !== undefined && !this.#isClosing) {
        const { host, port } = this.#endpoint;
        const remote = `${host}:${port}`;
        this.#dependencies.events.onRefusal({ code: "PEER_HUNG_UP", remote, detail: reason });
      }
      this.#retry();
      return;
    }
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    if (performance.now() - this.#upSinceMs > SOUND_MS) this.#backOff.reset();
    this.#dependencies.events.onDown(this.#options.peer, reason);
    this.#retry();
    this.#onAllClosed();
  }
}
