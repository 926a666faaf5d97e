/** Makes a failing seed smaller: as few faults as still break the same invariant. */
import type { Plan } from "./plan.ts";
import { runSeed, type Outcome, type RunOptions } from "./run-seed.ts";

const RUNS_MAX = 80;

export type Shrunk = {
  readonly outcome: Outcome;
  readonly without: ReadonlySet<number>;
  /** What was switched off besides single faults. */
  readonly simplifications: readonly string[];
  readonly runs: number;
};

type Simplification = { readonly name: string; readonly apply: (plan: Plan) => Plan };

const SIMPLIFICATIONS: readonly Simplification[] = [
  {
    name: "no lost, duplicated, reordered or corrupted frames",
    apply: (plan) => ({
      ...plan,
      quality: { ...plan.quality, loss: 0, duplication: 0, reordering: 0, corruption: 0 },
    }),
  },
  { name: "no jitter", apply: (plan) => ({ ...plan, quality: { ...plan.quality, jitterUs: 0 } }) },
  { name: "equal clocks", apply: (plan) => ({ ...plan, wallSkewMaxMs: 0 }) },
  { name: "one client", apply: (plan) => ({ ...plan, clientCount: 1 }) },
  { name: "honest after healing", apply: (plan) => ({ ...plan, byzantineAfterHealing: false }) },
  {
    name: "Byzantine replicas with half of their behaviours",
    apply: (plan) => ({
      ...plan,
      byzantine: plan.byzantine.map(({ replica, behaviours }) => ({
        replica,
        behaviours: behaviours.slice(0, Math.ceil(behaviours.length / 2)),
      })),
    }),
  },
];

export function shrink(seed: number, plan: Plan, invariant: string, options: RunOptions): Shrunk {
  let runs = 0;
  let without: ReadonlySet<number> = new Set();
  const kept: Simplification[] = [];
  const attempt = (
    without: ReadonlySet<number>,
    steps: readonly Simplification[],
    traceLines: number,
  ): Outcome => {
    runs++;
    const reshape = (drawn: Plan): Plan => steps.reduce((shape, { apply }) => apply(shape), drawn);
    return runSeed(seed, { ...options, without, reshape, traceLines });
  };
  const stillFails = (tried: ReadonlySet<number>, steps: readonly Simplification[]): boolean => {
    return runs < RUNS_MAX && attempt(tried, steps, 0).violation?.invariant === invariant;
  };
  for (const step of SIMPLIFICATIONS) {
    if (stillFails(without, [...kept, step])) kept.push(step);
  }
  const ids = plan.faults.map(({ id }) => id);
  for (let size = Math.ceil(ids.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < ids.length; at += size) {
      const dropped = ids.slice(at, at + size).filter((id) => !without.has(id));
      if (dropped.length === 0) continue;
      const tried = new Set([...without, ...dropped]);
      if (stillFails(tried, kept)) without = tried;
    }
  }
  const simplifications = kept.map(({ name }) => name);
  return { outcome: attempt(without, kept, 250), without, simplifications, runs };
}
