/**
 * Random programs. They are built from snippets that use the stack properly and write what they see
 * to storage, memory or logs, so that a difference anywhere becomes a difference in the state root;
 * now and then a snippet is broken on purpose.
 */
import type { Prng } from "../../../src/base/prng.ts";
import { Assembler, OP } from "./assembler.ts";
import { precompileCall } from "./generate-precompile-call.ts";
import {
  callGas,
  extent,
  pickAddress,
  type ProgramContext,
  randomWord,
  sink,
  slot,
  transferred,
} from "./program-parts.ts";

type Snippet = (code: Assembler, context: ProgramContext) => void;

const BINARY_OPS = [
  0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0b, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x18,
  0x1a, 0x1b, 0x1c, 0x1d,
];
const ENVIRONMENT_OPS = [
  0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x3d, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
  0x4a, 0x58, 0x59, 0x5a, 0x5a, 0x5a,
];

const SNIPPETS: readonly (readonly [weight: number, snippet: Snippet])[] = [
  [5, arithmetic],
  [5, environment],
  [5, accountRead],
  [6, memory],
  [3, copy],
  [2, hash],
  [3, log],
  [8, storage],
  [4, transient],
  [12, call],
  [4, precompileCall],
  [6, create],
  [1, loop],
  [2, branch],
  [1, broken],
];
const WEIGHT_SUM = SNIPPETS.reduce((sum, [weight]) => sum + weight, 0);

/**
 * A program of bounded length; most end by returning, some by reverting or destroying themselves.
 */
export function generateProgram(context: ProgramContext): Uint8Array {
  const { prng } = context;
  const code = new Assembler();
  const count = prng.between(1, 8);
  for (let index = 0; index < count; index++) pickSnippet(prng)(code, context);
  ending(code, context);
  return code.assemble();
}

/** Code of a creation: it usually returns a runtime program that it carries at its end. */
export function generateInitCode(context: ProgramContext): Uint8Array {
  const { prng } = context;
  const code = new Assembler();
  const inner = { ...context, depth: context.depth - 1 };
  const count = prng.below(4);
  for (let index = 0; index < count; index++) pickSnippet(prng)(code, inner);
  const kind = prng.below(20);
  if (kind === 0) return code.assemble();
  if (kind === 1) return ending(code, inner).assemble();
  if (kind === 2)
    return code.push(0xef).push(0).op(OP.MSTORE8).push(1).push(0).op(OP.RETURN).assemble();
  if (kind === 3) return code.push(prng.between(24_570, 24_580)).push(0).op(OP.RETURN).assemble();
  if (kind === 4) return code.push(pickAddress(inner)).op(OP.SELFDESTRUCT).assemble();
  const runtime = prng.chance(0.2) ? prng.bytes(prng.below(40)) : generateProgram(inner);
  const start = {};
  code.push(runtime.length).pushLabel(start).push(0).op(OP.CODECOPY);
  code.push(runtime.length).push(0).op(OP.RETURN);
  return code.place(start).raw(runtime).assemble();
}

function pickSnippet(prng: Prng): Snippet {
  let left = prng.below(WEIGHT_SUM);
  for (const [weight, snippet] of SNIPPETS) {
    left -= weight;
    if (left < 0) return snippet;
  }
  return arithmetic;
}

function arithmetic(code: Assembler, { prng }: ProgramContext): void {
  const kind = prng.below(12);
  if (kind === 0) code.push(randomWord(prng)).op(prng.pick([0x15, 0x19]));
  else if (kind === 1) code.push(prng.below(400)).push(randomWord(prng)).op(OP.EXP);
  else if (kind < 4) {
    code.push(randomWord(prng)).push(randomWord(prng)).push(randomWord(prng));
    code.op(prng.pick([0x08, 0x09]));
  } else {
    code.push(randomWord(prng)).push(randomWord(prng)).op(prng.pick(BINARY_OPS));
  }
  sink(code, prng);
}

function environment(code: Assembler, { prng }: ProgramContext): void {
  code.op(prng.pick(ENVIRONMENT_OPS));
  sink(code, prng);
}

function accountRead(code: Assembler, context: ProgramContext): void {
  const { prng } = context;
  const kind = prng.below(8);
  if (kind === 0) code.push(prng.below(320)).op(OP.BLOCKHASH);
  else if (kind === 1) code.push(prng.below(2)).op(OP.BLOBHASH);
  else if (kind === 2) code.push(extent(prng)).op(OP.CALLDATALOAD);
  else {
    code.push(pickAddress(context));
    code.op(prng.pick([OP.BALANCE, OP.EXTCODESIZE, OP.EXTCODEHASH]));
  }
  sink(code, prng);
}

function memory(code: Assembler, { prng }: ProgramContext): void {
  const kind = prng.below(4);
  if (kind === 0) code.push(randomWord(prng)).push(extent(prng)).op(OP.MSTORE);
  else if (kind === 1) code.push(randomWord(prng)).push(extent(prng)).op(OP.MSTORE8);
  else if (kind === 2) code.push(extent(prng)).push(extent(prng)).push(extent(prng)).op(OP.MCOPY);
  else {
    code.push(extent(prng)).op(OP.MLOAD);
    sink(code, prng);
  }
}

function copy(code: Assembler, context: ProgramContext): void {
  const { prng } = context;
  const kind = prng.below(5);
  if (kind === 0) {
    // The whole of what was returned: always in bounds.
    code.op(OP.RETURNDATASIZE).push(0).push(extent(prng)).op(OP.RETURNDATACOPY);
    return;
  }
  code.push(extent(prng)).push(extent(prng)).push(extent(prng));
  if (kind === 1) code.op(OP.CALLDATACOPY);
  else if (kind === 2) code.op(OP.CODECOPY);
  else if (kind === 3) code.push(pickAddress(context)).op(OP.EXTCODECOPY);
  else code.op(OP.RETURNDATACOPY);
}

