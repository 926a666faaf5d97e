/**
 * `npm run cluster`: a real Kubernetes on this machine, the product's image from its Dockerfile in a
 * registry with a password, and the chart installed, broken, upgraded and removed on it. Needs root
 * and the programs of test/cluster/kubernetes/build.sh. Flags: --build builds those first,
 * --keep-image takes the image of the last run, --keep leaves the cluster up until Ctrl-C,
 * --carried-over runs the old product's guide alone, --secured the access to ethrpc alone.
 * QUORATE_CLUSTER_ELASTICSEARCH names a store in the cluster's network that the logs go to.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { exitCodeOf, parseScript } from "../support/script-arguments.ts";
import { linkTools, runAcceptance } from "./acceptance.ts";
import { runCarriedOver } from "./carried-over.ts";
import { serveClusterNames } from "./cluster-dns.ts";
import { buildImage } from "./image-builder.ts";
import { IMAGE_ARCHIVE, KUBECONFIG, LOGS, NAMESPACE, VERSION } from "./machine.ts";
import { startRegistry, type Registry } from "./registry.ts";
import { kubectl } from "./release.ts";
import { installPackages, whyNotHere } from "./requirements.ts";
import { lockRun, otherRun, unlockRun } from "./run-lock.ts";
import { runSecured } from "./secured.ts";
import { cleanMachine, makeNamespace, SingleNodeCluster } from "./single-node-cluster.ts";
import { inNamespace, run } from "./shell.ts";
import { StepTable } from "./step-table.ts";

const BUILD_TIMEOUT_MS = 3 * 3_600_000;
const MEGABYTE = 1_000_000;

const PARAMETERS = {
  build: { kind: "flag" },
  "keep-image": { kind: "flag" },
  keep: { kind: "flag" },
  "carried-over": { kind: "flag" },
  // Those by which it starts itself again.
  inside: { kind: "flag" },
  dns: { kind: "flag" },
} as const;

const flags = new Set(process.argv.slice(2));
process.exitCode = await exitCodeOf((args) => {
  const { dns, inside: isInside } = parseScript("cluster", PARAMETERS, args);
  if (!dns) return isInside ? inside() : outside();
  // Serves until it is stopped.
  serveClusterNames();
  return 0;
});

/** In the network of the machine: what needs package registries. */
async function outside(): Promise<number> {
  if (flags.has("--build")) {
    const script = path.join(import.meta.dirname, "kubernetes/build.sh");
    run(script, [], { timeoutMs: BUILD_TIMEOUT_MS });
  }
  const reason = whyNotHere();
  if (reason !== undefined) {
    console.log(`npm run cluster is left out: ${reason}`);
    return process.env["CI"] === "true" ? 0 : 1;
  }
  const other = otherRun();
  if (other !== undefined) {
    console.log(`another run (process ${other}) has the cluster of this machine`);
    return 1;
  }
  lockRun();
  installPackages();
  if (!flags.has("--keep-image") || !existsSync(IMAGE_ARCHIVE)) {
    const startedMs = performance.now();
    const size = await buildImage();
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
    console.log(`image of ${(size / MEGABYTE).toFixed(0)} MB built in ${seconds} s`);
  }
  cleanMachine();
  makeNamespace();
  try {
    const program = [process.execPath, import.meta.filename, "--inside", ...flags];
    const [command = "", ...args] = inNamespace(program);
    return spawnSync(command, args, { stdio: "inherit" }).status ?? 1;
  } finally {
    cleanMachine();
    unlockRun();
  }
}

/** In the network of the cluster, which has no way out. */
async function inside(): Promise<number> {
  const table = new StepTable();
  const cluster = new SingleNodeCluster();
  let registry: Registry | undefined;
  try {
    await table.step("Kubernetes up", async () => {
      await cluster.start(kubectl);
      const { serverVersion } = JSON.parse(kubectl(["version", "-o", "json"])) as {
        readonly serverVersion: { readonly gitVersion: string };
      };
      return serverVersion.gitVersion;
    });
    await table.step("image in a registry with a password", async () => {
      registry = await startRegistry();
      registry.push(VERSION);
      return `quorate:${VERSION}`;
    });
    if (registry !== undefined) {
      linkTools();
      const isWhole = !flags.has("--carried-over") && !flags.has("--secured");
      if (isWhole) await runAcceptance(table, registry);
      if (isWhole || flags.has("--secured")) await runSecured(table, registry);
      if (isWhole || flags.has("--carried-over")) await runCarriedOver(table, registry);
    }
    if (table.steps.some(({ isPassed }) => !isPassed)) showCluster();
  } catch (error) {
    console.error(error);
    showCluster();
  } finally {
    if (flags.has("--keep")) await untilInterrupted();
    await registry?.stop();
    await table.step("cluster down", async () => {
      await cluster.stop();
      return "";
    });
  }
  console.log(`\n${table.text()}\n`);
  const failed = table.steps.filter(({ isPassed }) => !isPassed).length;
  console.log(`${table.steps.length - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

/** What an operator would look at first. */
function showCluster(): void {
  for (const args of [
    ["get", "pods,pvc,jobs", "-A", "-o", "wide"],
    ["get", "events", "-A", "--sort-by=.lastTimestamp"],
  ]) {
    try {
      console.error(kubectl(args).split("\n").slice(-40).join("\n"));
    } catch (error) {
      console.error(String(error));
    }
  }
  console.error(`logs of the cluster's programs: ${LOGS}`);
}

async function untilInterrupted(): Promise<void> {
  console.log(`KUBECONFIG=${KUBECONFIG}, in the network namespace ${NAMESPACE}. Ctrl-C ends it.`);
  await new Promise<void>((resolve) => process.once("SIGINT", () => resolve()));
}
