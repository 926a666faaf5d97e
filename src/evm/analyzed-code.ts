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

  constructor(code: Uint8Array) {
    this.size = code.length;
    this.bytes = new Uint8Array(code.length + PADDING_BYTES);
    this.bytes.set(code);
    this.jumpTargets = findJumpTargets(this.bytes, this.size);
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
 * The analyses of deployed code. The oldest go first. They are found by a keyed hash of the code
 * hash: code can be made whose hash the engine's own Map would chain to others.
 */
export class AnalyzedCodeCache {
  readonly #byKeyedHash = new Map<number, CachedAnalysis>();
  readonly #codeBytesMax: number;
  #codeBytes = 0;

  constructor(codeBytesMax: number) {
    this.#codeBytesMax = codeBytesMax;
  }

  analyze(code: Code): AnalyzedCode {
    const key = keyedWordHash(code.hash);
    const known = this.#byKeyedHash.get(key);
    if (known?.hash === code.hash) return known.analyzed;
    // Two codes at one key take turns.
    if (known !== undefined) this.#codeBytes -= known.analyzed.bytes.length;
    const analyzed = new AnalyzedCode(code.bytes);
    this.#byKeyedHash.set(key, { hash: code.hash, analyzed });
    this.#codeBytes += analyzed.bytes.length;
    this.#evict();
    return analyzed;
  }

  #evict(): void {
    for (const [key, { analyzed }] of this.#byKeyedHash) {
      if (this.#codeBytes <= this.#codeBytesMax) return;
      this.#byKeyedHash.delete(key);
      this.#codeBytes -= analyzed.bytes.length;
    }
  }
}

const PADDING_BYTES = 33;

function findJumpTargets(bytes: Uint8Array, size: number): Uint8Array {
  const targets = new Uint8Array(bytes.length);
  for (let position = 0; position < size; position++) {
    const op = bytes[position] ?? 0;
    if (op === 0x5b) targets[position] = 1;
    else if (op >= 0x60 && op <= 0x7f) position += op - 0x5f;
  }
  return targets;
}
