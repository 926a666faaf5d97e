/** Runs one bound, or one mutant, and says what came of it. */
import { BOUNDS, type BoundName, type Deviation } from "./bound.ts";
import {
  ALL_INVARIANTS,
  Explorer,
  type Exploration,
  type Invariant,
  type Settings,
} from "./explorer.ts";
import { traceTo } from "./trace.ts";

export type Verdict = Omit<Exploration, "violation"> & {
  readonly bound: string;
  readonly seconds: number;
  readonly broken: Invariant | undefined;
  /** Empty when nothing is broken. */
  readonly trace: readonly string[];
};

/** The rules as they are: no invariant may break. */
export function checkBound(name: BoundName): Verdict {
  return check(name, { deviation: "none", invariants: ALL_INVARIANTS, isReduced: true });
}

/** A broken rule: looks for a fork and nothing less. */
export function refute(name: BoundName, deviation: Deviation): Verdict {
  return check(name, { deviation, invariants: ["agreement"], isReduced: false });
}

function check(name: BoundName, settings: Settings): Verdict {
  const startedMs = performance.now();
  const explorer = new Explorer(BOUNDS[name], settings);
  const { violation, ...figures } = explorer.run();
  return {
    ...figures,
    bound: BOUNDS[name].name,
    seconds: (performance.now() - startedMs) / 1000,
    broken: violation?.invariant,
    trace: violation === undefined ? [] : traceTo(explorer, violation.position),
  };
}
