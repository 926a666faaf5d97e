/** Ending frames: what is undone, what gas is left, and what the parent gets to see. */
import { EMPTY_BYTES, type Frame } from "./frame.ts";
import type { Machine } from "./machine.ts";
import * as signal from "./signal.ts";
import { endLastStep, traceExit } from "./step-trace.ts";

/** EIP-170. */
export const CODE_BYTES_MAX = 24_576;
const CODE_DEPOSIT_GAS_PER_BYTE = 200;

/** Takes the frame off the stack of frames; the outcome may turn into a failure on the way. */
export function leaveFrame(frame: Frame, machine: Machine, ended: signal.Signal): signal.Signal {
  if (machine.tracer !== undefined) endLastStep(frame, machine, ended);
  const isDeposit = ended === signal.RETURNED && isCreation(frame);
  const outcome = isDeposit ? depositCode(frame, machine) : ended;
  if (outcome !== signal.RETURNED) machine.world.revertTo(frame.snapshot);
  const hasFailed = signal.isFailure(outcome);
  machine.settledGas = hasFailed ? 0 : frame.gas;
  machine.settledOutput = hasFailed ? EMPTY_BYTES : frame.output;
  if (machine.tracer !== undefined) traceExit(machine, frame.depth, frame.gasGiven, outcome);
  machine.popFrame();
  return outcome;
}

/** Shows the parent how its child ended. */
export function resumeParent(
  parent: Frame,
  child: Frame,
  machine: Machine,
  outcome: signal.Signal,
): void {
  if (isCreation(child)) settleCreate(parent, machine, outcome, child.address);
  else settleCall(parent, machine, outcome, child.outputOffset, child.outputSize);
}

/** Pushes 1 or 0; the output goes to memory as far as it fits, and to the return data in full. */
export function settleCall(
  parent: Frame,
  machine: Machine,
  outcome: signal.Signal,
  outputOffset: number,
  outputSize: number,
): void {
  const output = machine.settledOutput;
  parent.gas += machine.settledGas;
  parent.returnData = output;
  parent.stack[parent.stackSize++] = outcome === signal.RETURNED ? 1n : 0n;
  const size = Math.min(output.length, outputSize);
  if (size === 0) return;
  const fitting = size === output.length ? output : output.subarray(0, size);
  machine.memory.bytes.set(fitting, parent.memoryBase + outputOffset);
}

/** Pushes the address or 0. A creation leaves return data only if it reverted. */
export function settleCreate(
  parent: Frame,
  machine: Machine,
  outcome: signal.Signal,
  address: bigint,
): void {
  parent.gas += machine.settledGas;
  parent.returnData = outcome === signal.REVERTED ? machine.settledOutput : EMPTY_BYTES;
  parent.stack[parent.stackSize++] = outcome === signal.RETURNED ? address : 0n;
}

function isCreation(frame: Frame): boolean {
  return frame.kind === "CREATE" || frame.kind === "CREATE2";
}

function depositCode(frame: Frame, machine: Machine): signal.Signal {
  const code = frame.output;
  if (code.length > CODE_BYTES_MAX) return signal.CODE_TOO_LARGE;
  if (code[0] === 0xef) return signal.CODE_STARTS_WITH_EF;
  frame.gas -= CODE_DEPOSIT_GAS_PER_BYTE * code.length;
  if (frame.gas < 0) return signal.OUT_OF_GAS;
  if (code.length > 0) machine.world.setCode(frame.address, code);
  return signal.RETURNED;
}
