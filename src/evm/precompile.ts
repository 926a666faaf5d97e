/**
 * A contract that the protocol itself provides. `gasCost` is asked first and may be Infinity for an
 * input no gas can pay for; `run` is called only when the cost was paid, and returns undefined if
 * the call fails (which burns all gas given to it). Neither may keep or change the input, which is
 * often a view of the caller's memory.
 */
export type Precompile = {
  readonly name: string;
  gasCost(input: Uint8Array): number;
  run(input: Uint8Array): Uint8Array | undefined;
};
