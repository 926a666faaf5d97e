/** The rule sets this node knows, oldest first. The order is the order of activation. */
export const FORKS = ["cancun", "prague"] as const;

export type Fork = (typeof FORKS)[number];

/** Whether the rules that came with `since` hold under `fork`. */
export function isActive(since: Fork, fork: Fork): boolean {
  return FORKS.indexOf(fork) >= FORKS.indexOf(since);
}
