/** `npm run fuzz -- <target> [--seconds N] [--seed S]`: random input against what must hold. */
import { exitCodeOf, parseScript, UsageError, usageOf } from "../support/script-arguments.ts";

type Options = { readonly seed: number; readonly seconds: number };

/** Each target runs until its time is over and returns the exit code. */
const TARGETS: Readonly<Record<string, (options: Options) => Promise<number>>> = {
  evm: async (options) => (await import("./evm/fuzz-evm.ts")).fuzzEvmCommand(options),
  rpc: async (options) => (await import("./rpc.ts")).fuzzRpc(options),
  wire: async (options) => (await import("./wire.ts")).fuzzWire(options),
};

const PARAMETERS = {
  target: { kind: "text", choices: Object.keys(TARGETS), isPositional: true },
  seconds: { kind: "number", fallback: 60, min: 0.001 },
  seed: { kind: "number", min: 0, isWhole: true },
} as const;

async function main(args: readonly string[]): Promise<number> {
  const values = parseScript("fuzz", PARAMETERS, args);
  const { seconds, seed = Date.now() % 1_000_000_000 } = values;
  const target = TARGETS[values.target ?? ""];
  if (target === undefined) throw new UsageError(usageOf("fuzz", PARAMETERS));
  process.stdout.write(`SEED=${seed}\n`);
  return target({ seed, seconds });
}

process.exitCode = await exitCodeOf(main);
