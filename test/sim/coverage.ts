/** Counts of what really happened in runs: a fault that was drawn but never bit tests nothing. */

export class Coverage {
  readonly counts = new Map<string, number>();
  readonly samples = new Map<string, number[]>();

  count(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by);
  }

  sample(name: string, value: number): void {
    const list = this.samples.get(name);
    if (list === undefined) this.samples.set(name, [value]);
    else list.push(value);
  }

  get(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  totalOf(prefix: string): number {
    let total = 0;
    for (const [name, count] of this.counts) if (name.startsWith(prefix)) total += count;
    return total;
  }

  merge(other: CoverageData): void {
    for (const [name, count] of other.counts) this.count(name, count);
    for (const [name, values] of other.samples) {
      for (const value of values) this.sample(name, value);
    }
  }

  /** As plain data, to cross from one thread to another. */
  toData(): CoverageData {
    return { counts: [...this.counts], samples: [...this.samples] };
  }
}

export type CoverageData = {
  readonly counts: readonly (readonly [string, number])[];
  readonly samples: readonly (readonly [string, readonly number[]])[];
};

/** The nearest-rank percentile, or undefined without samples. */
export function percentile(values: readonly number[], percent: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
}
