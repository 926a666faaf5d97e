import type { Step } from "../../evm/tracer.ts";
import type { EvmLog } from "../../evm/world-state.ts";

const LOG0 = 0xa0;
const LOG4 = 0xa4;

/** What a LOG instruction is about to log; undefined for any other, and for one that must fail. */
export function logOfStep(step: Step): EvmLog | undefined {
  if (step.op < LOG0 || step.op > LOG4) return undefined;
  const offset = Number(step.peek(0) ?? 0n);
  const size = Number(step.peek(1) ?? 0n);
  // Each byte costs 8 gas, and memory cannot reach so far.
  if (size > step.gas || offset > Number.MAX_SAFE_INTEGER - size) return undefined;
  const data = new Uint8Array(size);
  if (size > 0) data.set(step.memory().subarray(offset, offset + size));
  const topics = Array.from({ length: step.op - LOG0 }, (_, index) => step.peek(2 + index) ?? 0n);
  return { address: step.address, topics, data };
}
