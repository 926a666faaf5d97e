/** Upper bounds of histograms. */

/** From a quarter of a millisecond to ten seconds: a sync of the disk as well as a slow call. */
export const SECONDS: readonly number[] = [
  ...[0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05],
  ...[0.1, 0.25, 0.5, 1, 2.5, 5, 10],
];

export const TRANSACTION_COUNTS: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000],
];
