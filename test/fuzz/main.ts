/** `npm run fuzz -- <target> [--seconds N] [--seed S]`: random input against what must hold. */
import { parseArgs } from "node:util";

type Options = { readonly seed: number; readonly seconds: number };

/** Each target runs until its time is over and returns the exit code. */
const TARGETS: Readonly<Record<string, (options: Options) => Promise<number>>> = {
  evm: async (options) => (await import("./evm/fuzz-evm.ts")).fuzzEvmCommand(options),
  rpc: async (options) => (await import("./rpc.ts")).fuzzRpc(options),
  wire: async (options) => (await import("./wire.ts")).fuzzWire(options),
};

const USAGE = `usage: npm run fuzz -- <${Object.keys(TARGETS).join("|")}> [--seconds N] [--seed S]`;

async function main(args: readonly string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { seconds: { type: "string" }, seed: { type: "string" } },
  });
  const target = TARGETS[positionals[0] ?? ""];
  const seconds = Number(values.seconds ?? "60");
  const seed = Number(values.seed ?? String(Date.now() % 1_000_000_000));
  if (target === undefined || !(seconds > 0) || !Number.isSafeInteger(seed)) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  process.stdout.write(`SEED=${seed}\n`);
  return target({ seed, seconds });
}

process.exitCode = await main(process.argv.slice(2));
