/** Log entries about single requests, where they are enabled. */
import { isObject } from "../params/parameters.ts";

export type RequestNote = {
  /** Undefined where the transport knows none. */
  readonly correlationId: string | undefined;
  /** Undefined for one that does not exist: callers could write what they like into the log. */
  readonly method: string | undefined;
  readonly ms: number;
  /** Of the error that it was answered with. */
  readonly code: number | undefined;
  /** The hash of the transaction that it was about. */
  readonly transaction: string | undefined;
};

export type RequestTrace = {
  /** Checked for each request, so that an entry is built only where it is logged. */
  isOn(): boolean;
  note(note: RequestNote): void;
};

const HASH = /^0x[0-9a-fA-F]{64}$/;

/** The result of a submission is its hash or its receipt; other methods are asked by the hash. */
export function transactionOf(
  method: string,
  params: readonly unknown[],
  result: unknown,
): string | undefined {
  if (!method.includes("Transaction")) return undefined;
  const receiptHash = isObject(result) ? result["transactionHash"] : undefined;
  for (const value of [params[0], result, receiptHash]) {
    if (typeof value === "string" && HASH.test(value)) return value.toLowerCase();
  }
  return undefined;
}
