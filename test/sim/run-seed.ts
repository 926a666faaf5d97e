/** One seed, from its plan to its outcome. */
import { Cluster } from "./cluster.ts";
import type { CoverageData } from "./coverage.ts";
import { drawPlan, type Plan } from "./plan.ts";
import { Violation } from "./checkers/violation.ts";

export type Outcome = {
  readonly seed: number;
  readonly violation: { readonly invariant: string; readonly text: string } | undefined;
  readonly profile: string;
  readonly historyHash: number;
  readonly finalBlocks: number;
  readonly faults: number;
  readonly coverage: CoverageData;
  readonly lines: readonly string[];
  readonly state: string;
};

export type RunOptions = {
  readonly replicaCount?: number;
  readonly isEd25519?: boolean;
  readonly traceLines?: number;
  readonly without?: ReadonlySet<number>;
  readonly reshape?: (plan: Plan) => Plan;
};

export function runSeed(seed: number, options: RunOptions = {}): Outcome {
  const drawn = drawPlan(seed, options);
  const plan = options.reshape === undefined ? drawn : options.reshape(drawn);
  const cluster = new Cluster({
    plan,
    traceLines: options.traceLines ?? 0,
    ...(options.without === undefined ? {} : { without: options.without }),
  });
  let violation: Outcome["violation"];
  try {
    cluster.run();
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    violation = { invariant: error.invariant, text: error.message };
  }
  const { coverage } = cluster;
  coverage.count("choices tried by the ghost", cluster.checker.ghost.choices);
  // Frames that run into a cut link are one fault, however many there are: the cut.
  const faults =
    coverage.totalOf("fault: ") +
    coverage.totalOf("byzantine: ") +
    coverage.totalOf("network: frame ");
  return {
    seed,
    violation,
    profile: plan.profile,
    historyHash: cluster.trace.hash(),
    finalBlocks: cluster.finalBlocks(),
    faults,
    coverage: coverage.toData(),
    lines: cluster.trace.lines(),
    state: cluster.liveness.describe(),
  };
}
