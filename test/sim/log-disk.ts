/**
 * The log file of one simulated replica, byte for byte: framed records on sectors, of which those
 * written after the last sync may each survive a power loss or not (PROTOCOL §7). The frame is a
 * stand-in for the real log of the replica's shell; the rules of recovery are the same.
 */
import { crc32 } from "node:zlib";
import { concatBytes } from "../../src/base/bytes.ts";
import { invariant } from "../../src/base/invariant.ts";
import type { Prng } from "../../src/base/prng.ts";

const SECTOR_SIZE = 512;
/** length, sequence, highest durable sequence when this record was written; then body and CRC. */
const HEAD_SIZE = 12;
const TAIL_SIZE = 4;

export type Recovered =
  | { readonly kind: "intact"; readonly bodies: readonly Uint8Array[] }
  /** Something that was once durable is damaged: the log cannot be trusted. */
  | { readonly kind: "corrupt" };

/** A copy of the file that an operator took, for restoring it at the wrong time. */
export type DiskCopy = { readonly frames: readonly Uint8Array[]; readonly firstSequence: number };

export type TailFate = "lost" | "kept" | "prefix" | "subset" | "torn";

export class LogDisk {
  /** Appended frames since the last compaction, oldest first. */
  #frames: Uint8Array[] = [];
  #firstSequence = 0;
  #durableCount = 0;

  /** The sequence number of the appended record, which `durableThrough` is compared with. */
  append(body: Uint8Array): number {
    const sequence = this.#firstSequence + this.#frames.length;
    this.#frames.push(frameOf(body, sequence, this.durableThrough()));
    return sequence;
  }

  lastSequence(): number {
    return this.#firstSequence + this.#frames.length - 1;
  }

  durableThrough(): number {
    return this.#firstSequence + this.#durableCount - 1;
  }

  recordCount(): number {
    return this.#frames.length;
  }

  isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  /** A sync that began when `sequence` was the last record has ended. */
  markDurable(sequence: number): void {
    const count = sequence - this.#firstSequence + 1;
    invariant(count <= this.#frames.length, "only what was written can become durable");
    this.#durableCount = Math.max(this.#durableCount, count);
  }

  /** Drops the durable records before `sequence`, as removing an old segment does. */
  dropBefore(sequence: number): void {
    const count = sequence - this.#firstSequence;
    if (count <= 0) return;
    invariant(count <= this.#durableCount, "records are dropped only below a durable snapshot");
    this.#frames.splice(0, count);
    this.#firstSequence += count;
    this.#durableCount -= count;
  }

  /** What is durable now. */
  copy(): DiskCopy {
    return {
      frames: this.#frames.slice(0, this.#durableCount),
      firstSequence: this.#firstSequence,
    };
  }

  /** Returns false when the copy holds nothing. */
  restore({ frames, firstSequence }: DiskCopy): boolean {
    if (frames.length === 0) return false;
    this.#frames = [...frames];
    this.#firstSequence = firstSequence;
    this.#durableCount = this.#frames.length;
    return true;
  }

  wipe(): void {
    this.#frames = [];
    this.#firstSequence = 0;
    this.#durableCount = 0;
  }

  /** The power goes: what was not synced survives as `fate` and chance have it. */
  losePower(fate: TailFate, prng: Prng): void {
    const durable = this.#frames.slice(0, this.#durableCount);
    const tail = concatBytes(...this.#frames.slice(this.#durableCount));
    this.#frames = splitImage([...durable, damageTail(tail, fate, prng)]);
  }

  /** One byte below the durable end changes. Returns false when there is nothing to damage. */
  rot(prng: Prng): boolean {
    if (this.#durableCount === 0) return false;
    const index = prng.below(this.#durableCount);
    const frame = this.#frames[index]!.slice();
    const at = prng.below(frame.length);
    frame[at] = frame[at]! ^ (1 << prng.below(8));
    this.#frames[index] = frame;
    return true;
  }

  /**
   * Reads the file as a restarting replica does. The first bad record is the unsynced tail, unless
   * a later good one says that it had been durable.
   */
  recover(): Recovered {
    const image = concatBytes(...this.#frames);
    const { bodies, endOffset } = readFrames(image, this.#firstSequence);
    const cutSequence = this.#firstSequence + bodies.length;
    if (claimsDurable(image, endOffset, cutSequence)) return { kind: "corrupt" };
    const kept: Uint8Array[] = [];
    let offset = 0;
    for (const body of bodies) {
      const size = HEAD_SIZE + body.length + TAIL_SIZE;
      kept.push(image.slice(offset, offset + size));
      offset += size;
    }
    this.#frames = kept;
    this.#durableCount = Math.min(this.#durableCount, kept.length);
    return { kind: "intact", bodies };
  }
}

function frameOf(body: Uint8Array, sequence: number, durable: number): Uint8Array {
  const frame = new Uint8Array(HEAD_SIZE + body.length + TAIL_SIZE);
  const view = new DataView(frame.buffer);
  view.setUint32(0, body.length);
  view.setUint32(4, sequence);
  view.setInt32(8, durable);
  frame.set(body, HEAD_SIZE);
  view.setUint32(frame.length - TAIL_SIZE, crc32(frame.subarray(0, frame.length - TAIL_SIZE)));
  return frame;
}

function readFrame(
  image: Uint8Array,
  offset: number,
): { readonly body: Uint8Array; readonly sequence: number; readonly durable: number } | undefined {
  if (offset + HEAD_SIZE + TAIL_SIZE > image.length) return undefined;
  const view = new DataView(image.buffer, image.byteOffset);
  const size = HEAD_SIZE + view.getUint32(offset) + TAIL_SIZE;
  if (offset + size > image.length) return undefined;
  const checked = image.subarray(offset, offset + size - TAIL_SIZE);
  if (crc32(checked) !== view.getUint32(offset + size - TAIL_SIZE)) return undefined;
  const body = image.slice(offset + HEAD_SIZE, offset + size - TAIL_SIZE);
  return { body, sequence: view.getUint32(offset + 4), durable: view.getInt32(offset + 8) };
}

function readFrames(
  image: Uint8Array,
  firstSequence: number,
): { readonly bodies: Uint8Array[]; readonly endOffset: number } {
  const bodies: Uint8Array[] = [];
  let endOffset = 0;
  for (;;) {
    const frame = readFrame(image, endOffset);
    if (frame?.sequence !== firstSequence + bodies.length) return { bodies, endOffset };
    bodies.push(frame.body);
    endOffset += HEAD_SIZE + frame.body.length + TAIL_SIZE;
  }
}

/** Whether a good record beyond the damage was written when `cutSequence` was already durable. */
function claimsDurable(image: Uint8Array, from: number, cutSequence: number): boolean {
  for (let offset = from; offset + HEAD_SIZE + TAIL_SIZE <= image.length; offset++) {
    const frame = readFrame(image, offset);
    if (frame !== undefined && frame.sequence > cutSequence && frame.durable >= cutSequence) {
      return true;
    }
  }
  return false;
}

function damageTail(tail: Uint8Array, fate: TailFate, prng: Prng): Uint8Array {
  switch (fate) {
    case "lost":
      return new Uint8Array(0);
    case "kept":
      return tail;
    case "prefix":
      return tail.slice(0, prng.below(tail.length + 1));
    case "torn": {
      const torn = tail.slice();
      for (let at = prng.below(torn.length + 1); at < torn.length; at++) torn[at] = prng.below(256);
      return torn;
    }
    case "subset": {
      const partial = tail.slice();
      for (let at = 0; at < partial.length; at += SECTOR_SIZE) {
        if (prng.chance(0.5)) partial.fill(0, at, at + SECTOR_SIZE);
      }
      return partial;
    }
  }
}

/** An image is kept as parts; only their concatenation has a meaning. */
function splitImage(parts: readonly Uint8Array[]): Uint8Array[] {
  return parts.filter((part) => part.length > 0);
}
