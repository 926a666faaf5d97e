/**
 * The memory of all frames of one execution in one buffer: a child's memory starts where its
 * parent's ends, so a call allocates nothing, and a child's calldata is a view of its parent's
 * memory (which stands still while the child runs; a view outlives the buffer's replacement).
 */
export class Memory {
  /** Replaced when it grows: read again after every call of `ensure`. */
  bytes: Uint8Array = new Uint8Array(INITIAL_BYTES);
  view: DataView = new DataView(this.bytes.buffer);

  /** Makes room for `end` bytes and zeroes those from `start` on. */
  ensure(start: number, end: number): void {
    if (end <= this.bytes.length) {
      this.bytes.fill(0, start, end);
      return;
    }
    const grown = new Uint8Array(Math.max(end, 2 * this.bytes.length));
    grown.set(this.bytes.subarray(0, start));
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }

  /** Between executions: one that needed much memory does not keep it for ever. */
  release(): void {
    if (this.bytes.length <= RETAINED_BYTES_MAX) return;
    this.bytes = new Uint8Array(INITIAL_BYTES);
    this.view = new DataView(this.bytes.buffer);
  }
}

/**
 * The gas for growing a frame's memory from `size` bytes (a multiple of 32) to cover `end`.
 * Infinity beyond 4 GiB, which costs more than 2^45 gas: no gas limit pays for it, and below it
 * every number here is exact.
 */
export function expansionGas(size: number, end: number): number {
  if (end > MEMORY_BYTES_MAX) return Infinity;
  const words = Math.ceil(end / 32);
  return memoryGas(words) - memoryGas(size / 32);
}

function memoryGas(words: number): number {
  return 3 * words + Math.floor((words * words) / 512);
}

const INITIAL_BYTES = 0x1000;
const RETAINED_BYTES_MAX = 0x100_0000;
const MEMORY_BYTES_MAX = 0x1_0000_0000;
