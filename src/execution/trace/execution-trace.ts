/** A tracer that produces a result. */
import type { Tracer } from "../../evm/tracer.ts";
import type { Journal } from "../../state/journal.ts";
import type { ExecutedTransaction, TransactionRequest } from "../transaction-request.ts";

export type Json =
  string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export type ExecutionTrace = {
  readonly hooks: Tracer;
  /** The result, after the transaction. */
  result(executed: ExecutedTransaction): Json;
};

/** Made before the transaction begins: the journal has the state before it. */
export type TraceSetting = {
  readonly journal: Journal;
  readonly request: TransactionRequest;
  readonly coinbase: bigint;
  /** Counts what a result will take up. Too much ends the execution. */
  readonly room: TraceRoom;
};

/** The bytes that results may still take. */
export class TraceRoom {
  readonly limit: number;
  #left: number;

  constructor(limit: number) {
    this.limit = limit;
    this.#left = limit;
  }

  get isExceeded(): boolean {
    return this.#left < 0;
  }

  take(bytes: number): void {
    this.#left -= bytes;
  }
}
