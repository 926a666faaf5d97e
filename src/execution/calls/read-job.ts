/**
 * Long-running reads of the state: each kind is a function of plain data, so that it runs on the
 * main thread and in a worker alike.
 */
import { err, ok, type Result } from "../../base/result.ts";
import type { CallFailure, CallRequest } from "../../api/call-request.ts";
import type { Header } from "../../chain/header.ts";
import type { SimulatedBlock } from "../../api/simulation.ts";
import type { AccessList } from "../../chain/transaction.ts";
import type { StateProof } from "../../state/trie/account-proof.ts";
import { runCall } from "./call.ts";
import { createAccessList } from "./create-access-list.ts";
import { estimateGas, type EstimateError } from "./estimate-gas.ts";
import { callEnvironment, type ReadBounds, type ReadSource } from "./read-environment.ts";
import { simulate, type Simulation } from "./simulate.ts";
import {
  traceCall,
  traceEntries,
  traceTransactions,
  type TracedBlock,
  type TracedCall,
} from "../trace/trace-transactions.ts";
import type { ExecutedTransaction } from "../transaction-request.ts";

type CallParams = { readonly request: CallRequest; readonly header: Header };

/** By kind: the arguments. */
export type ReadParams = {
  readonly call: CallParams;
  readonly estimateGas: CallParams;
  readonly accessList: CallParams;
  readonly traceCall: TracedCall;
  readonly traceTransactions: TracedBlock;
  readonly traceEntries: TracedBlock;
  readonly simulation: Simulation;
  readonly proof: {
    readonly number: bigint;
    readonly address: bigint;
    readonly slots: readonly bigint[];
  };
};

/** By kind: the result. */
export type ReadResults = {
  readonly call: Result<Uint8Array, CallFailure>;
  readonly estimateGas: Result<bigint, CallFailure>;
  readonly accessList: Result<AccessListOutcome, CallFailure>;
  /** JSON. */
  readonly traceCall: Result<string, CallFailure>;
  readonly traceTransactions: Result<readonly string[], CallFailure>;
  readonly traceEntries: Result<readonly string[], CallFailure>;
  readonly simulation: Result<readonly SimulatedBlock[], CallFailure>;
  readonly proof: Result<StateProof, CallFailure>;
};

export type AccessListOutcome = {
  readonly accessList: AccessList;
  readonly gasUsed: bigint;
  /** How the run with that list failed, if it did. */
  readonly failure: CallFailure | undefined;
};

export type ReadKind = keyof ReadParams;

export function runReadJob<Kind extends ReadKind>(
  kind: Kind,
  params: ReadParams[Kind],
  source: ReadSource,
  bounds: ReadBounds,
): ReadResults[Kind] {
  return HANDLERS[kind](params, source, bounds);
}

const HANDLERS: {
  readonly [Kind in ReadKind]: (
    params: ReadParams[Kind],
    source: ReadSource,
    bounds: ReadBounds,
  ) => ReadResults[Kind];
} = {
  call({ request, header }, source, bounds) {
    const environment = callEnvironment(source, bounds, header, request);
    const bounded = withGasLimit(request, bounds.gasMax);
    const result = runCall(environment, bounded);
    if (!result.ok) return err({ kind: "refused", ...result.error });
    const failure = failureOf(result.value, bounded.transaction.gasLimit);
    return failure === undefined ? ok(result.value.output) : err(failure);
  },

  estimateGas({ request, header }, source, bounds) {
    const environment = callEnvironment(source, bounds, header, request);
    const { transaction } = withGasLimit(request, bounds.gasMax);
    const result = estimateGas(environment, request, transaction.gasLimit);
    return result.ok ? result : err(estimateFailure(result.error));
  },

  accessList({ request, header }, source, bounds) {
    const environment = callEnvironment(source, bounds, header, request);
    const bounded = withGasLimit(request, bounds.gasMax);
    const result = createAccessList(environment, bounded);
    if (!result.ok) return err({ kind: "refused", ...result.error });
    const { accessList, execution } = result.value;
    const failure = failureOf(execution, bounded.transaction.gasLimit);
    if (failure?.kind === "stopped") return err(failure);
    return ok({ accessList, gasUsed: execution.gasUsed, failure });
  },

  traceCall: ({ request, header, options }, source, bounds) =>
    traceCall({ request: withGasLimit(request, bounds.gasMax), header, options }, source, bounds),

  traceTransactions: (block, source, bounds) => traceTransactions(block, source, bounds),

  traceEntries: (block, source, bounds) => traceEntries(block, source, bounds),

  simulation: (simulation, source, bounds) => simulate(simulation, source, bounds),

  proof: ({ number, address, slots }, source) => ok(source.prove(number, address, slots)),
};

function withGasLimit(request: CallRequest, gasMax: bigint): CallRequest {
  const { transaction } = request;
  if (transaction.gasLimit <= gasMax) return request;
  return { ...request, transaction: { ...transaction, gasLimit: gasMax } };
}

function failureOf(
  { status, output, reason }: ExecutedTransaction,
  gasLimit: bigint,
): CallFailure | undefined {
  switch (status) {
    case "success":
      return undefined;
    case "revert":
      return { kind: "reverted", output };
    case "failure":
      return { kind: "failed", reason: reason ?? "OUT_OF_GAS", gasLimit };
    case "stopped":
      return { kind: "stopped" };
  }
}

function estimateFailure(error: EstimateError): CallFailure {
  return error.kind === "refused" ? { kind: "refused", ...error.reason } : error;
}
