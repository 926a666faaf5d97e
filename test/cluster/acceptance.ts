/** What an operator does with a network, for real and one after the other. */
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isRecord } from "../../src/base/parse-json.ts";
import { kubernetesTool } from "../support/processes/kubernetes-tools.ts";
import { KUBECONFIG, REGISTRY, ROOT, RUN } from "./machine.ts";
import { kubectl, Release, type Credentials } from "./release.ts";
import { run, waitFor } from "./shell.ts";
import { Account, sendUntilTaken, SteadyLoad, waitForReceipt } from "./steady-load.ts";
import type { StepTable } from "./step-table.ts";

const RECEIPT_TIMEOUT_MS = 60_000;
const PARTITION_MS = 10_000;
const LOAD_ACCOUNTS = 10;
const LOAD_INTERVAL_MS = 100;
const ZERO_HASH = `0x${"00".repeat(32)}`;
const KEPT = ["admin", "keys", "network"];

export async function runAcceptance(table: StepTable, credentials: Credentials): Promise<void> {
  const demo = new Release("demo", "default", "helm-4", credentials);
  await table.step("quorate doctor finds the cluster fit", () => examine(credentials));
  await table.step("a wrong password gets no image", () => lockedOut(credentials));
  const isInstalled = await table.step("install to ready line and readiness", () => install(demo));
  if (!isInstalled) throw new Error("without a network there is nothing to try");
  await table.step("sample call through the service", () => sampleCall(demo));
  await table.step("helm test", () => helmTest(demo));
  await table.step("pods: not root, read-only, one key each", () => inspectPods(demo));
  await table.step("kill of the leader's process", () => killLeader(demo));
  await table.step("delete of a pod: same data", () => deletePod(demo));
  await table.step("partition of one replica", () => partition(demo));
  await table.step("a replica that lost its volume rejoins", () => loseVolume(demo));
  await table.step("upgrade under load, nothing lost", () => upgradeUnderLoad(demo));
  await table.step("upgrade that changes genesis is refused", () => refuseGenesis(demo));
  await table.step("second network in a namespace is refused", () => {
    const second = new Release("second", "default", "helm-3", credentials);
    assert.match(second.refusal("install"), /has a network already/);
    return "says so";
  });
  await table.step("second install in another namespace", () => installSecond(credentials));
  let before = await chainOf(demo);
  await table.step("uninstall leaves volumes and keys only", async () => {
    before = await chainOf(demo);
    return uninstall(demo);
  });
  await table.step("re-install on the old volumes", () => reinstall(demo, before));
}

type Chain = {
  readonly genesis: string;
  readonly blockNumber: number;
  readonly secrets: string;
  readonly transaction: string;
};

/** helm and kubectl under their own names, for what a shell runs. */
export function linkTools(): void {
  const folder = path.join(RUN, "tools");
  mkdirSync(folder, { recursive: true });
  symlinkSync(kubernetesTool("helm-4"), path.join(folder, "helm"));
  symlinkSync(kubernetesTool("kubectl"), path.join(folder, "kubectl"));
}

/** With the tools of this run on the path. */
function examine({ username, password }: Credentials): string {
  const environment = {
    PATH: `${path.join(RUN, "tools")}:${process.env["PATH"] ?? ""}`,
    KUBECONFIG,
    QUORATE_REGISTRY_PASSWORD: password,
  };
  const said = run(
    process.execPath,
    [
      ...[path.join(ROOT, "bin/quorate.js"), "doctor", "--target", "cluster", "--json"],
      ...["--registry", `http://${REGISTRY}`, "--registry-username", username],
    ],
    { environment },
  );
  const { findings } = JSON.parse(said) as { findings: { subject: string; verdict: string }[] };
  const doubts = findings.filter(({ verdict }) => verdict !== "good");
  assert.deepEqual(doubts, [], "nothing is doubtful");
  return `${findings.length} findings, all good`;
}

/** Before the image is on the node: later the image would not be pulled. */
async function lockedOut({ username }: Credentials): Promise<string> {
  const locked = new Release("locked", "locked", "helm-3", { username, password: "wrong" });
  locked.refusal("install", "--create-namespace", "--timeout", "10s");
  const reason = await waitFor("the pull to be refused", 30_000, () => {
    const events = locked.kubectl("get", "events", "-o", "jsonpath={.items[*].message}");
    return /401 Unauthorized|authentication required/.exec(events)?.[0];
  });
  kubectl(["delete", "namespace", locked.namespace, "--wait=true"]);
  return reason;
}

