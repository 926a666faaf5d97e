import { AnalyzedCode } from "./analyzed-code.ts";
import { STACK_ITEMS_MAX } from "./opcodes/opcode-table.ts";
import type { FrameKind } from "./tracer.ts";

export const EMPTY_BYTES: Uint8Array = new Uint8Array(0);

/**
 * One running call or creation. Frames are pooled by depth, so the code that starts one sets every
 * field again. While the interpreter's loop runs a frame it keeps pc, gas, stackSize and memorySize
 * in local variables and writes them back before it leaves or calls an opcode elsewhere.
 */
export class Frame {
  readonly depth: number;
  /** A packed array of bigints from the start: V8 reads it without looking for holes. */
  readonly stack: bigint[] = EMPTY_STACK.slice();
  stackSize = 0;
  pc = 0;
  gas = 0;
  /** What it was given, to tell what it used. */
  gasGiven = 0;

  code: AnalyzedCode = NO_CODE;
  kind: FrameKind = "CALL";
  /** The account that executes: storage and balance are its. */
  address = 0n;
  caller = 0n;
  value = 0n;
  data: Uint8Array = EMPTY_BYTES;
  /** Over `data`; made by the first CALLDATALOAD. */
  dataView: DataView | undefined = undefined;
  isStatic = false;

  /** Where its memory starts in the buffer of all frames. */
  memoryBase = 0;
  /** Bytes, a multiple of 32. */
  memorySize = 0;

  /** What its last child returned. */
  returnData: Uint8Array = EMPTY_BYTES;
  /** What it returns itself, once it has ended. */
  output: Uint8Array = EMPTY_BYTES;

  /** The mark in the world's journal to return to if it fails. */
  snapshot = 0;
  /** Where the parent wants the output: an offset in its memory and a size. */
  outputOffset = 0;
  outputSize = 0;

  constructor(depth: number) {
    this.depth = depth;
  }
}

const NO_CODE = new AnalyzedCode(EMPTY_BYTES);

/** Filled by push, which leaves no holes, and copied as it is: a call needs a frame at once. */
const EMPTY_STACK: bigint[] = [];
for (let index = 0; index < STACK_ITEMS_MAX; index++) EMPTY_STACK.push(0n);
