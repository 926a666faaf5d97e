import type { Step } from "../evm/tracer.ts";
import { ADDRESS_MASK } from "../evm/word.ts";

/** An account that an opcode is about to look at or change; with a slot: that slot of it. */
export type TouchedByStep = { readonly address: bigint; readonly slot?: bigint };

/**
 * What the operands of the opcode name; undefined if they name nothing, or if the stack is too
 * short to hold it: then the opcode fails before it reaches the state. What CREATE makes is not
 * here: its address is no operand.
 */
export function touchedByStep(step: Step): TouchedByStep | undefined {
  switch (step.op) {
    case 0x54: // SLOAD
    case 0x55: // SSTORE
      return slotOf(step);
    case 0x31: // BALANCE
    case 0x3b: // EXTCODESIZE
    case 0x3c: // EXTCODECOPY
    case 0x3f: // EXTCODEHASH
    case 0xff: // SELFDESTRUCT
      return accountAt(step, 0);
    case 0xf1: // CALL
    case 0xf2: // CALLCODE
    case 0xf4: // DELEGATECALL
    case 0xfa: // STATICCALL
      return accountAt(step, 1);
    default:
      return undefined;
  }
}

function slotOf(step: Step): TouchedByStep | undefined {
  const slot = step.peek(0);
  return slot === undefined ? undefined : { address: step.address, slot };
}

function accountAt(step: Step, index: number): TouchedByStep | undefined {
  const word = step.peek(index);
  return word === undefined ? undefined : { address: word & ADDRESS_MASK };
}
