/** SLOAD, SSTORE, TLOAD and TSTORE: EIP-2200, EIP-2929, EIP-3529, EIP-1153. */
import type { Frame } from "../frame.ts";
import type { Machine } from "../machine.ts";
import { CONTINUE, OUT_OF_GAS, type Signal, STATIC_VIOLATION } from "../signal.ts";

const WARM_GAS = 100;
const COLD_SLOT_GAS = 2100;
const SET_GAS = 20_000;
/** 5000 for a change, less the cold access that is charged apart. */
const RESET_GAS = 2900;
/** SSTORE fails with this much gas or less, so that a stipend can never pay for one. */
const SSTORE_SENTRY_GAS = 2300;
const CLEAR_REFUND = 4800;

export function sload(frame: Frame, machine: Machine): Signal {
  const { stack, stackSize, address } = frame;
  const slot = stack[stackSize - 1] ?? 0n;
  frame.gas -= machine.world.warmSlot(address, slot) ? WARM_GAS : COLD_SLOT_GAS;
  if (frame.gas < 0) return OUT_OF_GAS;
  stack[stackSize - 1] = machine.world.storage(address, slot);
  return CONTINUE;
}

export function sstore(frame: Frame, machine: Machine): Signal {
  if (frame.isStatic) return STATIC_VIOLATION;
  if (frame.gas <= SSTORE_SENTRY_GAS) return OUT_OF_GAS;
  const { world } = machine;
  const { stack, address } = frame;
  const slot = stack[--frame.stackSize] ?? 0n;
  const value = stack[--frame.stackSize] ?? 0n;
  if (!world.warmSlot(address, slot)) frame.gas -= COLD_SLOT_GAS;
  const current = world.storage(address, slot);
  if (value === current) {
    frame.gas -= WARM_GAS;
    return frame.gas < 0 ? OUT_OF_GAS : CONTINUE;
  }
  const original = world.originalStorage(address, slot);
  frame.gas -= original !== current ? WARM_GAS : original === 0n ? SET_GAS : RESET_GAS;
  if (frame.gas < 0) return OUT_OF_GAS;
  const refund = refundOf(original, current, value);
  if (refund !== 0) world.addRefund(refund);
  world.setStorage(address, slot, value);
  return CONTINUE;
}

export function tload(frame: Frame, machine: Machine): Signal {
  const { stack, stackSize } = frame;
  stack[stackSize - 1] = machine.world.transient(frame.address, stack[stackSize - 1] ?? 0n);
  return CONTINUE;
}

export function tstore(frame: Frame, machine: Machine): Signal {
  if (frame.isStatic) return STATIC_VIOLATION;
  const slot = frame.stack[--frame.stackSize] ?? 0n;
  const value = frame.stack[--frame.stackSize] ?? 0n;
  machine.world.setTransient(frame.address, slot, value);
  return CONTINUE;
}

/** The change of the refund counter by a store that changes the slot: negative takes it back. */
function refundOf(original: bigint, current: bigint, value: bigint): number {
  if (original === current) return original !== 0n && value === 0n ? CLEAR_REFUND : 0;
  let refund = 0;
  if (original !== 0n) {
    if (current === 0n) refund -= CLEAR_REFUND;
    else if (value === 0n) refund += CLEAR_REFUND;
  }
  if (original === value) refund += (original === 0n ? SET_GAS : RESET_GAS) - WARM_GAS;
  return refund;
}
