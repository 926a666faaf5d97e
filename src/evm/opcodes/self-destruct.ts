import { COLD_ACCOUNT_GAS } from "../account-access.ts";
import { EMPTY_BYTES, type Frame } from "../frame.ts";
import type { Machine } from "../machine.ts";
import { OUT_OF_GAS, RETURNED, type Signal, STATIC_VIOLATION } from "../signal.ts";
import { traceEnter, traceExit } from "../step-trace.ts";
import { ADDRESS_MASK } from "../word.ts";

const NEW_ACCOUNT_GAS = 25_000;

/**
 * SELFDESTRUCT (EIP-6780): the balance moves to the beneficiary; the account itself goes only if
 * it was created in this transaction. Then what it leaves to itself is burnt.
 */
export function selfDestruct(frame: Frame, machine: Machine): Signal {
  if (frame.isStatic) return STATIC_VIOLATION;
  const { world } = machine;
  const { address } = frame;
  const beneficiary = (frame.stack[--frame.stackSize] ?? 0n) & ADDRESS_MASK;
  const balance = world.balance(address);
  if (!world.warmAddress(beneficiary)) frame.gas -= COLD_ACCOUNT_GAS;
  if (balance !== 0n && world.isEmpty(beneficiary)) frame.gas -= NEW_ACCOUNT_GAS;
  if (frame.gas < 0) return OUT_OF_GAS;

  const isCreated = world.isCreated(address);
  if (beneficiary !== address) {
    if (balance !== 0n) {
      world.setBalance(address, 0n);
      world.setBalance(beneficiary, world.balance(beneficiary) + balance);
    } else {
      world.touch(beneficiary);
    }
  } else if (isCreated) {
    world.setBalance(address, 0n);
  }
  if (isCreated) world.selfDestruct(address);
  if (machine.tracer !== undefined) traceSelfDestruct(frame, machine, beneficiary, balance);
  frame.output = EMPTY_BYTES;
  return RETURNED;
}

function traceSelfDestruct(
  frame: Frame,
  machine: Machine,
  beneficiary: bigint,
  balance: bigint,
): void {
  const depth = frame.depth + 1;
  traceEnter(machine, frame, {
    kind: "SELFDESTRUCT",
    depth,
    caller: frame.address,
    to: beneficiary,
    value: balance,
    input: EMPTY_BYTES,
    gas: 0,
    isPrecompile: false,
  });
  machine.settledGas = 0;
  machine.settledOutput = EMPTY_BYTES;
  traceExit(machine, depth, 0, RETURNED);
}