async function install(release: Release): Promise<string> {
  const startedMs = performance.now();
  release.install();
  const hookMs = performance.now() - startedMs;
  await release.waitUntilReady();
  const seconds = (performance.now() - startedMs) / 1000;
  return `ready after ${seconds.toFixed(1)} s, of which helm ${(hookMs / 1000).toFixed(1)} s`;
}

async function sampleCall(release: Release): Promise<string> {
  const block = await release.caller()("eth_getBlockByNumber", ["0x00", true]);
  assert.ok(isRecord(block), "a block");
  assert.equal(block["number"], "0x0");
  assert.equal(block["parentHash"], ZERO_HASH);
  assert.equal(typeof block["size"], "number");
  assert.equal(Number(block["timestamp"]), Date.UTC(2022, 11, 2, 0, 1, 0) / 1000);
  const transactions = block["transactions"];
  assert.ok(Array.isArray(transactions) && transactions.length === 1, "one transaction");
  return `block 0 ${String(block["hash"]).slice(0, 10)}`;
}

function helmTest(release: Release): string {
  const said = release.helm(["test", release.name]);
  assert.match(said, /Phase:\s+Succeeded/);
  return "genesis block, token deployed and transferred";
}

function inspectPods(release: Release): string {
  const pod = release.replica(1);
  const inside = (script: string): string =>
    release.kubectl("exec", pod, "--", "sh", "-c", script).trim();
  assert.equal(inside("id -u"), "10001");
  assert.equal(inside("touch /app/x 2>/dev/null && echo written || echo refused"), "refused");
  assert.equal(inside("ls /run/quorate/key"), "node.key");
  assert.equal(inside("test -s /app/sbom.cdx.json && echo there"), "there");
  const token = "/var/run/secrets/kubernetes.io";
  assert.equal(inside(`test -e ${token} && echo there || echo none`), "none");
  const names = release.kubectl("get", "pods", "-o", "name");
  assert.match(names, /pod\/demo-client-0-clientservice-[a-z0-9]+-[a-z0-9]+\n/);
  return "uid 10001, no token";
}

async function killLeader(release: Release): Promise<string> {
  const call = release.caller();
  await waitForReceipt(call, await sendUntilTaken(call, new Account().next()), RECEIPT_TIMEOUT_MS);
  const { leader } = await release.status();
  const process_ = release.processOf(release.replica(leader));
  assert.ok(process_ > 1, "the leader has a process");
  process.kill(process_, "SIGKILL");
  const startedMs = performance.now();
  const hash = await sendUntilTaken(call, new Account().next());
  await waitForReceipt(call, hash, RECEIPT_TIMEOUT_MS);
  const recoveryMs = performance.now() - startedMs;
  await waitForAll(release);
  const now = await release.status();
  const took = (recoveryMs / 1000).toFixed(2);
  return `next final block after ${took} s; leader ${leader} -> ${now.leader}`;
}

async function deletePod(release: Release): Promise<string> {
  const pod = release.replica(2);
  const before = await release.status();
  const claim = release.podField(pod, "{.spec.volumes[0].persistentVolumeClaim.claimName}");
  const uid = release.podField(pod, "{.metadata.uid}");
  release.kubectl("delete", "pod", pod, "--wait=true");
  const startedMs = performance.now();
  await waitFor("the new pod", 120_000, () =>
    release.isReady(pod) && release.podField(pod, "{.metadata.uid}") !== uid ? true : undefined,
  );
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const field = "{.spec.volumes[0].persistentVolumeClaim.claimName}";
  assert.equal(release.podField(pod, field), claim);
  // It resumed from its log: a replica without data would be an observer, or begin anew.
  const log = release.kubectl("logs", pod, "--tail=-1");
  assert.match(log, /"start":"resume"/);
  const height = /"finalHeight":"?(\d+)/.exec(log)?.[1];
  assert.ok(Number(height) > 0 && Number(height) <= before.finalHeight, `height ${height ?? "?"}`);
  await waitForAll(release);
  return `ready ${seconds} s after it was gone, from height ${height ?? "?"}`;
}

