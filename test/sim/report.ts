/** What a batch of seeds has shown, as a table. */
import { Coverage, percentile } from "./coverage.ts";
import type { Outcome } from "./run-seed.ts";

export class Report {
  readonly coverage = new Coverage();
  readonly violations: Outcome[] = [];
  #seeds = 0;
  #faults = 0;
  #blocks = 0;
  #blocksMin = Infinity;
  readonly #profiles = new Map<string, number>();

  add(outcome: Outcome): void {
    this.#seeds++;
    this.#faults += outcome.faults;
    this.#blocks += outcome.finalBlocks;
    this.#blocksMin = Math.min(this.#blocksMin, outcome.finalBlocks);
    this.#profiles.set(outcome.profile, (this.#profiles.get(outcome.profile) ?? 0) + 1);
    this.coverage.merge(outcome.coverage);
    if (outcome.violation !== undefined) this.violations.push(outcome);
  }

  seeds(): number {
    return this.#seeds;
  }

  faultsPerSeed(): number {
    return this.#faults / this.#seeds;
  }

  blocksMin(): number {
    return this.#blocksMin;
  }

  toText(elapsedSeconds: number): string {
    const { coverage } = this;
    const steps = coverage.get("steps");
    const lines = [
      `seeds ${this.#seeds}, final blocks ${this.#blocks} (fewest ${this.#blocksMin}), ` +
        `faults per seed ${this.faultsPerSeed().toFixed(1)}`,
      `steps ${steps}, ${Math.round(steps / elapsedSeconds)} per second, ` +
        `${elapsedSeconds.toFixed(1)} s`,
      `profiles: ${[...this.#profiles].map(([name, count]) => `${name} ${count}`).join(", ")}`,
      ...this.#section("faults", "fault: "),
      ...this.#section("messages", "network: "),
      ...this.#section("byzantine", "byzantine: "),
      ...this.#section("decisions", "decision: "),
      ...this.#section("notices", "notice: "),
      ...this.#section("complaints", "complaint: "),
      ...this.#section("recoveries", "recovery: "),
      ...this.#section("disks", "disk: "),
      ...this.#section("refused", "refused: "),
      ...this.#section("rejected", "rejected: "),
      `choices tried by the ghost ${coverage.get("choices tried by the ghost")}, ` +
        `transactions acknowledged ${coverage.get("transactions acknowledged")}`,
      "times in virtual milliseconds:",
      ...[...coverage.samples].map(([name, values]) => `  ${name}: ${distribution(values)}`),
      `violations ${this.violations.length}`,
    ];
    return lines.join("\n");
  }

  #section(title: string, prefix: string): readonly string[] {
    const entries = [...this.coverage.counts]
      .filter(([name]) => name.startsWith(prefix))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    if (entries.length === 0) return [];
    return [
      `${title}:`,
      ...entries.map(([name, count]) => `  ${name.slice(prefix.length)} ${count}`),
    ];
  }
}

function distribution(values: readonly number[]): string {
  const parts = [50, 99, 100].map((percent) => {
    const value = percentile(values, percent);
    return `p${percent} ${value === undefined ? "-" : value.toFixed(1)}`;
  });
  return `${parts.join(", ")} (${values.length})`;
}
