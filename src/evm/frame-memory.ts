/** Reaching into a frame's memory from opcodes outside the interpreter's loop. */
import { EMPTY_BYTES, type Frame } from "./frame.ts";
import { expansionGas, type Memory } from "./memory.ts";

/**
 * Charges for and makes room for a range. False if the gas does not suffice. An empty range needs
 * no memory, wherever it lies. Offset and size may be beyond 2^53 (rounded): they cost Infinity.
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

/** Fills covered memory from `source`, with zeros where the source has ended. */
export function fillMemory(
  frame: Frame,
  memory: Memory,
  range: { readonly offset: number; readonly size: number },
  source: Uint8Array,
  sourceOffset: number,
): void {
  if (range.size === 0) return;
  const start = frame.memoryBase + range.offset;
  const available = Math.max(0, Math.min(range.size, source.length - sourceOffset));
  if (available > 0) {
    memory.bytes.set(source.subarray(sourceOffset, sourceOffset + available), start);
  }
  memory.bytes.fill(0, start + available, start + range.size);
}

/** Copying costs 3 gas per word, begun words included (Infinity stays Infinity). */
export function copyGas(size: number): number {
  return 3 * Math.ceil(size / 32);
}