function hash(code: Assembler, { prng }: ProgramContext): void {
  code.push(extent(prng)).push(extent(prng)).op(OP.KECCAK256);
  sink(code, prng);
}

function log(code: Assembler, { prng }: ProgramContext): void {
  const topics = prng.below(5);
  for (let index = 0; index < topics; index++) code.push(randomWord(prng));
  code
    .push(extent(prng))
    .push(extent(prng))
    .op(OP.LOG0 + topics);
}

function storage(code: Assembler, { prng }: ProgramContext): void {
  if (prng.chance(0.25)) {
    code.push(slot(prng)).op(OP.SLOAD);
    sink(code, prng);
    return;
  }
  // Few slots and few values, so that slots are set, cleared and set back: refunds.
  code.push(prng.below(3)).push(slot(prng)).op(OP.SSTORE);
}

function transient(code: Assembler, { prng }: ProgramContext): void {
  if (prng.chance(0.5)) {
    code.push(slot(prng)).op(OP.TLOAD);
    sink(code, prng);
    return;
  }
  code.push(randomWord(prng)).push(slot(prng)).op(OP.TSTORE);
}

function call(code: Assembler, context: ProgramContext): void {
  const { prng } = context;
  code.push(extent(prng)).push(extent(prng)).push(extent(prng)).push(extent(prng));
  const opcode = prng.pick([OP.CALL, OP.CALL, OP.CALLCODE, OP.DELEGATECALL, OP.STATICCALL]);
  if (opcode === OP.CALL || opcode === OP.CALLCODE) code.push(transferred(prng));
  code.push(pickAddress(context));
  callGas(code, prng);
  code.op(opcode);
  sink(code, prng);
}

function create(code: Assembler, context: ProgramContext): void {
  const { prng } = context;
  if (context.depth === 0) {
    storage(code, context);
    return;
  }
  const initCode = generateInitCode({ ...context, depth: context.depth - 1 });
  const start = {};
  const after = {};
  // The init code lies in the code stream, jumped over: CODECOPY brings it into memory.
  code.pushLabel(after).op(OP.JUMP).place(start).raw(initCode);
  code.place(after).op(OP.JUMPDEST);
  code.push(initCode.length).pushLabel(start).push(0).op(OP.CODECOPY);
  const second = prng.chance(0.5);
  if (second) code.push(prng.below(2));
  code.push(prng.chance(0.03) ? prng.between(49_140, 49_160) : initCode.length).push(0);
  code.push(transferred(prng)).op(second ? OP.CREATE2 : OP.CREATE);
  if (prng.chance(0.6)) {
    code.op(OP.DUP1);
    callTop(code, context);
    if (prng.chance(0.3)) {
      code.op(OP.DUP1);
      callTop(code, context);
    }
  }
  sink(code, prng);
}

/** Calls the address on top of the stack and consumes it. */
function callTop(code: Assembler, { prng }: ProgramContext): void {
  code.push(0).push(0).push(prng.below(40)).push(0).push(transferred(prng));
  // Stack: address, out size, out offset, in size, in offset, value. Bring the address up.
  code
    .op(OP.DUP1 + 5)
    .op(OP.GAS)
    .op(OP.CALL);
  sink(code, prng);
  code.op(OP.POP);
}

function loop(code: Assembler, context: ProgramContext): void {
  const { prng } = context;
  const top = {};
  code.push(prng.between(1, 6)).place(top).op(OP.JUMPDEST);
  const count = prng.between(1, 2);
  for (let index = 0; index < count; index++) pickSnippet(prng)(code, { ...context, depth: 0 });
  code.push(1).op(OP.SWAP1).op(OP.SUB).op(OP.DUP1).pushLabel(top).op(OP.JUMPI).op(OP.POP);
}

function branch(code: Assembler, context: ProgramContext): void {
  const { prng } = context;
  const over = {};
  code
    .push(extent(prng))
    .op(OP.CALLDATALOAD)
    .push(prng.pick([1, 2, 255]))
    .op(OP.AND);
  code.pushLabel(over).op(OP.JUMPI);
  pickSnippet(prng)(code, { ...context, depth: 0 });
  if (prng.chance(0.4)) ending(code, context);
  code.place(over).op(OP.JUMPDEST);
}

function broken(code: Assembler, { prng }: ProgramContext): void {
  const kind = prng.below(6);
  if (kind === 0) code.raw(prng.bytes(prng.between(1, 6)));
  else if (kind === 1) code.op(OP.POP);
  else if (kind === 2) code.push(randomWord(prng)).op(OP.JUMP);
  // Not 0xef: @ethereumjs/evm 10.1.3 refuses init code that begins with 0xEF00 as EOF in every fork
  // (EIP-3540, which no fork of ours has) instead of running it into its invalid first opcode.
  else if (kind === 3) code.op(prng.pick([0x0c, 0x21, 0x4b, 0xa5, OP.INVALID]));
  else if (kind === 4) for (let index = 0; index < 10; index++) code.op(OP.DUP1 + prng.below(16));
  else code.op(OP.SWAP1 + prng.below(16));
}

function ending(code: Assembler, context: ProgramContext): Assembler {
  const { prng } = context;
  const kind = prng.below(20);
  if (kind < 6) return code.push(extent(prng)).push(extent(prng)).op(OP.RETURN);
  if (kind < 9) return code.push(extent(prng)).push(extent(prng)).op(OP.REVERT);
  if (kind < 12) return code.push(pickAddress(context)).op(OP.SELFDESTRUCT);
  if (kind === 12) return code.op(OP.INVALID);
  return code.op(OP.STOP);
}
