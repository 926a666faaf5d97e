/** Rules are tried until none applies (PROTOCOL §4.3), and they must come to rest. */
import { InvariantError } from "../base/invariant.ts";
import type { Core } from "./core.ts";

/** Returns whether it changed anything; then all rules are tried again. */
export type Rule = (core: Core) => boolean;

/**
 * Applies the rules in their order until none applies. A rule that applies again and again without
 * changing what it looks at would hold the event loop for ever, so passing the limit is a failure
 * that names the rules which kept applying.
 */
export function applyRules(core: Core, rules: readonly Rule[]): void {
  const applied: string[] = [];
  const appliedMax = ruleApplicationsMax(core);
  while (core.mode !== "stopped") {
    const rule = rules.find((candidate) => candidate(core));
    if (rule === undefined) return;
    applied.push(rule.name);
    if (applied.length > appliedMax) throw new InvariantError(describe(applied));
  }
}

/**
 * One input lets at most every block that is held be voted, committed and finalized once, and the
 * view change a few times: each view entered takes another ViewChange, Complaint or certificate.
 */
export function ruleApplicationsMax({ parameters, quorum }: Core): number {
  return 64 * parameters.window + 16 * quorum.replicaCount;
}

/** Only the last applications count: the first may have been legitimate. */
function describe(applied: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of applied.slice(-(applied.length >> 1))) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const named = [...counts].map(([name, count]) => `${name} (${count} times)`).join(", ");
  return `the rules do not come to rest after ${applied.length} applications: ${named}`;
}
