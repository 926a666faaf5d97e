/** What is at hand is given at once; what lies behind a disk or a worker comes later. */
export type Awaitable<Value> = Value | Promise<Value>;

/** Goes on at once where the value is at hand: a turn of the queue costs more than most reads. */
export function whenThere<Value, Result>(
  value: Awaitable<Value>,
  use: (value: Value) => Awaitable<Result>,
): Awaitable<Result> {
  return value instanceof Promise ? value.then(use) : use(value);
}
