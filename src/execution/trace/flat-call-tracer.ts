/** The calls of a transaction as a list in the format of OpenEthereum (trace_*, flatCallTracer). */
import { bytesToHex, numberToHex } from "../../base/hex.ts";
import { addressToHex } from "../../chain/address.ts";
import type { FlatCallFilter, FlatCallTracerOptions } from "../../api/trace-options.ts";
import type { FailureReason } from "../../evm/message.ts";
import { CallTree, type TracedCallFrame } from "./call-tree.ts";
import type { ExecutionTrace, Json, TracePlace, TraceSetting } from "./execution-trace.ts";
import { failureText, faultText, REVERTED_TEXT } from "./failure-text.ts";

/** A number of `traceAddress` and its comma. */
const DEPTH_BYTES = 5;
/** Hashes and names that the tree does not count. */
const PLACE_BYTES = 350;

type JsonObject = { readonly [key: string]: Json };

/** The words of OpenEthereum. */
const PARITY_TEXTS: Readonly<Record<FailureReason, string>> = {
  OUT_OF_GAS: "Out of gas",
  STACK_UNDERFLOW: "Stack underflow",
  STACK_OVERFLOW: "Out of stack",
  INVALID_OPCODE: "Bad instruction",
  INVALID_JUMP: "Bad jump destination",
  STATIC_VIOLATION: "Mutable Call In Static Context",
  RETURN_DATA_OUT_OF_BOUNDS: "Out of bounds",
  INIT_CODE_TOO_LARGE: "Out of gas",
  CODE_TOO_LARGE: "Out of gas",
  CODE_STARTS_WITH_EF: "Invalid code",
  CREATE_COLLISION: "Out of gas",
  PRECOMPILE_FAILED: "Built-in failed",
  INSUFFICIENT_BALANCE: "insufficient balance for transfer",
  CALL_TOO_DEEP: "Out of stack",
  NONCE_TOO_HIGH: "Out of gas",
};

export function createFlatCallTracer(
  options: FlatCallTracerOptions,
  { request, room, place }: TraceSetting,
): ExecutionTrace {
  const tree = new CallTree({ isTopOnly: false, hasLogs: false, depthBytes: DEPTH_BYTES }, room);
  return {
    hooks: tree.hooks,
    result({ gasUsed }) {
      if (tree.top === undefined) return [];
      const list = new FlatList(options, place);
      list.add(tree.top, []);
      const [first] = list.entries;
      // go-ethereum counts the intrinsic gas to the outermost call, OpenEthereum does not.
      if (options.hasIntrinsicGas && first !== undefined && tree.top === list.frames[0]) {
        list.entries[0] = withGas(first, request.transaction.gasLimit, gasUsed);
      }
      room.take(PLACE_BYTES * list.entries.length);
      return list.entries;
    },
  };
}

class FlatList {
  readonly entries: JsonObject[] = [];
  /** One for each entry. */
  readonly frames: TracedCallFrame[] = [];
  readonly #options: FlatCallTracerOptions;
  readonly #place: JsonObject;

  constructor(options: FlatCallTracerOptions, place: TracePlace | undefined) {
    this.#options = options;
    this.#place = place === undefined ? {} : formatPlace(place);
  }

  add(call: TracedCallFrame, traceAddress: readonly number[]): void {
    const inner = call.calls.filter((one) => this.#options.hasPrecompiles || !isBuiltIn(one));
    if (isAdmitted(call, this.#options.filter)) {
      this.frames.push(call);
      this.entries.push({
        action: actionOf(call),
        ...this.#place,
        ...this.#outcome(call),
        subtraces: inner.length,
        traceAddress,
        type: typeOf(call),
      });
    }
    for (const [index, one] of inner.entries()) this.add(one, [...traceAddress, index]);
  }

  #outcome(call: TracedCallFrame): JsonObject {
    const { entry, exit, address } = call;
    if (entry.kind === "SELFDESTRUCT") return { result: null };
    if (exit === undefined) return {};
    const { status, output } = exit;
    const failed = status === "success" ? {} : { error: this.#errorOf(call) };
    if (status !== "success" && status !== "revert") return failed;
    const gasUsed = numberToHex(exit.gasUsed);
    if (typeOf(call) !== "create") {
      return { ...failed, result: { gasUsed, output: bytesToHex(output) } };
    }
    if (status === "revert") return failed;
    return { result: { address: addressToHex(address), code: bytesToHex(output), gasUsed } };
  }

  #errorOf({ exit, fault }: TracedCallFrame): string {
    const { hasParityErrors } = this.#options;
    if (exit?.status === "revert") return hasParityErrors ? "Reverted" : REVERTED_TEXT;
    const reason = fault?.reason ?? exit?.reason;
    if (reason === undefined) return "failed";
    if (hasParityErrors) return PARITY_TEXTS[reason];
    return fault === undefined ? failureText(reason) : faultText(fault);
  }
}

function formatPlace({ blockHash, blockNumber, transactionHash, index }: TracePlace): JsonObject {
  return {
    blockHash: bytesToHex(blockHash),
    blockNumber: Number(blockNumber),
    transactionHash: bytesToHex(transactionHash),
    transactionPosition: index,
  };
}

/** Calls to precompiles are left out, as both clients do. */
function isBuiltIn({ entry }: TracedCallFrame): boolean {
  return entry.isPrecompile && (entry.kind === "CALL" || entry.kind === "STATICCALL");
}

function isAdmitted(call: TracedCallFrame, filter: FlatCallFilter | undefined): boolean {
  if (filter === undefined) return true;
  const { from, to } = filter;
  const isCreation = typeOf(call) === "create";
  const recipient = isCreation && call.exit?.status !== "success" ? undefined : call.entry.to;
  const isFrom = from.length === 0 || from.includes(call.from);
  const isTo = to.length === 0 || (recipient !== undefined && to.includes(recipient));
  return isFrom && isTo;
}

function typeOf({ entry }: TracedCallFrame): "call" | "create" | "suicide" {
  if (entry.kind === "SELFDESTRUCT") return "suicide";
  return entry.kind === "CREATE" || entry.kind === "CREATE2" ? "create" : "call";
}

function actionOf(call: TracedCallFrame): JsonObject {
  const { entry, input } = call;
  const from = addressToHex(call.from);
  const value = numberToHex(entry.value);
  const gas = numberToHex(entry.gas);
  switch (typeOf(call)) {
    case "suicide":
      return { address: from, balance: value, refundAddress: addressToHex(entry.to) };
    case "create":
      return { creationMethod: entry.kind.toLowerCase(), from, gas, init: input, value };
    case "call": {
      const callType = entry.kind.toLowerCase();
      return { callType, from, gas, input, to: addressToHex(entry.to), value };
    }
  }
}

function withGas(entry: JsonObject, gasLimit: bigint, gasUsed: bigint): JsonObject {
  const { action, result } = entry;
  const gas = { gas: numberToHex(gasLimit) };
  return {
    ...entry,
    action: isJsonObject(action) ? { ...action, ...gas } : gas,
    ...(isJsonObject(result) && { result: { ...result, gasUsed: numberToHex(gasUsed) } }),
  };
}

function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
