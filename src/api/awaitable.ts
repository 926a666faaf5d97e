/**
 * A value that is in memory is returned at once; one that needs the disk or a worker is a promise.
 */
export type Awaitable<Value> = Value | Promise<Value>;

/** Continues synchronously where the value is in memory: a microtask costs more than most reads. */
export function whenThere<Value, Result>(
  value: Awaitable<Value>,
  use: (value: Value) => Awaitable<Result>,
): Awaitable<Result> {
  return value instanceof Promise ? value.then(use) : use(value);
}
