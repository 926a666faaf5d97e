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

/** The analyses of deployed code, by code hash. The oldest go first. */
export class AnalyzedCodeCache {
  readonly #byHash = new Map<bigint, AnalyzedCode>();
  readonly #codeBytesMax: number;
  #codeBytes = 0;

  constructor(codeBytesMax: number) {
    this.#codeBytesMax = codeBytesMax;
  }

  analyze(code: Code): AnalyzedCode {
    const known = this.#byHash.get(code.hash);
    if (known !== undefined) return known;
    const analyzed = new AnalyzedCode(code.bytes);
    this.#byHash.set(code.hash, analyzed);
    this.#codeBytes += analyzed.bytes.length;
    this.#evict();
    return analyzed;
  }

  #evict(): void {
    for (const [hash, analyzed] of this.#byHash) {
      if (this.#codeBytes <= this.#codeBytesMax) return;
      this.#byHash.delete(hash);
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