async function partition(release: Release): Promise<string> {
  const call = release.caller();
  const { leader } = await release.status();
  const cut = (leader + 1) % 4;
  const address = release.podField(release.replica(cut), "{.status.podIP}");
  const rules = ["-s", "-d"].map((side) => ["FORWARD", side, address, "-j", "DROP"]);
  for (const rule of rules) run("iptables", ["-I", ...rule]);
  const taken: string[] = [];
  try {
    const endMs = performance.now() + PARTITION_MS;
    while (performance.now() < endMs) {
      const hash = await sendUntilTaken(call, new Account().next());
      await waitForReceipt(call, hash, RECEIPT_TIMEOUT_MS);
      taken.push(hash);
      await sleep(LOAD_INTERVAL_MS);
    }
    // Asked from its own machine, from where it can still be reached.
    const own = await (await fetch(`http://${address}:9545/status`)).json();
    assert.ok(isRecord(own));
    const { finalHeight } = await release.status();
    assert.ok(Number(own["finalHeight"]) < finalHeight, "the replica was really cut off");
  } finally {
    for (const rule of rules) run("iptables", ["-D", ...rule]);
  }
  const healedMs = performance.now();
  const { finalHeight } = await release.status();
  await waitFor("the replica to catch up", 60_000, async () => {
    const { isUp, finalHeight: height } = await replicaOf(release, cut);
    return isUp === true && Number(height) >= finalHeight ? true : undefined;
  });
  const seconds = ((performance.now() - healedMs) / 1000).toFixed(1);
  await waitForAll(release);
  return `${taken.length} final meanwhile; caught up in ${seconds} s`;
}

async function loseVolume(release: Release): Promise<string> {
  const { leader } = await release.status();
  const lost = (leader + 1) % 4;
  const pod = release.replica(lost);
  const claim = `data-${pod}`;
  const field = "jsonpath={.spec.volumeName}";
  const volume = release.kubectl("get", "pvc", claim, "-o", field);
  const startedMs = performance.now();
  release.kubectl("delete", "pvc", claim, "--wait=false");
  release.kubectl("delete", "pod", pod);
  await waitFor("a new volume", 60_000, () => {
    const now = release.kubectl("get", "pvc", claim, "-o", field);
    return now !== "" && now !== volume ? true : undefined;
  });
  const call = release.caller();
  await waitFor("the replica to be let in again", 120_000, async () => {
    // A network without transactions makes no blocks, and its members are changed in one.
    await sendUntilTaken(call, new Account().next());
    return release.isReady(pod) ? true : undefined;
  });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  await waitForAll(release);
  const { epoch, finalHeight } = await replicaOf(release, lost);
  return `active after ${seconds} s, epoch ${String(epoch)}, height ${String(finalHeight)}`;
}

async function upgradeUnderLoad(release: Release): Promise<string> {
  const before = await chainOf(release);
  const load = new SteadyLoad(release.url(), LOAD_ACCOUNTS, LOAD_INTERVAL_MS);
  await sleep(2_000);
  const startedMs = performance.now();
  // Another setting of both configurations: every pod is replaced.
  release.upgrade("--set", "log.level=debug");
  await sleep(1_000);
  await release.waitUntilReady();
  const seconds = (performance.now() - startedMs) / 1000;
  await sleep(1_000);
  const taken = await load.stop();
  const call = release.caller();
  for (const hash of taken) await waitForReceipt(call, hash, RECEIPT_TIMEOUT_MS);
  const after = await chainOf(release);
  assert.equal(after.genesis, before.genesis, "the genesis block is the same");
  assert.equal(after.secrets, before.secrets, "the keys are the same");
  assert.ok(after.blockNumber > before.blockNumber, "the chain goes on");
  return `${taken.length} taken, ${taken.length} final; replaced in ${seconds.toFixed(0)} s`;
}

function refuseGenesis(release: Release): string {
  const byHelm = release.refusal("upgrade", "--set", "genesisBlock.config.chainId=6000");
  assert.match(byHelm, /chainId: the network has 5000, this asks for 6000/);
  const account = `0x${"11".repeat(20)}`;
  release.refusal("upgrade", "--set-string", `genesisBlock.alloc[0].address=${account}`);
  const byJob = release.kubectl("logs", `job/${release.name}-init`);
  assert.match(byJob, /CLUSTER_GENESIS_CHANGED.*genesisBlock\.alloc/);
  // The next upgrade with the right values works.
  release.upgrade("--set", "log.level=debug");
  return "by helm and by the init Job";
}

