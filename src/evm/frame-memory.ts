/** Reaching into a frame's memory from opcodes outside the interpreter's loop. */
import { EMPTY_BYTES, type Frame } from "./frame.ts";
import { expansionGas, type Memory } from "./memory.ts";

/**
 * Charges for and makes room for a range. False if the gas does not suffice. An empty range needs
 * no memory, wherever it is. Offset and size may be beyond 2^53 (rounded): they cost Infinity.
 */
export function coverMemory(frame: Frame, memory: Memory, offset: number, size: number): boolean {
  if (size === 0) return true;
  const end = offset + size;
  if (end <= frame.memorySize) return true;
  frame.gas -= expansionGas(frame.memorySize, end);
  if (frame.gas < 0) return false;
  const grownSize = Math.ceil(end / 32) * 32;
  memory.ensure(frame.memoryBase + frame.memorySize, frame.memoryBase + grownSize);
  frame.memorySize = grownSize;
  return true;
}

/** A view of covered memory; a copy must be made of it if the memory may change first. */
export function viewMemory(frame: Frame, memory: Memory, offset: number, size: number): Uint8Array {
  if (size === 0) return EMPTY_BYTES;
  const start = frame.memoryBase + offset;
  return memory.bytes.subarray(start, start + size);
}

export function copyMemory(frame: Frame, memory: Memory, offset: number, size: number): Uint8Array {
  if (size === 0) return EMPTY_BYTES;
  const start = frame.memoryBase + offset;
  return memory.bytes.slice(start, start + size);
}

export type MemoryCopy = {
  readonly source: Uint8Array;
  /** Where the source ends: it may be shorter than its array. */
  readonly sourceSize: number;
  readonly sourceOffset: number;
  readonly offset: number;
  readonly size: number;
};

/** Fills covered memory from a source, with zeros where the source has ended. */
export function fillMemory(frame: Frame, memory: Memory, copy: MemoryCopy): void {
  const { source, sourceOffset, size } = copy;
  const target = memory.bytes;
  const start = frame.memoryBase + copy.offset;
  const available = Math.max(0, Math.min(size, copy.sourceSize - sourceOffset));
  if (size <= SHORT_COPY_MAX) {
    for (let index = 0; index < available; index++) {
      target[start + index] = source[sourceOffset + index] ?? 0;
    }
    for (let index = available; index < size; index++) target[start + index] = 0;
    return;
  }
  if (available > 0) target.set(source.subarray(sourceOffset, sourceOffset + available), start);
  if (available < size) target.fill(0, start + available, start + size);
}

/** Copying costs 3 gas per word, begun words included (Infinity stays Infinity). */
export function copyGas(size: number): number {
  return 3 * Math.ceil(size / 32);
}

/** Up to here a loop is faster than the call of a typed array's method. */
const SHORT_COPY_MAX = 40;
