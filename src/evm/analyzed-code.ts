import { keyedWordHash } from "../crypto/keyed-word-hash.ts";
import type { Code } from "./world-state.ts";
import { bytesToWord } from "./word.ts";

/** Code as the interpreter runs it. */
export class AnalyzedCode {
  /** The code and 33 zero bytes: running off its end is a STOP, and a cut PUSH reads zeros. */
  readonly bytes: Uint8Array;
  /** Without the padding. */
  readonly size: number;
  /** 1 where a jump may land. As long as `bytes`. */
  readonly jumpTargets: Uint8Array;
  /**
   * The operands of PUSH2 to PUSH32 by the position of the PUSH, decoded when first executed: most
   * code of most contracts never runs. Empty until the first of them.
   */
  pushes: (bigint | undefined)[] = [];
  #longestRun: number | undefined = undefined;

  constructor(code: Uint8Array) {
    this.size = code.length;
    this.bytes = new Uint8Array(code.length + PADDING_BYTES);
    this.bytes.set(code);
    this.jumpTargets = findJumpTargets(this.bytes, this.size);
  }

  /**
   * The most opcodes in a row at which a preemption is not noticed (see Preemption): neither jumps
   * nor opcodes of the cold table. Counted when first asked for: blocks never ask.
   */
  get longestRun(): number {
    this.#longestRun ??= findLongestRun(this.bytes, this.size);
    return this.#longestRun;
  }

  /** The operand of the PUSH2 to PUSH32 at a position. */
  decodePush(position: number): bigint {
    if (this.pushes.length === 0) this.pushes = new Array<bigint | undefined>(this.size);
    const size = (this.bytes[position] ?? 0) - 0x5f;
    const operand = bytesToWord(this.bytes.subarray(position + 1, position + 1 + size));
    this.pushes[position] = operand;
    return operand;
  }
}

type CachedAnalysis = { readonly hash: bigint; readonly analyzed: AnalyzedCode };

/**
 * The analyses of deployed code, bounded by the memory that they hold. The oldest go first. Code so
 * long that it would drive many others out is not kept: only overrides of calls are. They are found
 * by a keyed hash of the code hash: code can be made whose hash the engine's own Map would chain to
 * others.
 */
export class AnalyzedCodeCache {
  readonly #byKeyedHash = new Map<number, CachedAnalysis>();
  readonly #heldBytesMax: number;
  #heldBytes = 0;

  constructor(heldBytesMax: number) {
    this.#heldBytesMax = heldBytesMax;
  }

  /** With all operands decoded, whether they are or not. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  analyze(code: Code): AnalyzedCode {
    const key = keyedWordHash(code.hash);
    const known = this.#byKeyedHash.get(key);
    if (known?.hash === code.hash) return known.analyzed;
    const analyzed = new AnalyzedCode(code.bytes);
    if (heldBytesOf(analyzed) > this.#heldBytesMax / ENTRIES_LEAST) return analyzed;
    // Two codes at one key take turns.
    if (known !== undefined) this.#heldBytes -= heldBytesOf(known.analyzed);
    this.#byKeyedHash.set(key, { hash: code.hash, analyzed });
    this.#heldBytes += heldBytesOf(analyzed);
    this.#evict();
    return analyzed;
  }

  #evict(): void {
    for (const [key, { analyzed }] of this.#byKeyedHash) {
      if (this.#heldBytes <= this.#heldBytesMax) return;
      this.#byKeyedHash.delete(key);
      this.#heldBytes -= heldBytesOf(analyzed);
    }
  }
}

const PADDING_BYTES = 33;
const ENTRIES_LEAST = 16;
/** One reference for each byte of the code. */
const PUSH_ENTRY_BYTES = 8;

function heldBytesOf({ bytes, jumpTargets, size }: AnalyzedCode): number {
  return bytes.length + jumpTargets.length + PUSH_ENTRY_BYTES * size;
}

function findJumpTargets(bytes: Uint8Array, size: number): Uint8Array {
  const targets = new Uint8Array(bytes.length);
  for (let position = 0; position < size; position++) {
    const op = bytes[position] ?? 0;
    if (op === 0x5b) targets[position] = 1;
    else if (op >= 0x60 && op <= 0x7f) position += op - 0x5f;
  }
  return targets;
}

/** JUMPI does not end a run: one that is not taken goes on. */
function findLongestRun(bytes: Uint8Array, size: number): number {
  let longest = 0;
  let run = 0;
  for (let position = 0; position < size; position++) {
    const op = bytes[position] ?? 0;
    if (ENDS_RUN[op] === 1) {
      run = 0;
      continue;
    }
    run++;
    if (run > longest) longest = run;
    if (op >= 0x60 && op <= 0x7f) position += op - 0x5f;
  }
  return longest;
}

/** STOP, JUMP, and what looks at the preemption itself: MULMOD, EXP and the cold opcodes. */
const ENDS_RUN = new Uint8Array(256);
for (const op of [0x00, 0x09, 0x0a, 0x20, 0x31, 0x37, 0x39, 0x3b, 0x3c, 0x3e, 0x3f, 0x40, 0x47]) {
  ENDS_RUN[op] = 1;
}
for (const op of [0x49, 0x54, 0x55, 0x56, 0x5c, 0x5d, 0x5e]) ENDS_RUN[op] = 1;
// LOG0 and all above: logs, calls, creations, ends, and opcodes that are none.
ENDS_RUN.fill(1, 0xa0);
