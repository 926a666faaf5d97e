/** The bytes that one WebSocket holds, in and out, taken from the budget of all transports. */
import type { WebSocket } from "ws";
import type { BudgetShare } from "./byte-budget.ts";

/** Of a frame that a client sends, with its mask. */
const FRAME_HEADER_SIZE = 6;

/** What came of a message that is not whole yet. */
export class ArrivingBytes {
  readonly #budget: BudgetShare;
  #held = 0;

  constructor(budget: BudgetShare) {
    this.#budget = budget;
  }

  /** False if there is no room for it. */
  add(bytes: number): boolean {
    if (!this.#budget.reserve(bytes)) return false;
    this.#held += bytes;
    return true;
  }

  /** A frame between those of a message is gone. */
  take(payloadBytes: number): void {
    this.#release(Math.min(this.#held, payloadBytes + FRAME_HEADER_SIZE));
  }

  /** The message is whole, or the connection is over. */
  clear(): void {
    this.#release(this.#held);
  }

  #release(bytes: number): void {
    this.#held -= bytes;
    this.#budget.release(bytes);
  }
}

/** What the peer has yet to read. One that reads nothing for long loses its connection. */
export class OutgoingMessages {
  readonly #socket: WebSocket;
  readonly #budget: BudgetShare;
  /** In which one message must have been read by the peer. */
  readonly #sendMsMax: number;
  #held = 0;
  #timer: NodeJS.Timeout | undefined;
  #isPongUnderWay = false;
  #nextPong: Buffer | undefined;

  constructor(socket: WebSocket, budget: BudgetShare, sendMsMax: number) {
    this.#socket = socket;
    this.#budget = budget;
    this.#sendMsMax = sendMsMax;
  }

  /** False if there is no room for it. */
  send(text: string): boolean {
    const size = Buffer.byteLength(text);
    if (!this.#budget.reserve(size)) return false;
    this.#held += size;
    this.#timer ??= setTimeout(() => this.#socket.terminate(), this.#sendMsMax).unref();
    this.#socket.send(text, () => this.#onSent(size));
    return true;
  }

  /** Of pings that come while a pong waits, the last is answered (RFC 6455, 5.5.3). */
  pong(data: Buffer): void {
    if (this.#isPongUnderWay) {
      this.#nextPong = data;
      return;
    }
    this.#isPongUnderWay = true;
    this.#socket.pong(data, false, () => {
      const next = this.#nextPong;
      this.#isPongUnderWay = false;
      this.#nextPong = undefined;
      if (next !== undefined && this.#socket.readyState === this.#socket.OPEN) this.pong(next);
    });
  }

  /** The connection is over. */
  clear(): void {
    this.#budget.release(this.#held);
    this.#held = 0;
    clearTimeout(this.#timer);
  }

  #onSent(size: number): void {
    // After the end, everything was given back.
    if (this.#held === 0) return;
    this.#held -= size;
    this.#budget.release(size);
    clearTimeout(this.#timer);
    this.#timer =
      this.#held === 0
        ? undefined
        : setTimeout(() => this.#socket.terminate(), this.#sendMsMax).unref();
  }
}
