import { CONTROL_BIT, FRAME_HEADER_SIZE } from "./frame.ts";

export type FrameSink = {
  /** False stops the reader: the rest of the chunk is dropped. */
  onFrame(frame: Uint8Array): boolean;
  onControl(word: number): boolean;
};

/** Memory grows with the bytes that arrived, not with the size that a header claims. */
const FIRST_RESERVE = 256 * 1024;

/**
 * Cuts a byte stream into frames. A frame within one chunk is handed on as a view of it; one that
 * spans chunks is copied once, into a buffer that grows fourfold until it holds the frame.
 */
export class FrameReader {
  readonly #frameSizeMax: number;
  readonly #sink: FrameSink;
  /** The first bytes of a word that a chunk ended in, as a number, and how many they are. */
  #word = 0;
  #wordSize = 0;
  /** The frame under way; its buffer holds `#filled` of `#frameSize` bytes. */
  #partial: Uint8Array | undefined = undefined;
  #frameSize = 0;
  #filled = 0;

  constructor(frameSizeMax: number, sink: FrameSink) {
    this.#frameSizeMax = frameSizeMax;
    this.#sink = sink;
  }

  /** Takes the next bytes of the stream. After a failure the stream has no meaning any more. */
  read(chunk: Uint8Array): "LINK_FRAME_TOO_LARGE" | undefined {
    let at = 0;
    while (at < chunk.length) {
      if (this.#partial !== undefined) {
        at = this.#fill(chunk, at);
        if (at < 0) return undefined;
        continue;
      }
      while (this.#wordSize < FRAME_HEADER_SIZE && at < chunk.length) {
        this.#word = this.#word * 256 + (chunk[at++] ?? 0);
        this.#wordSize++;
      }
      if (this.#wordSize < FRAME_HEADER_SIZE) return undefined;
      const word = this.#word;
      this.#word = 0;
      this.#wordSize = 0;
      if (word >= CONTROL_BIT) {
        if (!this.#sink.onControl(word)) return undefined;
        continue;
      }
      if (word > this.#frameSizeMax) return "LINK_FRAME_TOO_LARGE";
      if (at + word <= chunk.length) {
        if (!this.#sink.onFrame(chunk.subarray(at, at + word))) return undefined;
        at += word;
        continue;
      }
      this.#partial = Buffer.allocUnsafeSlow(Math.min(word, FIRST_RESERVE));
      this.#frameSize = word;
      this.#filled = 0;
    }
    return undefined;
  }

  /** Copies what belongs to the frame under way; the new position, or -1 if the sink stopped. */
  #fill(chunk: Uint8Array, at: number): number {
    const count = Math.min(this.#frameSize - this.#filled, chunk.length - at);
    const buffer = this.#reserve(this.#filled + count);
    buffer.set(chunk.subarray(at, at + count), this.#filled);
    this.#filled += count;
    if (this.#filled < this.#frameSize) return at + count;
    this.#partial = undefined;
    return this.#sink.onFrame(buffer.subarray(0, this.#frameSize)) ? at + count : -1;
  }

  #reserve(size: number): Uint8Array {
    const held = this.#partial ?? new Uint8Array(0);
    if (held.length >= size) return held;
    const wanted = Math.max(size, 4 * held.length);
    const larger = Buffer.allocUnsafeSlow(Math.min(this.#frameSize, wanted));
    larger.set(held.subarray(0, this.#filled));
    this.#partial = larger;
    return larger;
  }
}
