/**
 * How the interpreter's loop and its opcodes tell the driver what happened. Plain numbers: they are
 * compared on the hot path. Everything from `OUT_OF_GAS` on is a failure that burns the frame's gas.
 */
import { invariant } from "../base/invariant.ts";
import type { FailureReason } from "./message.ts";

export const CONTINUE = 0;
export const RETURNED = 1;
export const REVERTED = 2;
/** A child frame was pushed: run it, then come back to this frame. */
export const ENTERED = 3;
/** The stop flag was up. */
export const STOPPED = 4;

export const OUT_OF_GAS = 16;
export const STACK_UNDERFLOW = 17;
export const STACK_OVERFLOW = 18;
export const INVALID_OPCODE = 19;
export const INVALID_JUMP = 20;
export const STATIC_VIOLATION = 21;
export const RETURN_DATA_OUT_OF_BOUNDS = 22;
export const INIT_CODE_TOO_LARGE = 23;
export const CODE_TOO_LARGE = 24;
export const CODE_STARTS_WITH_EF = 25;
export const CREATE_COLLISION = 26;
export const PRECOMPILE_FAILED = 27;
export const INSUFFICIENT_BALANCE = 28;
export const CALL_TOO_DEEP = 29;
export const NONCE_TOO_HIGH = 30;

export type Signal = number;

export function isFailure(signal: Signal): boolean {
  return signal >= OUT_OF_GAS;
}

export function failureReason(signal: Signal): FailureReason {
  const reason = REASONS[signal - OUT_OF_GAS];
  invariant(reason !== undefined, `signal ${signal} is no failure`);
  return reason;
}

/** In the order of the numbers above. */
const REASONS: readonly FailureReason[] = [
  "OUT_OF_GAS",
  "STACK_UNDERFLOW",
  "STACK_OVERFLOW",
  "INVALID_OPCODE",
  "INVALID_JUMP",
  "STATIC_VIOLATION",
  "RETURN_DATA_OUT_OF_BOUNDS",
  "INIT_CODE_TOO_LARGE",
  "CODE_TOO_LARGE",
  "CODE_STARTS_WITH_EF",
  "CREATE_COLLISION",
  "PRECOMPILE_FAILED",
  "INSUFFICIENT_BALANCE",
  "CALL_TOO_DEEP",
  "NONCE_TOO_HIGH",
];
