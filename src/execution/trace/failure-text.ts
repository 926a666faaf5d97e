import type { FailureReason } from "../../evm/message.ts";
import { OPCODE_NAMES, STACK_ALLOWED, STACK_NEEDED } from "../../evm/opcodes/opcode-table.ts";
import type { Fault } from "../../evm/tracer.ts";

/** The words that tools know from other clients. */
const TEXTS: Readonly<Record<FailureReason, string>> = {
  OUT_OF_GAS: "out of gas",
  STACK_UNDERFLOW: "stack underflow",
  STACK_OVERFLOW: "stack limit reached 1024",
  INVALID_OPCODE: "invalid opcode",
  INVALID_JUMP: "invalid jump destination",
  STATIC_VIOLATION: "write protection",
  RETURN_DATA_OUT_OF_BOUNDS: "return data out of bounds",
  INIT_CODE_TOO_LARGE: "max initcode size exceeded",
  CODE_TOO_LARGE: "max code size exceeded",
  CODE_STARTS_WITH_EF: "invalid code: must not begin with 0xef",
  CREATE_COLLISION: "contract address collision",
  PRECOMPILE_FAILED: "precompile failed",
  INSUFFICIENT_BALANCE: "insufficient balance for transfer",
  CALL_TOO_DEEP: "max call depth exceeded",
  NONCE_TOO_HIGH: "nonce uint64 overflow",
};

export const REVERTED_TEXT = "execution reverted";

export function failureText(reason: FailureReason): string {
  return TEXTS[reason];
}

/** With the details that go-ethereum adds. */
export function faultText({ reason, op, stackSize }: Fault): string {
  if (reason === "INVALID_OPCODE") return `${TEXTS[reason]}: ${opcodeName(op)}`;
  if (reason === "STACK_UNDERFLOW") {
    return `${TEXTS[reason]} (${stackSize} <=> ${STACK_NEEDED[op] ?? 0})`;
  }
  if (reason === "STACK_OVERFLOW") return `${TEXTS[reason]} (${STACK_ALLOWED[op] ?? 0})`;
  return TEXTS[reason];
}

/** As in go-ethereum, also for what is no opcode. */
export function opcodeName(op: number): string {
  return OPCODE_NAMES[op] ?? `opcode 0x${op.toString(16)} not defined`;
}
