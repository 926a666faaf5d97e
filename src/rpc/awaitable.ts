/** What is at hand is given at once; what lies behind a disk or a worker comes later. */
export type Awaitable<Value> = Value | Promise<Value>;
