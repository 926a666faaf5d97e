/** What Otterscan shows of a transaction: its calls, and the operations that move value. */
import { bytesToHex, numberToHex } from "../../base/hex.ts";
import { addressToHex } from "../../chain/address.ts";
import { CallTree, type TracedCallFrame } from "./call-tree.ts";
import type { ExecutionTrace, Json, TraceSetting } from "./execution-trace.ts";

const OPERATION = { transfer: 0, selfDestruct: 1, create: 2, create2: 3 } as const;

/** ots_traceTransaction: every call, the outermost first, with its depth. */
export function createOtterscanCalls({ room }: TraceSetting): ExecutionTrace {
  const tree = new CallTree({ isTopOnly: false, hasLogs: false, depthBytes: 0 }, room);
  return {
    hooks: tree.hooks,
    result() {
      const entries: Json[] = [];
      walk(tree.top, (call) => entries.push(formatCall(call)));
      return entries;
    },
  };
}

/**
 * ots_getInternalOperations: transfers, creations and self-destructs inside the transaction, in
 * their order. What was undone is left out: no value moved.
 */
export function createOtterscanOperations({ room }: TraceSetting): ExecutionTrace {
  const tree = new CallTree({ isTopOnly: false, hasLogs: false, depthBytes: 0 }, room);
  return {
    hooks: tree.hooks,
    result() {
      const entries: Json[] = [];
      walk(tree.top, (call) => {
        if (call.exit?.status !== "success") return false;
        const type = operationOf(call);
        if (type === undefined || call === tree.top) return true;
        const { to, value } = call.entry;
        const from = addressToHex(call.from);
        entries.push({ type, from, to: addressToHex(to), value: numberToHex(value) });
        return true;
      });
      return entries;
    },
  };
}

/** Calls inside a call for which `visit` returns false are not visited. */
function walk(call: TracedCallFrame | undefined, visit: (call: TracedCallFrame) => unknown): void {
  if (call === undefined || visit(call) === false) return;
  for (const inner of call.calls) walk(inner, visit);
}

function operationOf({ entry }: TracedCallFrame): number | undefined {
  switch (entry.kind) {
    case "SELFDESTRUCT":
      return OPERATION.selfDestruct;
    case "CREATE":
      return OPERATION.create;
    case "CREATE2":
      return OPERATION.create2;
    case "CALL":
      return entry.value > 0n ? OPERATION.transfer : undefined;
    case "CALLCODE":
    case "DELEGATECALL":
    case "STATICCALL":
      return undefined;
  }
}

function formatCall({ entry, from, input, exit }: TracedCallFrame): Json {
  const { kind, depth, to, value } = entry;
  const hasValue = kind !== "DELEGATECALL" && kind !== "STATICCALL";
  return {
    type: kind,
    depth,
    from: addressToHex(from),
    to: addressToHex(to),
    value: hasValue ? numberToHex(value) : null,
    input,
    output: bytesToHex(exit?.output ?? new Uint8Array(0)),
  };
}
