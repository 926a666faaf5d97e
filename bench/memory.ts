/**
 * Whether nodes grow under a load that lasts. `npm run bench -- memory [--minutes N]` sends ERC-20
 * transfers as fast as they become final, and prints the memory of every process after each round.
 */
import { startNetwork } from "../test/support/processes/network-process.ts";
import type { Values } from "../test/support/script-arguments.ts";
import { LoadProcess } from "./network/load-process.ts";
import { anonymousMegabytes } from "./network/process-usage.ts";

export const PARAMETERS = {
  minutes: { kind: "number", fallback: 10, min: 0.5, isPositional: true },
} as const;
const ROUND_SECONDS = 30;
const SENDERS = 250;
const IN_FLIGHT = 1_000;
const SIGNED_PER_SECOND = 3_000;
/** Until then code is compiled and caches fill. */
const WARM_SHARE = 0.3;
/** From the first third after that to the last; the rest is the garbage of the moment. */
const GROWTH_MAX = 0.1;

export async function printMemoryBench({ minutes }: Values<typeof PARAMETERS>): Promise<number> {
  const rounds = Math.ceil((minutes * 60) / ROUND_SECONDS);
  const network = await startNetwork({});
  const load = new LoadProcess();
  const samples = new Map<string, number[]>();
  try {
    await load.prepare(network, SENDERS);
    for (let round = 1; round <= rounds; round++) {
      await load.sign("erc20", SIGNED_PER_SECOND * ROUND_SECONDS, SENDERS);
      const { result } = await load.run(
        { kind: "closed", inFlight: IN_FLIGHT, batchMax: 1 },
        ROUND_SECONDS,
      );
      const shown = Array.from(network.pids(), ([name, pid]) => {
        const megabytes = anonymousMegabytes(pid);
        samples.set(name, [...(samples.get(name) ?? []), megabytes]);
        return `${name} ${megabytes.toFixed(0)}`;
      });
      const perSecond = result.perSecond.toFixed(0);
      print(`${round}/${rounds}: ${perSecond} per second; MB: ${shown.join(", ")}`);
    }
  } finally {
    load.end();
    await network.stop();
  }
  return verdict(samples);
}

/** 1 if a process grew. */
function verdict(samples: ReadonlyMap<string, readonly number[]>): number {
  let hasGrown = false;
  for (const [name, all] of samples) {
    const warm = all.slice(Math.floor(all.length * WARM_SHARE));
    const third = Math.max(1, Math.floor(warm.length / 3));
    const early = mean(warm.slice(0, third));
    const late = mean(warm.slice(-third));
    const growth = late / early - 1;
    hasGrown ||= growth > GROWTH_MAX;
    const percent = (100 * growth).toFixed(1);
    print(`${name}: ${early.toFixed(0)} MB, later ${late.toFixed(0)} MB (${percent} %)`);
  }
  print(hasGrown ? "a process has grown" : "flat");
  return hasGrown ? 1 : 0;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
