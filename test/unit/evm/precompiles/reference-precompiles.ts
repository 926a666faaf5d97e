/** The precompiles of @ethereumjs/evm behind our own interface, to compare with. */
import { Common, Hardfork, Mainnet } from "@ethereumjs/common";
import { createEVM, getActivePrecompiles, type EVM } from "@ethereumjs/evm";

export type Answer = { readonly gas: bigint; readonly output: string | undefined };

export type Reference = (address: number, input: Uint8Array) => Promise<Answer>;

const GAS_LIMIT = 1n << 62n;

export async function openReference(): Promise<Reference> {
  const common = new Common({ chain: Mainnet, hardfork: Hardfork.Prague });
  const evm: EVM = await createEVM({ common });
  const active = getActivePrecompiles(common);
  return async (address, input) => {
    const run = active.get(address.toString(16).padStart(40, "0"));
    if (run === undefined) throw new RangeError(`no precompile ${address}`);
    const result = await run({ data: input, gasLimit: GAS_LIMIT, common, _EVM: evm });
    const failed = result.exceptionError !== undefined;
    return {
      gas: result.executionGasUsed,
      output: failed ? undefined : Buffer.from(result.returnValue).toString("hex"),
    };
  };
}
