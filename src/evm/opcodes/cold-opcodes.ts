/** The opcodes outside the interpreter's hot loop. The frame's fields are up to date in here. */
import { callOpcode } from "./call-opcodes.ts";
import { createOpcode } from "./create-opcodes.ts";
import * as data from "./data-opcodes.ts";
import * as environment from "./environment-opcodes.ts";
import type { Frame } from "../frame.ts";
import type { Machine } from "../machine.ts";
import { selfDestruct } from "./self-destruct.ts";
import { CONTINUE, INVALID_OPCODE, RETURNED, REVERTED, type Signal } from "../signal.ts";
import * as storage from "./storage-opcodes.ts";

/** `frame.gas` has paid the opcode's constant gas and the stack holds what it needs. */
export function executeColdOpcode(op: number, frame: Frame, machine: Machine): Signal {
  switch (op) {
    case 0x20:
      return data.keccak(frame, machine);
    case 0x31:
      return environment.balance(frame, machine);
    case 0x37:
      return data.callDataCopy(frame, machine);
    case 0x39:
      return data.codeCopy(frame, machine);
    case 0x3b:
      return environment.extCodeSize(frame, machine);
    case 0x3c:
      return data.extCodeCopy(frame, machine);
    case 0x3e:
      return data.returnDataCopy(frame, machine);
    case 0x3f:
      return environment.extCodeHash(frame, machine);
    case 0x40:
      return environment.blockHash(frame, machine);
    case 0x47: // SELFBALANCE
      return push(frame, machine.world.balance(frame.address));
    case 0x49:
      return environment.blobHash(frame, machine);
    case 0x54:
      return storage.sload(frame, machine);
    case 0x55:
      return storage.sstore(frame, machine);
    case 0x5c:
      return storage.tload(frame, machine);
    case 0x5d:
      return storage.tstore(frame, machine);
    case 0x5e:
      return data.memoryCopy(frame, machine);
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa3:
    case 0xa4:
      return data.log(frame, machine, op - 0xa0);
    case 0xf0:
      return createOpcode(frame, machine, "CREATE");
    case 0xf1:
      return callOpcode(frame, machine, "CALL");
    case 0xf2:
      return callOpcode(frame, machine, "CALLCODE");
    case 0xf3:
      return data.end(frame, machine, RETURNED);
    case 0xf4:
      return callOpcode(frame, machine, "DELEGATECALL");
    case 0xf5:
      return createOpcode(frame, machine, "CREATE2");
    case 0xfa:
      return callOpcode(frame, machine, "STATICCALL");
    case 0xfd:
      return data.end(frame, machine, REVERTED);
    case 0xff:
      return selfDestruct(frame, machine);
    default:
      return INVALID_OPCODE;
  }
}

function push(frame: Frame, word: bigint): Signal {
  frame.stack[frame.stackSize++] = word;
  return CONTINUE;
}
