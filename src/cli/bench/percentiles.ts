/** Of values in any order; the nearest rank. */
export function percentile(values: readonly number[], rank: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * rank))] ?? Number.NaN;
}
