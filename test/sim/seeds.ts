/** Seeds that every `npm test` runs. */

export const FIXED_SEEDS: readonly number[] = Array.from({ length: 200 }, (_, index) => index + 1);

/** What a seed found when it failed first; the schedule it drew then may since have changed. */
export const SEEDS_THAT_FOUND_BUGS: readonly { readonly seed: number; readonly bug: string }[] = [
  { seed: 297, bug: "a view entered by a certificate never timed out" },
  { seed: 452, bug: "a view change of a closed epoch left after the next one was in the log" },
  { seed: 1202, bug: "a diverged replica asked to be woken at once, again and again" },
  { seed: 2034, bug: "a replica that restarted after its vote did not count as being in the view" },
  { seed: 453, bug: "results were kept far ahead of execution while catching up" },
  { seed: 3525, bug: "three replicas in three views could not prove where they were" },
  { seed: 4219, bug: "a replica that diverged while waiting for a last vote never slept again" },
];
