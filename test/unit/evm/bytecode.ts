import { hexToBytes } from "../../../src/base/hex.ts";
import { OPCODE_NAMES } from "../../../src/evm/opcodes/opcode-table.ts";

/**
 * Bytecode from text: opcode names, and `PUSH n` for the shortest PUSH of a number in any notation
 * of BigInt. `0x...` on its own stands for those bytes.
 */
export function assemble(text: string): Uint8Array {
  const tokens = text.split(/\s+/).filter((token) => token !== "");
  const bytes: number[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!;
    if (token === "PUSH") bytes.push(...pushBytes(BigInt(tokens[++index]!)));
    else if (token.startsWith("0x")) bytes.push(...hexToBytes(token));
    else bytes.push(opcode(token));
  }
  return Uint8Array.from(bytes);
}

export function opcode(name: string): number {
  const code = OPCODE_NAMES.indexOf(name);
  if (code < 0) throw new Error(`no opcode ${name}`);
  return code;
}

function pushBytes(operand: bigint): number[] {
  if (operand === 0n) return [0x5f];
  const text = operand.toString(16);
  const bytes = hexToBytes(`0x${text.length % 2 === 0 ? "" : "0"}${text}`);
  return [0x5f + bytes.length, ...bytes];
}

/** Returns the top of the stack as one word. */
export const RETURN_TOP = "PUSH 0 MSTORE PUSH 32 PUSH 0 RETURN";
