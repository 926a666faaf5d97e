/**
 * `npm run sim -- --seeds 5000 [--from k] [--jobs 2] [--n 4|7|10|13] [--ed25519]` runs many seeds,
 * `--seed n` replays one with its event log, `--healthy 100000` runs without faults, `--mutants`
 * breaks one rule of the protocol after the other and must find each.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { exitCodeOf, parseScript } from "../support/script-arguments.ts";
import { runHealthy } from "./healthy-run.ts";
import { REFUTED_BY_MODEL, SIM_MUTANTS } from "./mutants.ts";
import { drawPlan } from "./plan.ts";
import { Report } from "./report.ts";
import { runSeed, type Outcome, type RunOptions } from "./run-seed.ts";
import { shrink } from "./shrink.ts";

const WORKER = path.join(import.meta.dirname, "worker.ts");
const MODEL = path.join(import.meta.dirname, "..", "model", "main.ts");
const MUTANT_SEEDS_MAX = 2_000;
const SHRUNK_MAX = 3;
const PROGRESS_EVERY = 100;

const PARAMETERS = {
  seeds: { kind: "number", fallback: 200, min: 1, isWhole: true },
  from: { kind: "number", fallback: 1, min: 0, isWhole: true },
  jobs: { kind: "number", fallback: 2, min: 1, max: 64, isWhole: true },
  n: { kind: "text", choices: ["4", "7", "10", "13"] },
  ed25519: { kind: "flag" },
  seed: { kind: "number", min: 0, isWhole: true },
  healthy: { kind: "number", min: 1, isWhole: true },
  mutants: { kind: "flag" },
  mutant: { kind: "text", choices: SIM_MUTANTS.map(({ name }) => name) },
} as const;

async function main(args: readonly string[]): Promise<number> {
  const values = parseScript("sim", PARAMETERS, args);
  const options: RunOptions = {
    isEd25519: values.ed25519,
    ...(values.n === undefined ? {} : { replicaCount: Number(values.n) }),
  };
  if (values.healthy !== undefined) return healthy(values.healthy);
  if (values.mutants || values.mutant !== undefined) return mutants(values.jobs, values.mutant);
  if (values.seed !== undefined) return replay(values.seed, options);
  return batch(values.from, values.seeds, values.jobs, options);
}

async function batch(
  from: number,
  count: number,
  jobs: number,
  options: RunOptions,
): Promise<number> {
  const report = new Report();
  const startedMs = performance.now();
  const flags = [
    ...(options.isEd25519 === true ? ["--ed25519"] : []),
    ...(options.replicaCount === undefined ? [] : ["--n", `${options.replicaCount}`]),
  ];
  const runs = Array.from({ length: jobs }, (_, job) => {
    const share = Math.ceil((count - job) / jobs);
    const args = ["--from", `${from + job}`, "--count", `${share}`, "--stride", `${jobs}`];
    return runWorker([...args, ...flags], (outcome) => {
      report.add(outcome);
      const { violation, seed } = outcome;
      if (violation !== undefined) print(`SEED=${seed} ${violation.text}`);
      if (report.seeds() % PROGRESS_EVERY === 0) print(`${report.seeds()} seeds`);
    });
  });
  const codes = await Promise.all(runs);
  print(report.toText((performance.now() - startedMs) / 1000));
  for (const { seed } of report.violations.slice(0, SHRUNK_MAX)) explain(seed, options);
  const isWhole = codes.every((code) => code === 0) && report.seeds() === count;
  return isWhole && report.violations.length === 0 ? 0 : 1;
}

function replay(seed: number, options: RunOptions): number {
  const plan = drawPlan(seed, options);
  print(JSON.stringify({ ...plan, faults: plan.faults.length }, undefined, 1));
  const outcome = runSeed(seed, { ...options, traceLines: Infinity });
  for (const line of outcome.lines) print(line);
  print(outcome.state);
  print(`SEED=${seed} history ${outcome.historyHash.toString(16)}, ${outcome.finalBlocks} blocks`);
  if (outcome.violation === undefined) {
    print("no violation");
    return 0;
  }
  explain(seed, options);
  return 1;
}

/** The shortest history of a failing seed that could be found. */
function explain(seed: number, options: RunOptions): void {
  const { violation } = runSeed(seed, options);
  if (violation === undefined) return;
  const plan = drawPlan(seed, options);
  const shrunk = shrink(seed, plan, violation.invariant, options);
  const faults = plan.faults.filter(({ id }) => !shrunk.without.has(id));
  print(`\nSEED=${seed} ${shrunk.outcome.violation?.text ?? violation.text}`);
  print(`shrunk in ${shrunk.runs} runs: ${shrunk.simplifications.join("; ")}`);
  print(`${faults.length} of ${plan.faults.length} faults remain:`);
  for (const fault of faults) print(`  ${JSON.stringify(fault)}`);
  for (const line of shrunk.outcome.lines) print(line);
  print(shrunk.outcome.state);
}

function healthy(blockCount: number): number {
  const startedMs = performance.now();
  const result = runHealthy(blockCount, print);
  const seconds = (performance.now() - startedMs) / 1000;
  const { blocks, viewChanges, fast, slow, heapMegabytes } = result;
  const [early = 0, last = 0] = [heapMegabytes[1], heapMegabytes.at(-1)];
  print(`${blocks} blocks in ${seconds.toFixed(0)} s, ${fast} fast and ${slow} slow decisions`);
  print(`view changes and complaints: ${viewChanges}`);
  print(`heap: ${early.toFixed(1)} MB at a fifth, ${last.toFixed(1)} MB at the end`);
  return viewChanges === 0 && last < 1.2 * early + 2 ? 0 : 1;
}

async function mutants(jobs: number, only: string | undefined): Promise<number> {
  const chosen = SIM_MUTANTS.filter(({ name }) => only === undefined || name === only);
  const queue = [...chosen];
  let missed = 0;
  const work = async (): Promise<void> => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const found = REFUTED_BY_MODEL.has(mutant.name)
        ? await findByModel(mutant.name)
        : ((await findBySeeds(mutant.name)) ?? (await findByModel(mutant.name)));
      if (found === undefined) missed++;
      print(`${mutant.name} (${mutant.rule}): ${found ?? "NOT FOUND"}`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  print(`${chosen.length - missed} of ${chosen.length} mutants found`);
  return missed === 0 ? 0 : 1;
}

async function findBySeeds(name: string): Promise<string | undefined> {
  let found: string | undefined;
  const args = ["--mutant", name, "--until-violation", "--count", `${MUTANT_SEEDS_MAX}`];
  await runWorker(args, ({ violation, seed }) => {
    if (violation === undefined) return;
    found = `SEED=${seed} ${violation.text.split("\n")[0] ?? ""}`;
  });
  return found;
}

async function findByModel(name: string): Promise<string | undefined> {
  const child = spawn(process.execPath, [MODEL, "--mutant", name], { stdio: "ignore" });
  const [code] = (await once(child, "close")) as [number | null];
  return code === 0 ? "refuted by the model checker" : undefined;
}

async function runWorker(
  args: readonly string[],
  onOutcome: (outcome: Outcome) => void,
): Promise<number> {
  const child = spawn(process.execPath, [WORKER, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<number>((resolve) => {
    child.on("close", (code) => resolve(code ?? 1));
  });
  for await (const line of createInterface({ input: child.stdout })) {
    onOutcome(JSON.parse(line) as Outcome);
  }
  return exited;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

process.exitCode = await exitCodeOf(main);