async function installSecond(credentials: Credentials): Promise<string> {
  const other = new Release("other", "other", "helm-3", credentials);
  const folder = path.join(RUN, "keys");
  run(process.execPath, [path.join(ROOT, "bin/quorate.js"), "keys", "create", "--out", folder]);
  kubectl(["create", "namespace", other.namespace]);
  other.kubectl("create", "secret", "generic", "ours", `--from-file=${folder}`);
  const startedMs = performance.now();
  const settings = [
    "genesisBlock.config.chainId=5001",
    "keys.existingSecret=ours",
    "global.ethPermissioningWriteEnabled=true",
  ];
  other.install(...settings.flatMap((setting) => ["--set", setting]));
  await other.waitUntilReady();
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const call = other.caller();
  assert.equal(await call("eth_chainId", []), "0x1389");
  const stranger = new Account(5001n).next();
  await assert.rejects(call("eth_sendRawTransaction", [stranger]), /Permission denied/);
  // As the admin account that was made at install.
  helmTest(other);
  other.helm(["uninstall", other.name]);
  kubectl(["delete", "namespace", other.namespace, "--wait=true"]);
  return `ready after ${seconds} s, chain id 5001, own keys, write permissions`;
}

async function uninstall(release: Release): Promise<string> {
  release.helm(["uninstall", release.name, "--wait"]);
  await waitFor("the pods to end", 60_000, () =>
    release.kubectl("get", "pods", "-o", "name") === "" ? true : undefined,
  );
  const kinds =
    "all,configmap,secret,pvc,serviceaccount,role,rolebinding,networkpolicy,pdb,ingress";
  const left = release
    .kubectl("get", kinds, "-o", "name")
    .split("\n")
    .filter((name) => name.includes(release.name) || name.includes("client-0"));
  const { length } = left.filter((name) => name.startsWith("persistentvolumeclaim/"));
  const secrets = left.filter((name) => name.startsWith("secret/"));
  assert.equal(length, 5, "five volumes");
  assert.deepEqual(
    secrets.sort(),
    KEPT.map((name) => `secret/${release.name}-${name}`),
  );
  assert.equal(left.length, length + secrets.length, left.join(" "));
  return "5 volumes, 3 Secrets";
}

async function reinstall(release: Release, before: Chain): Promise<string> {
  const startedMs = performance.now();
  release.install();
  await release.waitUntilReady();
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const call = release.caller();
  assert.notEqual(await call("eth_getTransactionReceipt", [before.transaction]), null);
  const after = await chainOf(release);
  assert.equal(after.genesis, before.genesis);
  assert.equal(after.secrets, before.secrets);
  assert.equal(after.blockNumber, before.blockNumber + 1, "the probe's own block follows the last");
  return `ready after ${seconds} s, block ${before.blockNumber} -> ${after.blockNumber}`;
}

/** Writes one transaction, and says where the chain stands then. */
async function chainOf(release: Release): Promise<Chain> {
  const call = release.caller();
  const transaction = await sendUntilTaken(call, new Account().next());
  await waitForReceipt(call, transaction, RECEIPT_TIMEOUT_MS);
  const block = await call("eth_getBlockByNumber", ["0x0", false]);
  assert.ok(isRecord(block));
  const secrets = KEPT.map((name) =>
    release.kubectl("get", "secret", `${release.name}-${name}`, "-o", "jsonpath={.data}"),
  );
  return {
    genesis: String(block["hash"]),
    blockNumber: Number(await call("eth_blockNumber", [])),
    secrets: secrets.join("\n"),
    transaction,
  };
}

async function replicaOf(
  release: Release,
  index: number,
): Promise<Readonly<Record<string, unknown>>> {
  const replicas = await release.caller()("quorate_replicas", []);
  const found: unknown = Array.isArray(replicas) ? replicas[index] : undefined;
  assert.ok(isRecord(found));
  return found;
}

async function waitForAll(release: Release): Promise<void> {
  await waitFor("all replicas to be ready", 120_000, () =>
    [0, 1, 2, 3].every((index) => release.isReady(release.replica(index))) ? true : undefined,
  );
  await waitFor("all replicas to be linked", 60_000, async () => {
    const replicas = await release.caller()("quorate_replicas", []);
    const isLinked = (one: unknown): boolean => isRecord(one) && one["isUp"] === true;
    return Array.isArray(replicas) && replicas.every(isLinked) ? true : undefined;
  });
}
