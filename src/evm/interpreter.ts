/**
 * The interpreter's loop: runs one frame until it ends, fails, or enters a child.
 *
 * It is one large switch because that is what V8 turns into a jump table with pc, gas, stack size
 * and memory in registers. Rules that keep it fast: opcodes that cost 20 gas or more, or are rare,
 * live in other files behind `executeColdOpcode`; nothing in here allocates but bigints; case labels are
 * literals (a named constant would be compared one by one); the stack is one packed array.
 *
 * `?? 0n` and `?? 0` never take effect: STACK_NEEDED was checked and the code is padded. They tell the
 * compiler what the tables guarantee, at the cost of a compare.
 */
import * as arithmetic from "./opcodes/arithmetic.ts";
import { executeColdOpcode } from "./opcodes/cold-opcodes.ts";
import { environmentWord, loadCallData } from "./opcodes/environment-opcodes.ts";
import type { Frame } from "./frame.ts";
import type { Machine } from "./machine.ts";
import { expansionGas } from "./memory.ts";
import * as opcodeTable from "./opcodes/opcode-table.ts";
import * as signal from "./signal.ts";
import { traceStep } from "./step-trace.ts";
import * as word from "./word.ts";

// Constants of this module: V8 compiles them into the loop, which it does not do with imports.
const { STACK_ALLOWED, STACK_ITEMS_MAX, STACK_NEEDED, STATIC_GAS } = opcodeTable;
const { BYTE_WORDS, countToWord, lowByte, readCountedWord } = word;
const { WORD_LIMIT, WORD_MASK, writeWord } = word;
const { addModulo, byteLength, isLessSigned, multiplyModulo, power } = arithmetic;
const { shiftRightArithmetic, signedDivide, signedModulo, signExtend } = arithmetic;
const { CONTINUE, INVALID_JUMP, OUT_OF_GAS, RETURNED } = signal;
const { STACK_OVERFLOW, STACK_UNDERFLOW, STOPPED } = signal;

/** How much gas may pass between two looks at the stop flag: well under a millisecond. */
const POLL_GAS = 32_768;

