import { isDelegation } from "../../../chain/delegation.ts";
import type { StateAtReader, TraceReader } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";
import { isObject, parseAddressParameter } from "../../params/parameters.ts";
import { firstBlockWhere } from "../first-block-where.ts";
import { PARITY_CALLS, traceBlockCalls } from "../parity-trace.ts";

/**
 * Code that outlived its transaction stays, so the block that created it is found by halving; that
 * block is run once more. Null for an account without code and for a contract of the genesis.
 */
export const otsGetContractCreator: Method<StateAtReader & TraceReader, bigint> = {
  name: "ots_getContractCreator",
  paramsMax: 1,
  parse: ([address]) => parseAddressParameter(address, 0),
  async handle(chain, address, { caller }) {
    const hasCode = async (number: bigint): Promise<boolean> => {
      const block = await chain.blockByNumber(number);
      const state = block === undefined ? undefined : await chain.stateAt(block);
      if (state === undefined) return false;
      const code = await state.code(address);
      return code.length > 0 && !isDelegation(code);
    };
    const block = await firstBlockWhere(chain, hasCode);
    if (block === undefined) return null;
    const options = { ...PARITY_CALLS, filter: { from: [], to: [address] } };
    for (const text of await traceBlockCalls(chain, block, options, caller)) {
      const trace: unknown = JSON.parse(text);
      if (!isObject(trace) || trace["type"] !== "create" || "error" in trace) continue;
      const { action, transactionHash } = trace;
      return { hash: transactionHash, creator: isObject(action) ? action["from"] : null };
    }
    return null;
  },
};
