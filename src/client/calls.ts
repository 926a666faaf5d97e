/** Messages that nobody signed, run on the state after any retained block, within limits. */
import { readBigEndian } from "../base/big-endian.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { Header } from "../chain/header.ts";
import type { CallFailure, CallRequest } from "../chain/call-request.ts";
import type { BlockContext } from "../evm/message.ts";
import { runCall, type CallEnvironment } from "../execution/call.ts";
import { estimateGas, type EstimateError } from "../execution/estimate-gas.ts";
import type { ChainExecutor } from "./chain-executor.ts";
import type { ChainReader } from "./chain-reader.ts";
import type { CallLimits } from "./client-options.ts";

export type CallDependencies = {
  readonly executor: ChainExecutor;
  readonly reader: ChainReader;
};

type CalledBlock = { readonly header: Header };

export class Calls {
  readonly #limits: CallLimits;
  readonly #dependencies: CallDependencies;

  constructor(limits: CallLimits, dependencies: CallDependencies) {
    this.#limits = limits;
    this.#dependencies = dependencies;
  }

  call(request: CallRequest, block: CalledBlock): Result<Uint8Array, CallFailure> {
    const environment = this.#environment(block);
    if (environment === undefined) return err({ kind: "pruned" });
    const { gasMax } = this.#limits;
    const gasLimit = lower(request.transaction.gasLimit, gasMax);
    const transaction = { ...request.transaction, gasLimit };
    const result = runCall(environment, { ...request, transaction });
    if (!result.ok) return err({ kind: "refused", ...result.error });
    const { status, output, reason } = result.value;
    switch (status) {
      case "success":
        return ok(output);
      case "revert":
        return err({ kind: "reverted", output });
      case "failure":
        return err({ kind: "failed", reason: reason ?? "OUT_OF_GAS", gasLimit });
      case "stopped":
        return err({ kind: "stopped" });
    }
  }

  estimateGas(
    request: CallRequest,
    block: CalledBlock,
    gasMax: bigint,
  ): Result<bigint, CallFailure> {
    const environment = this.#environment(block);
    if (environment === undefined) return err({ kind: "pruned" });
    const result = estimateGas(environment, request, lower(gasMax, this.#limits.gasMax));
    return result.ok ? result : err(failureOf(result.error));
  }

  #environment({ header }: CalledBlock): CallEnvironment | undefined {
    const { executor, reader } = this.#dependencies;
    const state = reader.stateReaderAt(header.number);
    if (state === undefined) return undefined;
    const endMs = performance.now() + this.#limits.timeMaxMs;
    return {
      state,
      block: this.#blockContext(header),
      rules: executor.rules,
      engine: { codes: executor.codes, shouldStop: () => performance.now() > endMs },
    };
  }

  #blockContext(header: Header): BlockContext {
    return {
      number: header.number,
      timestamp: header.timestamp,
      coinbase: header.coinbase,
      gasLimit: header.gasLimit,
      baseFee: header.baseFeePerGas,
      blobBaseFee: 1n,
      prevRandao: readBigEndian(header.mixHash, 0, 32),
      blockHash: (number) => readBigEndian(this.#dependencies.reader.hashOf(number), 0, 32),
    };
  }
}

function failureOf(error: EstimateError): CallFailure {
  return error.kind === "refused" ? { kind: "refused", ...error.reason } : error;
}

function lower(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
