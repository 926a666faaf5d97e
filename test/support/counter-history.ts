/**
 * Whether a history of concurrent operations on one counter could have happened one at a time, each
 * somewhere between its call and its answer (linearizability). Every increment answers with the
 * value it made, so the order of increments is known and the check is exact: an operation that
 * ended before another began must not be later in that order.
 */
export type Operation = {
  readonly kind: "increment" | "read";
  readonly calledMs: number;
  readonly answeredMs: number;
  /** What the increment made, or the read saw. */
  readonly value: number;
};

/** An increment whose answer was never seen: it may have happened or not, at any time. */
export type OpenOperation = { readonly calledMs: number };

/** What is wrong, in words; undefined if nothing is. */
export function findAnomaly(
  operations: readonly Operation[],
  open: readonly OpenOperation[] = [],
): string | undefined {
  const increments = operations.filter(({ kind }) => kind === "increment");
  const made = new Set(increments.map(({ value }) => value));
  if (made.size !== increments.length) return "two increments made the same value";
  const highest = operations.reduce((most, { value }) => Math.max(most, value), 0);
  if (highest > increments.length + open.length) return `value ${highest} has no increment`;
  return findReversal(operations) ?? findReadFromFuture(operations, open);
}

/** Looks for an operation that began after another had ended and yet comes before it. */
function findReversal(operations: readonly Operation[]): string | undefined {
  const byCall = [...operations].sort((a, b) => a.calledMs - b.calledMs);
  const byAnswer = [...operations].sort((a, b) => a.answeredMs - b.answeredMs);
  let ended = 0;
  let highest: Operation | undefined;
  for (const operation of byCall) {
    for (; ended < byAnswer.length; ended++) {
      const earlier = byAnswer[ended];
      if (earlier === undefined || earlier.answeredMs >= operation.calledMs) break;
      if (highest === undefined || earlier.value > highest.value) highest = earlier;
    }
    if (highest === undefined) continue;
    // An increment after a value makes a higher one; a read may see the same.
    const least = operation.kind === "increment" ? highest.value + 1 : highest.value;
    if (operation.value < least) {
      return `${operation.kind} of ${operation.value} began after ${highest.kind} of ${highest.value}`;
    }
  }
  return undefined;
}

/** A read must not see a value whose increment was not called before the read ended. */
function findReadFromFuture(
  operations: readonly Operation[],
  open: readonly OpenOperation[],
): string | undefined {
  const calledMs = new Map<number, number>();
  for (const { kind, value, calledMs: atMs } of operations) {
    if (kind === "increment") calledMs.set(value, atMs);
  }
  const firstOpenMs = open.reduce((first, { calledMs: atMs }) => Math.min(first, atMs), Infinity);
  for (const { kind, value, answeredMs } of operations) {
    if (kind !== "read" || value === 0) continue;
    if ((calledMs.get(value) ?? firstOpenMs) > answeredMs)
      return `read of ${value} from the future`;
  }
  return undefined;
}
