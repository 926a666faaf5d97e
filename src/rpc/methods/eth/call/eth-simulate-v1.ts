import type { CallFailure } from "../../../../api/call-request.ts";
import type {
  SimulatedBlock,
  SimulatedBlockRequest,
  SimulatedCallRequest,
  SimulationRequest,
} from "../../../../api/simulation.ts";
import { parseBlockTag, requireBlock, type BlockTag } from "../../../params/block-tag.ts";
import { parseBlockOverrides, parseStateOverrides } from "../../../params/call-overrides.ts";
import { callToRequest, parseCall } from "../../../params/call-parameters.ts";
import type { BlockReader, NetworkReader, Simulator } from "../../../../api/chain-reader.ts";
import { formatSimulatedBlock } from "../../../format/format-simulation.ts";
import type { Method, MethodContext } from "../../../method.ts";
import {
  assertKnownFields,
  isAbsent,
  parseArray,
  parseBoolean,
  parseObject,
  type Place,
} from "../../../params/parameters.ts";
import { callFailureToError } from "../../../format/failure-error.ts";
import { SIMULATION_CODES } from "../../../format/simulation-codes.ts";
import { INVALID_PARAMS, RpcError } from "../../../rpc-error.ts";

type Params = {
  /** Which chain the calls are for is known when they run. */
  readonly request: (chainId: bigint) => SimulationRequest;
  readonly isFull: boolean;
  readonly block: BlockTag;
};

const FIELDS: ReadonlySet<string> = new Set([
  ...["blockStateCalls", "traceTransfers", "validation", "returnFullTransactions"],
]);
const BLOCK_FIELDS: ReadonlySet<string> = new Set(["blockOverrides", "stateOverrides", "calls"]);

export const ethSimulateV1: Method<BlockReader & NetworkReader & Simulator, Params> = {
  name: "eth_simulateV1",
  paramsMax: 2,
  parse: ([payload, block], context) => {
    const fields = parseObject(payload, 0);
    assertKnownFields(fields, 0, FIELDS, context.dialect);
    const flag = (name: string): boolean =>
      isAbsent(fields[name]) ? false : parseBoolean(fields[name], `0.${name}`);
    const { simulationBlocksMax } = context.limits;
    const entries = parseArray(fields["blockStateCalls"], "0.blockStateCalls", Infinity);
    if (entries.length === 0) throw new RpcError(INVALID_PARAMS, "empty input");
    if (entries.length > simulationBlocksMax) {
      throw simulationError({ kind: "refused", code: "SIMULATION_TOO_LONG" });
    }
    const blocks = entries.map((entry, index) =>
      parseSimulatedBlock(entry, `0.blockStateCalls.${index}`, context),
    );
    return {
      request: (chainId) => ({
        blocks: blocks.map((create) => create(chainId)),
        isValidated: flag("validation"),
        hasTransferLogs: flag("traceTransfers"),
      }),
      isFull: flag("returnFullTransactions"),
      block: parseBlockTag(block, 1, context.dialect),
    };
  },
  async handle(chain, { request, isFull, block }, { dialect, caller }) {
    const base = await requireBlock(chain, block);
    const simulated = await chain.simulate(request(chain.chainId), base, caller);
    if (simulated.ok) {
      return simulated.value.map((one: SimulatedBlock) =>
        formatSimulatedBlock(one, isFull, dialect),
      );
    }
    throw simulationError(simulated.error);
  },
};

function simulationError(failure: CallFailure): RpcError {
  const { code, message, data } = callFailureToError(failure);
  const own = failure.kind === "refused" ? SIMULATION_CODES.get(failure.code) : undefined;
  return new RpcError(own ?? code, message, data);
}

function parseSimulatedBlock(
  value: unknown,
  place: Place,
  context: MethodContext,
): (chainId: bigint) => SimulatedBlockRequest {
  const fields = parseObject(value, place);
  assertKnownFields(fields, place, BLOCK_FIELDS, context.dialect);
  const { blockOverrides, stateOverrides, calls = [] } = fields;
  const { simulationCallsMax } = context.limits;
  const parsed = parseArray(calls, `${place}.calls`, simulationCallsMax).map((call, index) =>
    parseCall(call, `${place}.calls.${index}`, context),
  );
  const shared = {
    blockOverrides: parseBlockOverrides(blockOverrides, `${place}.blockOverrides`, context) ?? {},
    stateOverrides: parseStateOverrides(stateOverrides, `${place}.stateOverrides`, context),
  };
  return (chainId) => ({
    ...shared,
    calls: parsed.map((call): SimulatedCallRequest => {
      const gasMax = call.gas ?? context.limits.callGasMax;
      return {
        ...callToRequest(call, { chainId, nonce: 0n, gasMax }),
        hasNonce: call.nonce !== undefined,
        hasGas: call.gas !== undefined,
      };
    }),
  });
}
