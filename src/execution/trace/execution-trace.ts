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
  /** Undefined for a call, which is in no block. */
  readonly place?: TracePlace | undefined;
  /** Counts what a result will take up. Too much ends the execution. */
  readonly room: TraceRoom;
};

/** Where the transaction is in the chain. */
export type TracePlace = {
  readonly blockHash: Uint8Array;
  readonly blockNumber: bigint;
  readonly transactionHash: Uint8Array;
  readonly index: number;
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

  /** What to answer if it is exceeded by now. */
  excess(): { readonly kind: "tooLarge"; readonly limit: number } | undefined {
    return this.isExceeded ? { kind: "tooLarge", limit: this.limit } : undefined;
  }

  take(bytes: number): void {
    this.#left -= bytes;
  }
}
