import type { TLSSocket } from "node:tls";
import { TokenBucket } from "../base/token-bucket.ts";
import type { FlushTurn } from "./flush-turn.ts";
import { BEAT, FRAME_HEADER_SIZE, GREETING } from "./frame.ts";
import { FrameQueue } from "./frame-queue.ts";
import { FrameReader } from "./frame-reader.ts";
import type { LinkCounters } from "./link-counters.ts";
import type { LinkReason } from "./link-reason.ts";
import type { LinkTiming, PeerLimits } from "./transport-options.ts";

export type ConnectionEvents = {
  /** The peer let us in; frames may follow. */
  onGreeted(): void;
  onFrame(frame: Uint8Array): void;
  /** After a frame was not taken: half of the queue is free again. */
  onDrain(): void;
  /** Once, and nothing after it. */
  onClose(reason: LinkReason): void;
};

export type ConnectionOptions = {
  readonly limits: PeerLimits;
  readonly timing: LinkTiming;
};

export type ConnectionDependencies = {
  readonly counters: LinkCounters;
  readonly turn: FlushTurn;
  readonly events: ConnectionEvents;
};

const TCP_KEEP_ALIVE_MS = 10_000;

/** One TLS connection to a peer whose key was checked. Frames in both directions are limited. */
export class Connection {
  readonly #socket: TLSSocket;
  readonly #limits: PeerLimits;
  readonly #timing: LinkTiming;
  readonly #counters: LinkCounters;
  readonly #turn: FlushTurn;
  readonly #events: ConnectionEvents;
  readonly #queue = new FrameQueue();
  readonly #reader: FrameReader;
  readonly #bytes: TokenBucket;
  readonly #frames: TokenBucket;
  readonly #greetingTimer: NodeJS.Timeout;
  #rateTimer: NodeJS.Timeout | undefined = undefined;
  #isHeld = false;
  #isGreeted = false;
  #isEnding = false;
  #isOver = false;
  #isScheduled = false;
  /** A frame was not taken since the queue was last half empty. */
  #wasRefused = false;
  /** Bytes given to the socket, and bytes received, ever. */
  #handed = 0;
  #received = 0;
  #sweep = { handed: 0, taken: 0, received: 0, silentCount: 0, stalledCount: 0 };

