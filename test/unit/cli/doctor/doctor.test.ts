import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  checkEbsDriver,
  checkKubernetesVersion,
  checkNeighbour,
  checkRoom,
  checkStorageClass,
  freeRoom,
} from "../../../../src/cli/doctor/cluster-checks.ts";
import { examine, type ExamineOptions } from "../../../../src/cli/doctor/examine.ts";
import {
  checkClock,
  checkMachine,
  type MachineFacts,
} from "../../../../src/cli/doctor/machine-checks.ts";
import { placePods } from "../../../../src/cli/doctor/pod-placement.ts";
import type { Probes } from "../../../../src/cli/doctor/probes.ts";
import { parseResourceQuantity } from "../../../../src/cli/doctor/quantity.ts";
import { checkRegistry, type HttpAnswer } from "../../../../src/cli/doctor/registry-check.ts";
import { checkVersion, isAtLeast } from "../../../../src/cli/doctor/version-check.ts";

const GIB = 2 ** 30;

const FACTS: MachineFacts = {
  platform: "linux-x64",
  cpuCount: 2,
  freeMemory: 4 * GIB,
  freeDisk: 10 * GIB,
  dataProblem: undefined,
  isNativeSecp256k1: true,
  takenPorts: [],
  nowMs: Date.UTC(2026, 0, 1),
  otherClockMs: undefined,
};

describe("doctor: versions and amounts", () => {
  it("compares versions by their numbers, not as text", () => {
    assert.ok(isAtLeast("1.22.0", "1.22"));
    assert.ok(!isAtLeast("1.9.9", "1.22"));
    assert.ok(isAtLeast("2", "1.22"));
    assert.ok(!isAtLeast("3.7.2", "3.8"));
  });

  it("finds the version in what a program prints", () => {
    const printed = "version.BuildInfo v3.17.3+ge4da497";
    assert.equal(checkVersion("helm", printed, "3.8", "mend").found, "3.17.3");
    assert.equal(checkVersion("helm", "v2.16.1", "3.8", "mend").verdict, "bad");
    assert.equal(checkVersion("helm", undefined, "3.8", "mend").advice, "mend");
  });

  it("reads amounts as Kubernetes writes them", () => {
    const cases: [string, number][] = [
      ["500m", 0.5],
      ["10", 10],
      ["256Mi", 256 * 2 ** 20],
      ["1G", 1e9],
      ["16384Ki", 2 ** 24],
      ["nonsense", 0],
    ];
    for (const [text, amount] of cases) assert.equal(parseResourceQuantity(text), amount, text);
  });
});

describe("doctor: this machine", () => {
  const verdictOf = (subject: string, facts: Partial<MachineFacts>): string | undefined =>
    checkMachine({ ...FACTS, ...facts }).find((finding) => finding.subject === subject)?.verdict;

  it("finds nothing on a machine that has all", () => {
    for (const { verdict, subject } of checkMachine(FACTS)) assert.equal(verdict, "good", subject);
  });

  it("names what is missing, and never without advice", () => {
    assert.equal(verdictOf("platform", { platform: "win32-x64" }), "bad");
    assert.equal(verdictOf("free disk", { freeDisk: GIB }), "doubtful");
    assert.equal(verdictOf("free disk", { freeDisk: 1000 }), "bad");
    assert.equal(verdictOf("free memory", { freeMemory: GIB }), "doubtful");
    assert.equal(verdictOf("port of ethrpc", { takenPorts: [8545] }), "bad");
    assert.equal(verdictOf("data directory", { dataProblem: "it is on NFS" }), "bad");
    assert.equal(verdictOf("fast signatures", { isNativeSecp256k1: false }), "doubtful");
    const findings = checkMachine({ ...FACTS, platform: "?", freeDisk: 0, takenPorts: [1] });
    for (const { verdict, advice, subject } of findings) {
      assert.equal(verdict === "good", advice === undefined, subject);
    }
  });

  it("doubts a clock that is far from another, and refuses one that was never set", () => {
    assert.equal(checkClock(FACTS).verdict, "good");
    const apart = { ...FACTS, otherClockMs: FACTS.nowMs + 60_000 };
    assert.equal(checkClock(apart).verdict, "doubtful");
    assert.equal(checkClock({ ...FACTS, nowMs: 0 }).verdict, "bad");
  });
});

