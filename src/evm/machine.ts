import type { AnalyzedCodeCache } from "./analyzed-code.ts";
import type { ForkRules } from "./fork.ts";
import { EMPTY_BYTES, Frame } from "./frame.ts";
import { Memory } from "./memory.ts";
import type { BlockContext, TransactionContext } from "./message.ts";
import type { Precompile } from "./precompile.ts";
import type { Tracer } from "./tracer.ts";
import type { WorldState } from "./world-state.ts";

/** What all frames of an execution share. It lasts as long as its Evm; contexts change. */
export class Machine {
  readonly rules: ForkRules;
  readonly chainId: bigint;
  readonly world: WorldState;
  readonly precompiles: ReadonlyMap<bigint, Precompile>;
  readonly codes: AnalyzedCodeCache;
  readonly shouldStop: () => boolean;
  readonly isPreempted: () => boolean;
  readonly bulkBytesMax: number;
  readonly runMax: number;
  readonly memory = new Memory();
  block: BlockContext = NO_BLOCK;
  tx: TransactionContext = NO_TRANSACTION;
  tracer: Tracer | undefined = undefined;
  /** For the tracer: the gas before the opcode that is being executed, or -1 between opcodes. */
  gasBeforeStep = -1;
  /** How the call or creation that ended last ended: the gas it gives back and its output. */
  settledGas = 0;
  settledOutput: Uint8Array = EMPTY_BYTES;
  /** Of the execution so far: see slow-work.ts. */
  slowGas = 0;
  readonly #frames: Frame[] = [];
  #frameCount = 0;

  constructor(parts: MachineParts) {
    this.rules = parts.rules;
    this.chainId = parts.chainId;
    this.world = parts.world;
    this.precompiles = parts.precompiles;
    this.codes = parts.codes;
    this.shouldStop = parts.shouldStop;
    this.isPreempted = parts.isPreempted;
    this.bulkBytesMax = parts.bulkBytesMax;
    this.runMax = parts.runMax;
  }

  /** The innermost frame, if any is running. */
  get top(): Frame | undefined {
    return this.#frames[this.#frameCount - 1];
  }

  /** A frame for one more level, its memory after that of its parent. */
  pushFrame(parent: Frame | undefined): Frame {
    const depth = this.#frameCount;
    const frame = this.#frames[depth] ?? new Frame(depth);
    this.#frames[depth] = frame;
    this.#frameCount = depth + 1;
    frame.pc = 0;
    frame.stackSize = 0;
    frame.memoryBase = parent === undefined ? 0 : parent.memoryBase + parent.memorySize;
    frame.memorySize = 0;
    frame.dataView = undefined;
    return frame;
  }

  popFrame(): void {
    this.#frameCount--;
  }

  /** Forgets the frames of an execution that was cut short, and large memory. */
  reset(): void {
    this.#frameCount = 0;
    this.gasBeforeStep = -1;
    this.slowGas = 0;
    this.memory.release();
  }
}

export type MachineParts = {
  readonly rules: ForkRules;
  readonly chainId: bigint;
  readonly world: WorldState;
  readonly precompiles: ReadonlyMap<bigint, Precompile>;
  readonly codes: AnalyzedCodeCache;
  readonly shouldStop: () => boolean;
  readonly isPreempted: () => boolean;
  readonly bulkBytesMax: number;
  readonly runMax: number;
};

const NO_BLOCK: BlockContext = {
  number: 0n,
  timestamp: 0n,
  coinbase: 0n,
  gasLimit: 0n,
  baseFee: 0n,
  blobBaseFee: 0n,
  prevRandao: 0n,
  blockHash: () => 0n,
};

const NO_TRANSACTION: TransactionContext = { origin: 0n, gasPrice: 0n, blobHashes: [] };
