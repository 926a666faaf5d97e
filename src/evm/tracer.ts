/**
 * Hooks into an execution. Without a tracer the interpreter pays one never-taken branch per step
 * and the driver one per frame. A tracer only looks: nothing that it is given may be kept or
 * changed, except strings and numbers; copy what must last.
 *
 * Order per frame: onEnter, then for each opcode onStep, whatever frames it enters, and one of
 * onStepEnd or onFault; then onExit. For an opcode that enters a frame, onStepEnd comes before
 * that frame's onEnter. A frame that cannot start (too deep, balance too low, address taken)
 * has onEnter and onExit, too, and so have a precompile, an account without code and SELFDESTRUCT.
 */
import type { FailureReason } from "./message.ts";

export type Tracer = {
  onEnter?(entry: FrameEntry): void;
  /** Before the opcode at `step.pc` runs and before any of its gas is charged. */
  onStep?(step: Step): void;
  /** After it ran: the gas it took, including what it handed to a child (without the stipend). */
  onStepEnd?(cost: number): void;
  /** Instead of `onStepEnd`, if the opcode failed its frame. */
  onFault?(fault: Fault): void;
  onExit?(exit: FrameExit): void;
};

export type FrameKind =
  "CALL" | "CALLCODE" | "DELEGATECALL" | "STATICCALL" | "CREATE" | "CREATE2" | "SELFDESTRUCT";

export type FrameEntry = {
  readonly kind: FrameKind;
  /** 0 for the frame that the transaction starts. */
  readonly depth: number;
  /** The account that acts: for SELFDESTRUCT the one that ends. */
  readonly caller: bigint;
  /** Whose code runs: the callee, the new contract, or the beneficiary of SELFDESTRUCT. */
  readonly to: bigint;
  readonly value: bigint;
  readonly input: Uint8Array;
  readonly gas: number;
  readonly isPrecompile: boolean;
};

/** An opcode that failed its frame. */
export type Fault = {
  readonly reason: FailureReason;
  readonly op: number;
  /** Items on the stack before the opcode; only where the stack was at fault. */
  readonly stackSize: number;
  /** The gas it costs, as far as that was found out: more than was left where gas ran out. */
  readonly cost: number;
};

export type FrameExit = {
  readonly depth: number;
  readonly status: "success" | "revert" | "failure" | "stopped";
  readonly reason: FailureReason | undefined;
  readonly gasUsed: number;
  readonly output: Uint8Array;
};

export type Step = {
  readonly pc: number;
  readonly op: number;
  /** Before the opcode. */
  readonly gas: number;
  readonly depth: number;
  /** The account whose storage the code sees. */
  readonly address: bigint;
  /** The item at `index` from the top, 0 being the top; undefined below the bottom. */
  peek(index: number): bigint | undefined;
  /** A copy, the bottom first. */
  stack(): bigint[];
  /** A view of the frame's memory, as long as MSIZE says. */
  memory(): Uint8Array;
  /** What the last call returned, as RETURNDATACOPY sees it. */
  returnData(): Uint8Array;
  /** The transaction's refund counter. */
  refund(): number;
};
