/** CALL, CALLCODE, DELEGATECALL and STATICCALL: what they cost and whom they call. */
import { accountAccessGas, delegateOf } from "../account-access.ts";
import type { Frame } from "../frame.ts";
import { enterCall } from "../frame-entry.ts";
import { settleCall } from "../frame-exit.ts";
import { coverMemory, viewMemory } from "../frame-memory.ts";
import { EMPTY_BYTES } from "../frame.ts";
import type { Machine } from "../machine.ts";
import * as signal from "../signal.ts";
import { ADDRESS_MASK } from "../word.ts";

const VALUE_GAS = 9000;
const NEW_ACCOUNT_GAS = 25_000;
/** Given to a callee that receives value, on top of what the caller pays: enough to log. */
const STIPEND_GAS = 2300;

export type CallKind = "CALL" | "CALLCODE" | "DELEGATECALL" | "STATICCALL";

export function callOpcode(frame: Frame, machine: Machine, kind: CallKind): signal.Signal {
  const { stack } = frame;
  const { memory, world } = machine;
  const requestedGas = Number(stack[--frame.stackSize]);
  const to = (stack[--frame.stackSize] ?? 0n) & ADDRESS_MASK;
  const isValueOwn = kind === "CALL" || kind === "CALLCODE";
  const ownValue = isValueOwn ? (stack[--frame.stackSize] ?? 0n) : 0n;
  const inputOffset = Number(stack[--frame.stackSize]);
  const inputSize = Number(stack[--frame.stackSize]);
  const outputOffset = Number(stack[--frame.stackSize]);
  const outputSize = Number(stack[--frame.stackSize]);

  if (kind === "CALL" && ownValue !== 0n && frame.isStatic) return signal.STATIC_VIOLATION;
  if (!coverMemory(frame, memory, inputOffset, inputSize)) return signal.OUT_OF_GAS;
  if (!coverMemory(frame, memory, outputOffset, outputSize)) return signal.OUT_OF_GAS;
  frame.gas -= accountAccessGas(machine, to);
  if (ownValue !== 0n) {
    frame.gas -= VALUE_GAS;
    if (kind === "CALL" && world.isEmpty(to)) frame.gas -= NEW_ACCOUNT_GAS;
  }
  if (frame.gas < 0) return signal.OUT_OF_GAS;
  let code = world.code(to);
  const delegate = machine.rules.hasDelegation ? delegateOf(code) : undefined;
  if (delegate !== undefined) {
    frame.gas -= accountAccessGas(machine, delegate);
    if (frame.gas < 0) return signal.OUT_OF_GAS;
    code = world.code(delegate);
  }
  const handedGas = Math.min(requestedGas, allButOne64th(frame.gas));
  frame.gas -= handedGas;
  frame.returnData = EMPTY_BYTES;

  const isOwnAccount = kind === "CALLCODE" || kind === "DELEGATECALL";
  const outcome = enterCall(machine, frame, {
    kind,
    caller: kind === "DELEGATECALL" ? frame.caller : frame.address,
    address: isOwnAccount ? frame.address : to,
    to,
    code,
    value: kind === "DELEGATECALL" ? frame.value : ownValue,
    isValueOwn,
    data: viewMemory(frame, memory, inputOffset, inputSize),
    gas: ownValue === 0n ? handedGas : handedGas + STIPEND_GAS,
    isStatic: frame.isStatic || kind === "STATICCALL",
    outputOffset,
    outputSize,
  });
  if (outcome === signal.ENTERED) {
    frame.pc++;
    return signal.ENTERED;
  }
  if (outcome === signal.STOPPED) return signal.STOPPED;
  settleCall(frame, machine, outcome, outputOffset, outputSize);
  return signal.CONTINUE;
}

/** EIP-150: a 64th stays with the caller. */
export function allButOne64th(gas: number): number {
  return gas - Math.floor(gas / 64);
}