  constructor(
    socket: TLSSocket,
    options: ConnectionOptions,
    { counters, turn, events }: ConnectionDependencies,
  ) {
    this.#socket = socket;
    this.#limits = options.limits;
    this.#timing = options.timing;
    this.#counters = counters;
    this.#turn = turn;
    this.#events = events;
    const nowMs = performance.now();
    this.#bytes = new TokenBucket(options.limits.bytesPerSecond, nowMs);
    this.#frames = new TokenBucket(options.limits.framesPerSecond, nowMs);
    this.#reader = new FrameReader(options.limits.frameSizeMax, {
      onFrame: (frame) => this.#onFrame(frame),
      onControl: (word) => this.#onControl(word),
    });
    const { handshakeMs } = options.timing;
    this.#greetingTimer = setTimeout(() => this.cut("LINK_GREETING_LATE"), handshakeMs);
    this.#listen();
    this.#queue.pushControl(GREETING);
    this.flush();
  }

  /** Bytes that wait for the peer, here and in the socket. */
  get queuedBytes(): number {
    return this.#queue.size + this.#socket.writableLength;
  }

  /** False if the frame was not taken because too much waits for the peer already. */
  send(parts: Uint8Array | readonly Uint8Array[], size: number): boolean {
    const isFull = this.queuedBytes + FRAME_HEADER_SIZE + size > this.#limits.queueBytesMax;
    if (isFull || this.#isEnding || this.#isOver) {
      this.#wasRefused = true;
      return false;
    }
    this.#queue.pushFrame(parts, size);
    this.#counters.framesOut++;
    this.#counters.bytesOut += FRAME_HEADER_SIZE + size;
    this.#schedule();
    return true;
  }

  /** Writes what waits, as far as the socket takes it; the rest follows when it drained. */
  flush(): void {
    this.#isScheduled = false;
    if (this.#isOver) return;
    while (!this.#socket.writableNeedDrain) {
      const chunk = this.#queue.shift();
      if (chunk === undefined) break;
      this.#handed += chunk.length;
      this.#socket.write(chunk);
    }
    if (this.#isEnding && this.#queue.size === 0) this.#socket.end();
  }

  /** Stops (or goes on) reading, so that the peer's queue fills and ours does not. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#updateFlow();
  }

  /** Sends what waits and then a TLS close; the peer's answer ends the connection. */
  end(): void {
    this.#isEnding = true;
    this.flush();
  }

  cut(reason: LinkReason): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#greetingTimer);
    clearTimeout(this.#rateTimer);
    this.#socket.destroy();
    this.#events.onClose(reason);
  }

  /**
   * Called at intervals. It counts sweeps instead of time, so that a node which was itself
   * suspended for a minute does not take its peers for dead.
   */
  sweep(): void {
    if (!this.#isGreeted) return;
    const last = this.#sweep;
    const taken = this.#handed - this.#socket.writableLength;
    const isSilent = this.#received === last.received && !this.#socket.isPaused();
    const isStalled = this.queuedBytes > 0 && taken === last.taken;
    const silentCount = isSilent ? last.silentCount + 1 : 0;
    const stalledCount = isStalled ? last.stalledCount + 1 : 0;
    if (Math.max(silentCount, stalledCount) >= this.#timing.silentSweepsMax) {
      this.cut(silentCount > stalledCount ? "LINK_SILENT" : "LINK_STALLED");
      return;
    }
    if (this.#handed === last.handed && this.queuedBytes === 0) {
      this.#queue.pushControl(BEAT);
      this.flush();
    }
    const handed = this.#handed;
    this.#sweep = { handed, taken, received: this.#received, silentCount, stalledCount };
  }

  #listen(): void {
    const socket = this.#socket;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    socket.on("data", (chunk: Uint8Array) => this.#onData(chunk));
    socket.on("drain", () => this.#onDrain());
    socket.on("end", () => this.cut(this.#isEnding ? "LINK_CLOSED" : "LINK_ENDED"));
    socket.on("close", () => this.cut(this.#isEnding ? "LINK_CLOSED" : "LINK_FAILED"));
    socket.on("error", () => undefined); // "close" follows
  }

  #onData(chunk: Uint8Array): void {
    if (this.#isOver) return;
    const framesBefore = this.#counters.framesIn;
    this.#received += chunk.length;
    this.#counters.bytesIn += chunk.length;
    const failure = this.#reader.read(chunk);
    if (failure === undefined) {
      this.#limitRate(chunk.length, this.#counters.framesIn - framesBefore);
    } else {
      this.cut(failure);
    }
  }

  #onFrame(frame: Uint8Array): boolean {
    if (!this.#isGreeted) {
      this.cut("LINK_PROTOCOL_VIOLATED");
      return false;
    }
    this.#counters.framesIn++;
    this.#events.onFrame(frame);
    return !this.#isOver;
  }

  #onControl(word: number): boolean {
    if (word === GREETING && !this.#isGreeted) {
      this.#isGreeted = true;
      clearTimeout(this.#greetingTimer);
      this.#events.onGreeted();
    } else if (word !== BEAT || !this.#isGreeted) {
      this.cut("LINK_PROTOCOL_VIOLATED");
    }
    return !this.#isOver;
  }

  #onDrain(): void {
    this.flush();
    if (!this.#wasRefused || this.queuedBytes > this.#limits.queueBytesMax / 2) return;
    this.#wasRefused = false;
    if (!this.#isOver && !this.#isEnding) this.#events.onDrain();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#turn.add(this);
  }

  /** Stops reading until the peer is within its rates again. */
  #limitRate(size: number, frameCount: number): void {
    const nowMs = performance.now();
    const bytesWaitMs = this.#bytes.take(size, nowMs);
    const waitMs = Math.max(bytesWaitMs, this.#frames.take(frameCount, nowMs));
    if (waitMs === 0 || this.#isOver) return;
    this.#counters.pauses++;
    clearTimeout(this.#rateTimer);
    this.#rateTimer = setTimeout(() => {
      this.#rateTimer = undefined;
      this.#updateFlow();
    }, waitMs);
    this.#updateFlow();
  }

  #updateFlow(): void {
    if (this.#isHeld || this.#rateTimer !== undefined) this.#socket.pause();
    else this.#socket.resume();
  }
}
