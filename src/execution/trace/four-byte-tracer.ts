/** How often each function was called, by selector and size of its arguments. */
import { bytesToHex } from "../../base/hex.ts";
import type { FrameEntry } from "../../evm/tracer.ts";
import type { ExecutionTrace, TraceSetting } from "./execution-trace.ts";

const SELECTOR_SIZE = 4;
const ENTRY_BYTES = 30;

export function createFourByteTracer({ room }: TraceSetting): ExecutionTrace {
  const counts = new Map<string, number>();
  const onEnter = ({ kind, input, isPrecompile }: FrameEntry): void => {
    const isCall = kind !== "CREATE" && kind !== "CREATE2" && kind !== "SELFDESTRUCT";
    if (!isCall || isPrecompile || input.length < SELECTOR_SIZE) return;
    const selector = bytesToHex(input.subarray(0, SELECTOR_SIZE));
    const name = `${selector}-${input.length - SELECTOR_SIZE}`;
    const count = counts.get(name) ?? 0;
    if (count === 0) room.take(ENTRY_BYTES);
    counts.set(name, count + 1);
  };
  return { hooks: { onEnter }, result: () => Object.fromEntries(counts) };
}