// eslint-disable-next-line max-lines-per-function -- V8 compiles one switch to a jump table
export function runFrame(frame: Frame, machine: Machine): signal.Signal {
  const { stack, code } = frame;
  const { bytes: ops, jumpTargets } = code;
  const { memory, tracer } = machine;
  const base = frame.memoryBase;
  const isTraced = tracer !== undefined;
  let pushes = code.pushes;
  let pc = frame.pc;
  let sp = frame.stackSize;
  let gas = frame.gas;
  let memorySize = frame.memorySize;
  let view = memory.view;
  let pollBelow = gas - POLL_GAS;

  for (;;) {
    const op = ops[pc] ?? 0;
    if (isTraced) {
      frame.pc = pc;
      frame.gas = gas;
      frame.stackSize = sp;
      frame.memorySize = memorySize;
      traceStep(frame, machine, op);
    }
    switch (op) {
      case 0x00: // STOP
        frame.gas = gas;
        frame.output = NO_OUTPUT;
        return RETURNED;
      case 0x01: {
        // ADD
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        const sum = (stack[--sp] ?? 0n) + (stack[sp - 1] ?? 0n);
        stack[sp - 1] = sum > WORD_MASK ? sum & WORD_MASK : sum;
        break;
      }
      case 0x02: {
        // MUL
        if (sp < 2 || (gas -= 5) < 0) return shortage(sp, 2);
        const product = (stack[--sp] ?? 0n) * (stack[sp - 1] ?? 0n);
        stack[sp - 1] = product > WORD_MASK ? product & WORD_MASK : product;
        break;
      }
      case 0x03: {
        // SUB
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        const difference = (stack[--sp] ?? 0n) - (stack[sp - 1] ?? 0n);
        stack[sp - 1] = difference < 0n ? difference + WORD_LIMIT : difference;
        break;
      }
      case 0x04: {
        // DIV
        if (sp < 2 || (gas -= 5) < 0) return shortage(sp, 2);
        const dividend = stack[--sp] ?? 0n;
        const divisor = stack[sp - 1] ?? 0n;
        if (divisor !== 0n) stack[sp - 1] = dividend / divisor;
        break;
      }
      case 0x05: // SDIV
        if (sp < 2 || (gas -= 5) < 0) return shortage(sp, 2);
        sp--;
        stack[sp - 1] = signedDivide(stack[sp] ?? 0n, stack[sp - 1] ?? 0n, machine);
        break;
      case 0x06: {
        // MOD
        if (sp < 2 || (gas -= 5) < 0) return shortage(sp, 2);
        const dividend = stack[--sp] ?? 0n;
        const divisor = stack[sp - 1] ?? 0n;
        if (divisor !== 0n) stack[sp - 1] = dividend % divisor;
        break;
      }
      case 0x07: // SMOD
        if (sp < 2 || (gas -= 5) < 0) return shortage(sp, 2);
        sp--;
        stack[sp - 1] = signedModulo(stack[sp] ?? 0n, stack[sp - 1] ?? 0n, machine);
        break;
      case 0x08: {
        // ADDMOD
        if (sp < 3 || (gas -= 8) < 0) return shortage(sp, 3);
        const a = stack[--sp] ?? 0n;
        const b = stack[--sp] ?? 0n;
        stack[sp - 1] = addModulo(a, b, stack[sp - 1] ?? 0n);
        break;
      }
      case 0x09: {
        // MULMOD
        if (sp < 3 || (gas -= 8) < 0) return shortage(sp, 3);
        const a = stack[--sp] ?? 0n;
        const b = stack[--sp] ?? 0n;
        stack[sp - 1] = multiplyModulo(a, b, stack[sp - 1] ?? 0n, machine);
        if (gas < pollBelow && machine.isPreempted()) return STOPPED;
        break;
      }
      case 0x0a: {
        // EXP
        if (sp < 2 || (gas -= 10) < 0) return shortage(sp, 2);
        const exponentBase = stack[--sp] ?? 0n;
        const exponent = stack[sp - 1] ?? 0n;
        gas -= 50 * byteLength(exponent);
        if (gas < 0) return outOfGas(frame, gas);
        stack[sp - 1] = power(exponentBase, exponent);
        if (gas < pollBelow && machine.isPreempted()) return STOPPED;
        break;
      }
      case 0x0b: // SIGNEXTEND
        if (sp < 2 || (gas -= 5) < 0) return shortage(sp, 2);
        sp--;
        stack[sp - 1] = signExtend(stack[sp] ?? 0n, stack[sp - 1] ?? 0n);
        break;
      case 0x10: // LT
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        sp--;
        stack[sp - 1] = (stack[sp] ?? 0n) < (stack[sp - 1] ?? 0n) ? 1n : 0n;
        break;
      case 0x11: // GT
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        sp--;
        stack[sp - 1] = (stack[sp] ?? 0n) > (stack[sp - 1] ?? 0n) ? 1n : 0n;
        break;
      case 0x12: // SLT
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        sp--;
        stack[sp - 1] = isLessSigned(stack[sp] ?? 0n, stack[sp - 1] ?? 0n) ? 1n : 0n;
        break;
      case 0x13: // SGT
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        sp--;
        stack[sp - 1] = isLessSigned(stack[sp - 1] ?? 0n, stack[sp] ?? 0n) ? 1n : 0n;
        break;
      case 0x14: // EQ
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        sp--;
        stack[sp - 1] = stack[sp] === stack[sp - 1] ? 1n : 0n;
        break;
      case 0x15: // ISZERO
        if (sp < 1 || (gas -= 3) < 0) return shortage(sp, 1);
        stack[sp - 1] = stack[sp - 1] === 0n ? 1n : 0n;
        break;
      case 0x16: // AND
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        sp--;
        stack[sp - 1] = (stack[sp] ?? 0n) & (stack[sp - 1] ?? 0n);
        break;
      case 0x17: // OR
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        sp--;
        stack[sp - 1] = (stack[sp] ?? 0n) | (stack[sp - 1] ?? 0n);
        break;
      case 0x18: // XOR
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        sp--;
        stack[sp - 1] = (stack[sp] ?? 0n) ^ (stack[sp - 1] ?? 0n);
        break;
      case 0x19: // NOT
        if (sp < 1 || (gas -= 3) < 0) return shortage(sp, 1);
        stack[sp - 1] = WORD_MASK ^ (stack[sp - 1] ?? 0n);
        break;
      case 0x1a: {
        // BYTE
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        const index = stack[--sp] ?? 0n;
        const word = stack[sp - 1] ?? 0n;
        stack[sp - 1] = index > 31n ? 0n : (word >> (248n - 8n * index)) & 0xffn;
        break;
      }
      case 0x1b: {
        // SHL
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        const shift = stack[--sp] ?? 0n;
        stack[sp - 1] = shift > 255n ? 0n : ((stack[sp - 1] ?? 0n) << shift) & WORD_MASK;
        break;
      }
      case 0x1c: {
        // SHR
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        const shift = stack[--sp] ?? 0n;
        stack[sp - 1] = shift > 255n ? 0n : (stack[sp - 1] ?? 0n) >> shift;
        break;
      }
      case 0x1d: // SAR
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        sp--;
        stack[sp - 1] = shiftRightArithmetic(stack[sp] ?? 0n, stack[sp - 1] ?? 0n);
        break;
      case 0x30: // ADDRESS
        if (sp === STACK_ITEMS_MAX || (gas -= 2) < 0) return shortage(sp, 0);
        stack[sp++] = frame.address;
        break;
      case 0x33: // CALLER
        if (sp === STACK_ITEMS_MAX || (gas -= 2) < 0) return shortage(sp, 0);
        stack[sp++] = frame.caller;
        break;
      case 0x35: // CALLDATALOAD
        if (sp < 1 || (gas -= 3) < 0) return shortage(sp, 1);
        stack[sp - 1] = loadCallData(frame, machine, Number(stack[sp - 1]));
        break;
      case 0x36: // CALLDATASIZE
        if (sp === STACK_ITEMS_MAX || (gas -= 2) < 0) return shortage(sp, 0);
        stack[sp++] = countToWord(frame.data.length);
        break;
      case 0x32:
      case 0x34:
      case 0x38:
      case 0x3a:
      case 0x3d:
      case 0x41:
      case 0x42:
      case 0x43:
      case 0x44:
      case 0x45:
      case 0x46:
      case 0x48:
      case 0x4a: // ORIGIN to BLOBBASEFEE: words that stand still while a frame runs
        if (sp === STACK_ITEMS_MAX || (gas -= 2) < 0) return shortage(sp, 0);
        stack[sp++] = environmentWord(op, frame, machine);
        break;
      case 0x50: // POP
        if (sp < 1 || (gas -= 2) < 0) return shortage(sp, 1);
        sp--;
        break;
      case 0x51: {
        // MLOAD
        if (sp < 1 || (gas -= 3) < 0) return shortage(sp, 1);
        const offset = Number(stack[sp - 1]);
        if (offset + 32 > memorySize) {
          gas -= expansionGas(memorySize, offset + 32);
          if (gas < 0) return outOfGas(frame, gas);
          const grownSize = Math.ceil(offset / 32 + 1) * 32;
          memory.ensure(base + memorySize, base + grownSize);
          memorySize = grownSize;
          view = memory.view;
        }
        stack[sp - 1] = readCountedWord(view, base + offset, machine);
        break;
      }
      case 0x52: {
        // MSTORE
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        const offset = Number(stack[--sp]);
        if (offset + 32 > memorySize) {
          gas -= expansionGas(memorySize, offset + 32);
          if (gas < 0) return outOfGas(frame, gas);
          const grownSize = Math.ceil(offset / 32 + 1) * 32;
          memory.ensure(base + memorySize, base + grownSize);
          memorySize = grownSize;
          view = memory.view;
        }
        writeWord(view, base + offset, stack[--sp] ?? 0n);
        break;
      }
      case 0x53: {
        // MSTORE8
        if (sp < 2 || (gas -= 3) < 0) return shortage(sp, 2);
        const offset = Number(stack[--sp]);
        if (offset >= memorySize) {
          gas -= expansionGas(memorySize, offset + 1);
          if (gas < 0) return outOfGas(frame, gas);
          const grownSize = Math.ceil((offset + 1) / 32) * 32;
          memory.ensure(base + memorySize, base + grownSize);
          memorySize = grownSize;
          view = memory.view;
        }
        view.setUint8(base + offset, lowByte(stack[--sp] ?? 0n));
        break;
      }
      case 0x56: {
        // JUMP
        if (sp < 1 || (gas -= 8) < 0) return shortage(sp, 1);
        const target = Number(stack[--sp]);
        if (target >= ops.length || jumpTargets[target] !== 1) return INVALID_JUMP;
        pc = target | 0;
        if (gas < pollBelow) {
          if (machine.shouldStop()) return STOPPED;
          pollBelow = gas - POLL_GAS;
        }
        continue;
      }
      case 0x57: {
        // JUMPI
        if (sp < 2 || (gas -= 10) < 0) return shortage(sp, 2);
        sp -= 2;
        if (stack[sp] === 0n) break;
        const target = Number(stack[sp + 1]);
        if (target >= ops.length || jumpTargets[target] !== 1) return INVALID_JUMP;
        pc = target | 0;
        if (gas < pollBelow) {
          if (machine.shouldStop()) return STOPPED;
          pollBelow = gas - POLL_GAS;
        }
        continue;
      }
      case 0x58: // PC
        if (sp === STACK_ITEMS_MAX || (gas -= 2) < 0) return shortage(sp, 0);
        stack[sp++] = BigInt(pc >>> 0);
        break;
      case 0x59: // MSIZE
        if (sp === STACK_ITEMS_MAX || (gas -= 2) < 0) return shortage(sp, 0);
        stack[sp++] = countToWord(memorySize);
        break;
      case 0x5a: // GAS
        if (sp === STACK_ITEMS_MAX || (gas -= 2) < 0) return shortage(sp, 0);
        stack[sp++] = countToWord(gas);
        break;
      case 0x5b: // JUMPDEST
        if ((gas -= 1) < 0) return shortage(sp, 0);
        break;
      case 0x5f: // PUSH0
        if (sp === STACK_ITEMS_MAX || (gas -= 2) < 0) return shortage(sp, 0);
        stack[sp++] = 0n;
        break;
      case 0x60: // PUSH1
        if (sp === STACK_ITEMS_MAX || (gas -= 3) < 0) return shortage(sp, 0);
        stack[sp++] = BYTE_WORDS[ops[pc + 1] ?? 0] ?? 0n;
        pc += 2;
        continue;
      case 0x61: {
        // PUSH2, as one with the JUMP or JUMPI behind it: the target never becomes a bigint
        if (sp === STACK_ITEMS_MAX || (gas -= 3) < 0) return shortage(sp, 0);
        const operand = ((ops[pc + 1] ?? 0) << 8) | (ops[pc + 2] ?? 0);
        const next = isTraced ? 0 : ops[pc + 3];
        if (next === 0x57) {
          if (sp < 1 || (gas -= 10) < 0) return shortage(sp, 1);
          if (stack[--sp] === 0n) {
            pc += 4;
            continue;
          }
        } else if (next === 0x56) {
          if ((gas -= 8) < 0) return OUT_OF_GAS;
        } else {
          stack[sp++] = pushes[pc] ?? code.decodePush(pc);
          pushes = code.pushes;
          pc += 3;
          continue;
        }
        if (operand >= ops.length || jumpTargets[operand] !== 1) return INVALID_JUMP;
        pc = operand;
        if (gas < pollBelow) {
          if (machine.shouldStop()) return STOPPED;
          pollBelow = gas - POLL_GAS;
        }
        continue;
      }
      // prettier-ignore
      case 0x62:
      case 0x63:
      case 0x64:
      case 0x65:
      case 0x66:
      case 0x67:
      case 0x68:
      case 0x69:
      case 0x6a:
      case 0x6b:
      case 0x6c:
      case 0x6d:
      case 0x6e:
      case 0x6f:
      case 0x70:
      case 0x71:
      case 0x72:
      case 0x73:
      case 0x74:
      case 0x75:
      case 0x76:
      case 0x77:
      case 0x78:
      case 0x79:
      case 0x7a:
      case 0x7b:
      case 0x7c:
      case 0x7d:
      case 0x7e:
      case 0x7f: {
        // PUSH3 to PUSH32
        if (sp === STACK_ITEMS_MAX || (gas -= 3) < 0) return shortage(sp, 0);
        let operand = pushes[pc];
        if (operand === undefined) {
          operand = code.decodePush(pc);
          pushes = code.pushes;
        }
        stack[sp++] = operand;
        pc += op - 0x5e;
        continue;
      }
      // prettier-ignore
      case 0x80:
      case 0x81:
      case 0x82:
      case 0x83:
      case 0x84:
      case 0x85:
      case 0x86:
      case 0x87:
      case 0x88:
      case 0x89:
      case 0x8a:
      case 0x8b:
      case 0x8c:
      case 0x8d:
      case 0x8e:
      case 0x8f: // DUP
        if (sp < op - 0x7f || sp === STACK_ITEMS_MAX || (gas -= 3) < 0)
          return shortage(sp, op - 0x7f);
        stack[sp] = stack[sp - op + 0x7f] ?? 0n;
        sp++;
        break;
      // prettier-ignore
      case 0x90:
      case 0x91:
      case 0x92:
      case 0x93:
      case 0x94:
      case 0x95:
      case 0x96:
      case 0x97:
      case 0x98:
      case 0x99:
      case 0x9a:
      case 0x9b:
      case 0x9c:
      case 0x9d:
      case 0x9e:
      case 0x9f: {
        // SWAP
        if (sp < op - 0x8e || (gas -= 3) < 0) return shortage(sp, op - 0x8e);
        const other = sp - op + 0x8e;
        const held = stack[other] ?? 0n;
        stack[other] = stack[sp - 1] ?? 0n;
        stack[sp - 1] = held;
        break;
      }
      default: {
        const needed = STACK_NEEDED[op] ?? 0;
        const allowed = STACK_ALLOWED[op] ?? 0;
        gas -= STATIC_GAS[op] ?? 0;
        if (sp < needed || sp > allowed || gas < 0) return shortage(sp, needed, allowed);
        frame.pc = pc;
        frame.gas = gas;
        frame.stackSize = sp;
        frame.memorySize = memorySize;
        const outcome = executeColdOpcode(op, frame, machine);
        if (outcome !== CONTINUE) return outcome;
        gas = frame.gas;
        sp = frame.stackSize;
        memorySize = frame.memorySize;
        view = memory.view;
        if (gas < pollBelow && machine.isPreempted()) return STOPPED;
      }
    }
    pc++;
  }
}

/** Which of the three an opcode lacked: items, room for items, or gas. */
function shortage(sp: number, needed: number, allowed = STACK_ITEMS_MAX - 1): signal.Signal {
  if (sp < needed) return STACK_UNDERFLOW;
  return sp > allowed ? STACK_OVERFLOW : OUT_OF_GAS;
}

/** A tracer asks the frame what the opcode would have cost. */
function outOfGas(frame: Frame, gas: number): signal.Signal {
  frame.gas = gas;
  return OUT_OF_GAS;
}

const NO_OUTPUT = new Uint8Array(0);
