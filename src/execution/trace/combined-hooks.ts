import type { Tracer } from "../../evm/tracer.ts";

/** Several tracers as one. A hook that none of them has is absent: it would cost at every step. */
export function combineHooks(tracers: readonly Tracer[]): Tracer {
  const combined: { -readonly [Name in keyof Tracer]: Tracer[Name] } = {};
  if (tracers.some((tracer) => "onEnter" in tracer)) {
    combined.onEnter = (entry) => tracers.forEach((tracer) => tracer.onEnter?.(entry));
  }
  if (tracers.some((tracer) => "onStep" in tracer)) {
    combined.onStep = (step) => tracers.forEach((tracer) => tracer.onStep?.(step));
  }
  if (tracers.some((tracer) => "onStepEnd" in tracer)) {
    combined.onStepEnd = (cost) => tracers.forEach((tracer) => tracer.onStepEnd?.(cost));
  }
  if (tracers.some((tracer) => "onFault" in tracer)) {
    combined.onFault = (fault) => tracers.forEach((tracer) => tracer.onFault?.(fault));
  }
  if (tracers.some((tracer) => "onExit" in tracer)) {
    combined.onExit = (exit) => tracers.forEach((tracer) => tracer.onExit?.(exit));
  }
  return combined;
}
