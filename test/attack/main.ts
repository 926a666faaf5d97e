/**
 * `npm run attack`: attacks a network of real processes on this machine, one attack after the other
 * or all together, and says what an honest caller beside them saw. Ends with 1 when a promise of
 * docs/ethrpc.md (Limits) was broken.
 */
import { loadavg } from "node:os";
import { startNetwork } from "../support/processes/network-process.ts";
import { exitCodeOf, parseScript } from "../support/script-arguments.ts";
import { ATTACKS } from "./attacks.ts";
import {
  type AttackReport,
  AttackRun,
  brokenPromises,
  percentile,
  type Promises,
} from "./run-attack.ts";

const PARAMETERS = {
  attack: { kind: "text", choices: Object.keys(ATTACKS) },
  seconds: { kind: "number", fallback: 10, min: 2, max: 600, isWhole: true },
  "all-together": { kind: "flag" },
} as const;

const PROMISES: Promises = {
  finalMsMax: 1_000,
  readMsMax: 250,
  clientMegabytesMax: 600,
  replicaMegabytesMax: 400,
  unhealthyMax: 0,
  stallSecondsMax: 0,
};
const COLUMNS = ["final max", "read p99", "refused", "blocks", "stalls", "client", "replica"];
const NAME_WIDTH = 30;
const COLUMN_WIDTH = 11;

function rowOf(name: string, cells: readonly string[]): string {
  return `${name.padEnd(NAME_WIDTH)}${cells.map((cell) => cell.padStart(COLUMN_WIDTH)).join("")}`;
}

function cellsOf(report: AttackReport): string[] {
  return [
    `${Math.max(0, ...report.finalMs).toFixed(0)} ms`,
    `${percentile(report.readMs, 0.99).toFixed(0)} ms`,
    String(report.refusals.length + report.unhealthy),
    String(report.blocks),
    `${report.stallCount}/${report.stallSeconds.toFixed(1)}s`,
    `${report.clientMegabytes.toFixed(0)}>${report.clientMegabytesAfter.toFixed(0)}`,
    report.replicaMegabytes.toFixed(0),
  ];
}

/** A new one each time: what an attack left in the mempool is no part of the next. */
async function attackNewNetwork(names: readonly string[], seconds: number): Promise<AttackReport> {
  const network = await startNetwork();
  try {
    return await new AttackRun(network).run(names, seconds);
  } finally {
    await network.stop();
  }
}

async function main(args: readonly string[]): Promise<number> {
  const { attack, seconds, "all-together": isTogether } = parseScript("attack", PARAMETERS, args);
  const names = attack === undefined ? Object.keys(ATTACKS) : [attack];
  const rounds = isTogether ? [names] : names.map((name) => [name]);
  let brokenCount = 0;
  process.stdout.write(`${rowOf("attack", COLUMNS)}   load\n`);
  for (const round of [[], ...rounds]) {
    const name = round.length === 0 ? "none" : isTogether ? "all together" : round.join(" ");
    const report = await attackNewNetwork(round, seconds);
    const load = loadavg()[0]?.toFixed(1) ?? "";
    process.stdout.write(`${rowOf(name, cellsOf(report))}   ${load}\n`);
    for (const broken of brokenPromises(report, PROMISES)) {
      process.stdout.write(`    BROKEN ${broken}\n`);
      brokenCount += 1;
    }
  }
  process.stdout.write(brokenCount === 0 ? "all promises held\n" : `${brokenCount} broken\n`);
  return brokenCount === 0 ? 0 : 1;
}

process.exitCode = await exitCodeOf(main);
