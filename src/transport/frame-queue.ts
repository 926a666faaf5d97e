import { FRAME_HEADER_SIZE } from "./frame.ts";

/** Parts of at least this size are written as they are; smaller ones are put together. */
export const CHUNK_SIZE = 64 * 1024;

/**
 * Frames that wait to be written. Small frames leave together in one chunk, because each write
 * costs a TLS record and a system call: that, not the copy, is what small frames cost.
 */
export class FrameQueue {
  /** Words (headers and control words) and parts, in the order of the stream. */
  #items: (number | Uint8Array)[] = [];
  #head = 0;
  #size = 0;

  /** Bytes that wait, headers included. */
  get size(): number {
    return this.#size;
  }

  pushControl(word: number): void {
    this.#items.push(word);
    this.#size += FRAME_HEADER_SIZE;
  }

  /** The parts are not copied now: they must not change until they are written. */
  pushFrame(parts: Uint8Array | readonly Uint8Array[], size: number): void {
    this.#items.push(size);
    for (const part of parts instanceof Uint8Array ? [parts] : parts) {
      if (part.length > 0) this.#items.push(part);
    }
    this.#size += FRAME_HEADER_SIZE + size;
  }

  /** The next bytes of the stream, or undefined if none wait. */
  shift(): Uint8Array | undefined {
    const items = this.#items;
    const first = this.#head;
    const lone = items[first];
    if (lone === undefined) return undefined;
    let end = first;
    let size = 0;
    if (sizeOf(lone) >= CHUNK_SIZE) {
      end++;
      size = sizeOf(lone);
    } else {
      while (end < items.length) {
        const itemSize = sizeOf(items[end] ?? 0);
        if (itemSize >= CHUNK_SIZE || size + itemSize > CHUNK_SIZE) break;
        size += itemSize;
        end++;
      }
    }
    const chunk = end === first + 1 && typeof lone !== "number" ? lone : this.#join(end, size);
    this.#advance(end);
    this.#size -= size;
    return chunk;
  }

  #join(end: number, size: number): Uint8Array {
    const chunk = Buffer.allocUnsafe(size);
    let at = 0;
    for (let index = this.#head; index < end; index++) {
      const item = this.#items[index] ?? 0;
      if (typeof item === "number") {
        at = chunk.writeUInt32BE(item, at);
      } else {
        chunk.set(item, at);
        at += item.length;
      }
    }
    return chunk;
  }

  /** Drops what was taken; the array is cut in large steps, so that each item moves about once. */
  #advance(head: number): void {
    this.#items.fill(0, this.#head, head);
    this.#head = head;
    if (head === this.#items.length) {
      this.#items = [];
      this.#head = 0;
    } else if (head >= 1_024 && 2 * head >= this.#items.length) {
      this.#items = this.#items.slice(head);
      this.#head = 0;
    }
  }
}

function sizeOf(item: number | Uint8Array): number {
  return typeof item === "number" ? FRAME_HEADER_SIZE : item.length;
}
