/**
 * Starting calls and creations, from an opcode or from outside. Each function returns ENTERED after
 * it pushed a frame, or how the thing ended at once, with `machine.settledGas` and
 * `machine.settledOutput` set: an account without code, a precompile, a start that is refused.
 */
import { EMPTY_BYTES, type Frame } from "./frame.ts";
import { AnalyzedCode } from "./analyzed-code.ts";
import type { Machine } from "./machine.ts";
import type { Precompile } from "./precompile.ts";
import * as signal from "./signal.ts";
import { traceEnter, traceExit } from "./step-trace.ts";
import type { FrameKind } from "./tracer.ts";
import type { Code } from "./world-state.ts";

export const CALL_DEPTH_MAX = 1024;
/** EIP-2681: an account that has used this nonce can create no more. */
export const NONCE_MAX = (1n << 64n) - 1n;

export type FrameCall = {
  readonly kind: FrameKind;
  readonly caller: bigint;
  /** The account that executes. */
  readonly address: bigint;
  /** The account that was called: its code, or that of its delegate, runs. */
  readonly to: bigint;
  /** What runs. */
  readonly code: Code;
  readonly value: bigint;
  /** DELEGATECALL only shows its parent's value; CALL and CALLCODE must own what they show. */
  readonly isValueOwn: boolean;
  readonly data: Uint8Array;
  readonly gas: number;
  readonly isStatic: boolean;
  readonly outputOffset: number;
  readonly outputSize: number;
};

export type FrameCreate = {
  readonly kind: "CREATE" | "CREATE2";
  readonly caller: bigint;
  readonly address: bigint;
  readonly value: bigint;
  readonly initCode: Uint8Array;
  readonly gas: number;
};

export function enterCall(
  machine: Machine,
  parent: Frame | undefined,
  request: FrameCall,
): signal.Signal {
  const precompile = machine.precompiles.get(request.to);
  const depth = parent === undefined ? 0 : parent.depth + 1;
  if (machine.tracer !== undefined) {
    const { kind, caller, to, value, data: input, gas } = request;
    const isPrecompile = precompile !== undefined;
    traceEnter(machine, parent, { kind, depth, caller, to, value, input, gas, isPrecompile });
  }
  const outcome = startCall(machine, parent, request, precompile);
  if (outcome !== signal.ENTERED && machine.tracer !== undefined) {
    traceExit(machine, depth, request.gas, outcome);
  }
  return outcome;
}

export function enterCreate(
  machine: Machine,
  parent: Frame | undefined,
  request: FrameCreate,
): signal.Signal {
  const depth = parent === undefined ? 0 : parent.depth + 1;
  if (machine.tracer !== undefined) {
    const { kind, caller, address: to, value, initCode: input, gas } = request;
    traceEnter(machine, parent, {
      kind,
      depth,
      caller,
      to,
      value,
      input,
      gas,
      isPrecompile: false,
    });
  }
  const outcome = startCreate(machine, parent, request);
  if (outcome !== signal.ENTERED && machine.tracer !== undefined) {
    traceExit(machine, depth, request.gas, outcome);
  }
  return outcome;
}

function startCall(
  machine: Machine,
  parent: Frame | undefined,
  request: FrameCall,
  precompile: Precompile | undefined,
): signal.Signal {
  const { world } = machine;
  const { caller, address, value, gas } = request;
  const isTransfer = request.isValueOwn && value !== 0n;
  if (parent !== undefined && parent.depth >= CALL_DEPTH_MAX) {
    return settle(machine, signal.CALL_TOO_DEEP, gas, EMPTY_BYTES);
  }
  if (isTransfer && world.balance(caller) < value) {
    return settle(machine, signal.INSUFFICIENT_BALANCE, gas, EMPTY_BYTES);
  }
  const snapshot = world.snapshot();
  if (isTransfer) transfer(machine, caller, address, value);
  else if (request.code.bytes.length === 0) world.touch(address);
  if (precompile !== undefined) return runPrecompile(machine, precompile, request, snapshot);
  if (request.code.bytes.length === 0) return settle(machine, signal.RETURNED, gas, EMPTY_BYTES);

  const code = machine.codes.analyze(request.code);
  if (isRunTooLong(machine, code)) return signal.STOPPED;
  const frame = machine.pushFrame(parent);
  frame.code = code;
  frame.kind = request.kind;
  frame.address = address;
  frame.caller = caller;
  frame.value = value;
  frame.data = request.data;
  frame.isStatic = request.isStatic;
  frame.gas = gas;
  frame.gasGiven = gas;
  frame.returnData = EMPTY_BYTES;
  frame.snapshot = snapshot;
  frame.outputOffset = request.outputOffset;
  frame.outputSize = request.outputSize;
  return signal.ENTERED;
}

/** EIP-7610: an address with code, a nonce or storage is taken, and the gas is lost. */
function startCreate(
  machine: Machine,
  parent: Frame | undefined,
  request: FrameCreate,
): signal.Signal {
  const { world } = machine;
  const { caller, address, value, gas } = request;
  const isTaken =
    world.nonce(address) !== 0n ||
    world.code(address).bytes.length !== 0 ||
    world.hasStorage(address);
  if (isTaken) return settle(machine, signal.CREATE_COLLISION, 0, EMPTY_BYTES);
  const snapshot = world.snapshot();
  world.markCreated(address);
  world.setNonce(address, 1n);
  if (value !== 0n) transfer(machine, caller, address, value);

  const code = new AnalyzedCode(request.initCode);
  if (isRunTooLong(machine, code)) return signal.STOPPED;
  const frame = machine.pushFrame(parent);
  frame.code = code;
  frame.kind = request.kind;
  frame.address = address;
  frame.caller = caller;
  frame.value = value;
  frame.data = EMPTY_BYTES;
  frame.isStatic = false;
  frame.gas = gas;
  frame.gasGiven = gas;
  frame.returnData = EMPTY_BYTES;
  frame.snapshot = snapshot;
  frame.outputOffset = 0;
  frame.outputSize = 0;
  return signal.ENTERED;
}

/** Blocks have no bound, and then the code is not looked at. */
function isRunTooLong({ runMax }: Machine, code: AnalyzedCode): boolean {
  return code.size > runMax && code.longestRun > runMax;
}

function runPrecompile(
  machine: Machine,
  precompile: Precompile,
  request: FrameCall,
  snapshot: number,
): signal.Signal {
  const gasLeft = request.gas - precompile.gasCost(request.data);
  if (gasLeft >= 0) {
    if (request.data.length > machine.bulkBytesMax) return signal.STOPPED;
    const output = precompile.run(request.data);
    if (output !== undefined) return settle(machine, signal.RETURNED, gasLeft, output);
  }
  machine.world.revertTo(snapshot);
  const reason = gasLeft < 0 ? signal.OUT_OF_GAS : signal.PRECOMPILE_FAILED;
  return settle(machine, reason, 0, EMPTY_BYTES);
}

/** The second balance is read after the first is written: to oneself it changes nothing. */
function transfer(machine: Machine, from: bigint, to: bigint, value: bigint): void {
  const { world } = machine;
  world.setBalance(from, world.balance(from) - value);
  world.setBalance(to, world.balance(to) + value);
}

function settle(
  machine: Machine,
  outcome: signal.Signal,
  gasLeft: number,
  output: Uint8Array,
): signal.Signal {
  machine.settledGas = gasLeft;
  machine.settledOutput = output;
  return outcome;
}