describe("doctor: a cluster", () => {
  const classes = {
    items: [{ metadata: { name: "gp2" }, provisioner: "ebs.csi.aws.com" }],
  };
  const node = (name: string, cpu: string, memory: string): object => ({
    metadata: { name },
    status: { allocatable: { cpu, memory }, nodeInfo: { architecture: "amd64" } },
  });
  const pod = (nodeName: string, cpu: string, phase = "Running"): object => ({
    spec: { nodeName, containers: [{ resources: { requests: { cpu, memory: "1Gi" } } }] },
    status: { phase },
  });

  it("doubts releases before 1.22", () => {
    const version = (gitVersion: string): object => ({ serverVersion: { gitVersion } });
    assert.equal(checkKubernetesVersion(version("v1.34.4-eks-1")).verdict, "good");
    assert.equal(checkKubernetesVersion(version("v1.20.2")).verdict, "doubtful");
    assert.equal(checkKubernetesVersion(undefined).verdict, "unknown");
  });

  it("names the storage classes that there are when the wanted one is not", () => {
    assert.equal(checkStorageClass(classes, "gp2").verdict, "good");
    const { verdict, found, advice } = checkStorageClass(classes, "standard");
    assert.equal(verdict, "bad");
    assert.match(found, /there are gp2/);
    assert.match(advice ?? "", /global\.storageClass=gp2/);
  });

  it("asks for the driver of EBS only where volumes are of EBS", () => {
    const drivers = { items: [{ metadata: { name: "ebs.csi.aws.com" } }] };
    assert.equal(checkEbsDriver(classes, drivers, "gp2").verdict, "good");
    assert.equal(checkEbsDriver(classes, { items: [] }, "gp2").verdict, "bad");
    const others = { items: [{ metadata: { name: "px" }, provisioner: "pxd.portworx.com" }] };
    assert.equal(checkEbsDriver(others, { items: [] }, "px").verdict, "good");
  });

  it("counts what pods have asked for already, but not those that have ended", () => {
    const nodes = { items: [node("a", "4", "16Gi")] };
    const pods = { items: [pod("a", "1500m"), pod("a", "2", "Succeeded"), pod("b", "1")] };
    assert.deepEqual(freeRoom(nodes, pods), [{ name: "a", cpu: 2.5, memory: 15 * GIB }]);
  });

  it("places whole pods: room in pieces is no room", () => {
    const requests = { replica: { cpu: 10, memory: GIB }, client: { cpu: 5, memory: GIB } };
    const rooms = (...cpus: number[]): { name: string; cpu: number; memory: number }[] =>
      cpus.map((cpu, index) => ({ name: String(index), cpu, memory: 100 * GIB }));
    assert.equal(placePods(rooms(20, 20, 5), requests), undefined);
    assert.match(placePods(rooms(9, 9, 9, 9, 9), requests) ?? "", /for replica-0/);
    assert.match(placePods(rooms(20, 20, 4), requests) ?? "", /for client-0/);
    const finding = checkRoom({ items: [node("a", "4", "16Gi")] }, { items: [] }, requests);
    assert.equal(finding.verdict, "bad");
  });

  it("sees a network that is there", () => {
    assert.equal(checkNeighbour(undefined, "default").verdict, "good");
    const annotations = { "meta.helm.sh/release-name": "demo" };
    assert.match(checkNeighbour({ metadata: { annotations } }, "default").found, /release demo/);
  });
});

describe("doctor: the registry", () => {
  const access = { registry: "registry.example", username: "reader", password: "sesame" };
  const answer = (status: number, challenge?: string): HttpAnswer => ({
    status,
    challenge,
    dateMs: 7,
  });

  it("brings the credentials to the registry itself where that asks for them", async () => {
    const seen: unknown[] = [];
    const { finding, dateMs } = await checkRegistry(access, (url, authorization) => {
      seen.push([url, authorization]);
      return Promise.resolve(answer(authorization === undefined ? 401 : 200, 'Basic realm="x"'));
    });
    assert.equal(finding.verdict, "good");
    assert.equal(dateMs, 7);
    assert.deepEqual(seen, [
      ["https://registry.example/v2/", undefined],
      ["https://registry.example/v2/", "Basic cmVhZGVyOnNlc2FtZQ=="],
    ]);
  });

  it("brings them to the token service where the registry names one", async () => {
    const asked: string[] = [];
    const challenge = 'Bearer realm="https://auth.example/token",service="registry.example"';
    const { finding } = await checkRegistry(access, (url, authorization) => {
      asked.push(url);
      return Promise.resolve(answer(401, authorization === undefined ? challenge : undefined));
    });
    assert.equal(asked[1], "https://auth.example/token?service=registry.example");
    assert.equal(finding.verdict, "bad");
    assert.match(finding.found, /refuses this user/);
  });

  it("tells a registry that is away from one that was not asked as anybody", async () => {
    const away = await checkRegistry(access, () => Promise.resolve(undefined));
    assert.equal(away.finding.verdict, "bad");
    const nobody = { ...access, username: undefined };
    const open = await checkRegistry(nobody, () => Promise.resolve(answer(401)));
    assert.equal(open.finding.verdict, "unknown");
  });
});

describe("doctor: a whole examination", () => {
  const options: ExamineOptions = {
    target: "cluster",
    data: ".",
    port: 8545,
    namespace: "default",
    storageClass: "standard",
    registry: undefined,
    image: { repository: "quorate", tag: "0.1.0" },
    hasLogStack: false,
  };
  const probes = (run: Probes["run"]): Probes => ({
    run,
    get: () => Promise.resolve(undefined),
    isPortFree: () => Promise.resolve(true),
    disk: () => ({ free: 10 * GIB }),
    platform: "linux-x64",
    nodeVersion: "26.10.0",
    cpuCount: 2,
    freeMemory: 4 * GIB,
    isNativeSecp256k1: true,
    nowMs: () => FACTS.nowMs,
  });

  it("says which tool is missing, and asks nothing of a cluster that cannot be reached", async () => {
    const findings = await examine(
      options,
      probes(() => Promise.resolve(undefined)),
    );
    const bad = findings.filter(({ verdict }) => verdict === "bad").map(({ subject }) => subject);
    assert.deepEqual(bad, ["helm", "kubectl", "cluster"]);
  });

  it("is content with this machine without any cluster tool", async () => {
    const run = (): Promise<undefined> => assert.fail("nothing is run for a local network");
    const findings = await examine({ ...options, target: "local" }, probes(run));
    for (const { verdict, subject } of findings) assert.equal(verdict, "good", subject);
  });
});
