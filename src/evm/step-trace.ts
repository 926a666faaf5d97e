/** Calls the tracer's hooks. Only reached when there is a tracer. */
import type { Frame } from "./frame.ts";
import { viewMemory } from "./frame-memory.ts";
import type { Machine } from "./machine.ts";
import { STATIC_GAS } from "./opcodes/opcode-table.ts";
import { failureReason, isFailure, REVERTED, type Signal, STOPPED } from "./signal.ts";
import type { FrameEntry, Step } from "./tracer.ts";

/** Ends the step before, if it is still open, and begins the one at `frame.pc`. */
export function traceStep(frame: Frame, machine: Machine, op: number): void {
  endStep(machine, frame.gas);
  machine.gasBeforeStep = frame.gas;
  machine.tracer?.onStep?.(stepOf(frame, machine, op));
}

export function endStep(machine: Machine, gasAfter: number): void {
  const before = machine.gasBeforeStep;
  if (before < 0) return;
  machine.gasBeforeStep = -1;
  machine.tracer?.onStepEnd?.(before - gasAfter);
}

/** The last step of a frame: it ended the frame in one way or the other. */
export function endLastStep(frame: Frame, machine: Machine, outcome: Signal): void {
  if (!isFailure(outcome)) {
    endStep(machine, frame.gas);
    return;
  }
  const before = machine.gasBeforeStep;
  machine.gasBeforeStep = -1;
  const op = frame.code.bytes[frame.pc] ?? 0;
  machine.tracer?.onFault?.({
    reason: failureReason(outcome),
    op,
    stackSize: frame.stackSize,
    cost: costOf(op, before - frame.gas),
  });
}

/**
 * The loop counts gas itself and notes in the frame only what depends on operands: a cost below the
 * constant part means that nothing was noted. Memory beyond all bounds has no finite price.
 */
function costOf(op: number, noted: number): number {
  const constant = STATIC_GAS[op] ?? 0;
  return Number.isFinite(noted) ? Math.max(noted, constant) : constant;
}

export function traceEnter(machine: Machine, parent: Frame | undefined, entry: FrameEntry): void {
  if (parent !== undefined) endStep(machine, parent.gas);
  machine.tracer?.onEnter?.(entry);
}

export function traceExit(
  machine: Machine,
  depth: number,
  gasGiven: number,
  outcome: Signal,
): void {
  machine.tracer?.onExit?.({
    depth,
    status: stepStatusOf(outcome),
    reason: isFailure(outcome) ? failureReason(outcome) : undefined,
    gasUsed: gasGiven - machine.settledGas,
    output: machine.settledOutput,
  });
}

export function stepStatusOf(outcome: Signal): "success" | "revert" | "failure" | "stopped" {
  if (isFailure(outcome)) return "failure";
  if (outcome === STOPPED) return "stopped";
  return outcome === REVERTED ? "revert" : "success";
}

function stepOf(frame: Frame, machine: Machine, op: number): Step {
  const { stack, stackSize } = frame;
  return {
    pc: frame.pc,
    op,
    gas: frame.gas,
    depth: frame.depth,
    address: frame.address,
    peek: (index) => (index < stackSize ? stack[stackSize - 1 - index] : undefined),
    stack: () => stack.slice(0, stackSize),
    memory: () => viewMemory(frame, machine.memory, 0, frame.memorySize),
    returnData: () => frame.returnData,
    refund: () => machine.world.refund(),
  };
}
