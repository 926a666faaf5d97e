/** The calls of a transaction, one inside the other. */
import { bytesToHex, numberToHex } from "../../base/hex.ts";
import { addressToHex } from "../../chain/address.ts";
import { revertReason } from "../../chain/revert-reason.ts";
import type { CallTracerOptions } from "../../api/trace-options.ts";
import type { Fault, FrameExit } from "../../evm/tracer.ts";
import { CallTree, type TracedCallFrame } from "./call-tree.ts";
import type { ExecutionTrace, Json, TraceSetting } from "./execution-trace.ts";
import { failureText, faultText, REVERTED_TEXT } from "./failure-text.ts";

export function createCallTracer(
  { isTopOnly, hasLogs }: CallTracerOptions,
  { request, room }: TraceSetting,
): ExecutionTrace {
  const tree = new CallTree({ isTopOnly, hasLogs, depthBytes: 0 }, room);
  return {
    hooks: tree.hooks,
    result({ gasUsed }) {
      if (tree.top === undefined) return {};
      const shown = formatCall(tree.top);
      const { gasLimit } = request.transaction;
      return { ...shown, gas: numberToHex(gasLimit), gasUsed: numberToHex(gasUsed) };
    },
  };
}

function formatCall({
  entry,
  input,
  from,
  calls,
  logs,
  exit,
  fault,
}: TracedCallFrame): Readonly<Record<string, Json>> {
  const { kind, to, value, gas } = entry;
  const isCreation = kind === "CREATE" || kind === "CREATE2";
  const hasFailed = exit?.status !== "success";
  return {
    type: kind,
    from: addressToHex(from),
    ...(!(isCreation && hasFailed) && { to: addressToHex(to) }),
    ...(kind !== "STATICCALL" && { value: numberToHex(value) }),
    gas: numberToHex(gas),
    gasUsed: numberToHex(exit?.gasUsed ?? 0),
    input,
    ...(exit !== undefined && formatExit(exit, fault)),
    ...(calls.length > 0 && { calls: calls.map(formatCall) }),
    ...(logs.length > 0 && { logs }),
  };
}

function formatExit(
  { status, reason, output }: FrameExit,
  fault: Fault | undefined,
): Readonly<Record<string, Json>> {
  const shown = output.length > 0 ? { output: bytesToHex(output) } : {};
  switch (status) {
    case "success":
      return shown;
    case "revert": {
      const text = revertReason(output);
      return { ...shown, error: REVERTED_TEXT, ...(text !== undefined && { revertReason: text }) };
    }
    case "failure":
      if (fault !== undefined) return { error: faultText(fault) };
      return { error: reason === undefined ? "failed" : failureText(reason) };
    case "stopped":
      return { error: "stopped" };
  }
}
