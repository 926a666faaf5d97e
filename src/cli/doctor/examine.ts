/** Looks at everything that a network needs in one place. */
import { parseJson } from "../../base/parse-json.ts";
import {
  checkArchitecture,
  checkEbsDriver,
  checkKubernetesVersion,
  checkNeighbour,
  checkRoom,
  checkStorageClass,
} from "./cluster-checks.ts";
import { bad, doubtful, good, unknown, type Finding } from "./finding.ts";
import { checkImage, checkLoadedImage, type ImageName } from "./image-check.ts";
import { LOG_STACK_PODS } from "./log-stack-pods.ts";
import { checkClock, checkMachine, type MachineFacts } from "./machine-checks.ts";
import type { PodRequests } from "./pod-placement.ts";
import type { Probes } from "./probes.ts";
import { checkRegistry, type RegistryAccess } from "./registry-check.ts";
import { checkVersion } from "./version-check.ts";

export const TARGETS = ["local", "minikube", "eks", "cluster"] as const;
export type Target = (typeof TARGETS)[number];

export type ExamineOptions = {
  readonly target: Target;
  readonly data: string;
  readonly port: number;
  readonly namespace: string;
  readonly storageClass: string;
  readonly registry: RegistryAccess | undefined;
  readonly image: ImageName;
  /** Whether the log stack shall find room beside the network. */
  readonly hasLogStack: boolean;
};

const GIB = 2 ** 30;
/** As in the presets of the chart. */
export const REQUESTS: Readonly<Record<Exclude<Target, "local">, PodRequests>> = {
  minikube: { replica: { cpu: 0.1, memory: GIB / 4 }, client: { cpu: 0.1, memory: GIB / 4 } },
  cluster: { replica: { cpu: 0.1, memory: GIB / 4 }, client: { cpu: 0.1, memory: GIB / 4 } },
  eks: { replica: { cpu: 10, memory: 56 * GIB }, client: { cpu: 5, memory: 28 * GIB } },
};
const NODE_MIN = "24";
export const HELM_MIN = "3.8";
export const KUBECTL_MIN = "1.22";
const MINIKUBE_MIN = "1.25";
const MINIKUBE_DRIVERS = ["virtualbox", "hyperkit", "docker"];

export async function examine(
  options: ExamineOptions,
  probes: Probes,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const registry =
    options.registry === undefined ? undefined : await checkRegistry(options.registry, probes.get);
  const facts = await gatherFacts(options, probes, registry?.dateMs);
  if (options.target === "local") {
    const advice = 'install a newer Node.js, or run "npm ci" without --omit=optional';
    findings.push(checkVersion("Node.js", probes.nodeVersion, NODE_MIN, advice));
    findings.push(...checkMachine(facts));
  } else {
    findings.push(...(await examineTools(options.target, probes)));
    findings.push(...(await examineCluster(options, options.target, probes)));
    findings.push(registry?.finding ?? registryNotGiven());
    findings.push(...(await examineImage(options, probes)));
  }
  findings.push(checkClock(facts));
  return findings;
}

async function gatherFacts(
  { data, port }: ExamineOptions,
  probes: Probes,
  otherClockMs: number | undefined,
): Promise<MachineFacts> {
  const { free, problem } = probes.disk(data);
  return {
    platform: probes.platform,
    cpuCount: probes.cpuCount,
    freeMemory: probes.freeMemory,
    freeDisk: free,
    dataProblem: problem,
    isNativeSecp256k1: probes.isNativeSecp256k1,
    takenPorts: (await probes.isPortFree(port)) ? [] : [port],
    nowMs: probes.nowMs(),
    otherClockMs,
  };
}

async function examineTools(target: Target, { run }: Probes): Promise<readonly Finding[]> {
  const findings = [
    checkVersion(
      "helm",
      await run("helm", ["version", "--short"]),
      HELM_MIN,
      "install Helm 3.8 or newer: https://helm.sh/docs/intro/install",
    ),
    checkVersion(
      "kubectl",
      await run("kubectl", ["version", "--client"]),
      KUBECTL_MIN,
      "install kubectl: https://kubernetes.io/docs/tasks/tools",
    ),
  ];
  if (target === "minikube") findings.push(...(await examineMinikube(run)));
  if (target === "eks") {
    const advice = "install the AWS CLI 2, then run: aws eks update-kubeconfig --name CLUSTER";
    findings.push(checkVersion("aws", await run("aws", ["--version"]), "2", advice));
    const who = await run("aws", ["sts", "get-caller-identity"]);
    findings.push(
      who === undefined
        ? bad("AWS account", "not signed in", "run: aws configure, or: aws sso login")
        : good("AWS account", "signed in"),
    );
  }
  return findings;
}

/** In minikube itself, or else in the registry. */
async function examineImage(
  { target, registry, image }: ExamineOptions,
  { run, get }: Probes,
): Promise<readonly Finding[]> {
  const loaded =
    target === "minikube"
      ? checkLoadedImage(await run("minikube", ["image", "ls"]), image)
      : undefined;
  if (loaded !== undefined) return [loaded];
  return registry === undefined ? [] : [await checkImage(registry, image, get)];
}

async function examineMinikube(run: Probes["run"]): Promise<readonly Finding[]> {
  const install = "install minikube: https://minikube.sigs.k8s.io/docs/start";
  const version = await run("minikube", ["version", "--short"]);
  const findings = [checkVersion("minikube", version, MINIKUBE_MIN, install)];
  if (version === undefined) return findings;
  const profiles = await run("minikube", ["profile", "list", "-o", "json"]);
  const driver = /"Driver":\s*"([a-z0-9]+)"/.exec(profiles ?? "")?.[1];
  const start =
    "run: minikube start --driver=docker --cpus=2 --memory=4096 (docs/deploy.md: sizes)";
  if (driver === undefined) findings.push(bad("minikube driver", "no cluster is set up", start));
  else if (MINIKUBE_DRIVERS.includes(driver)) findings.push(good("minikube driver", driver));
  else {
    const known = MINIKUBE_DRIVERS.join(", ");
    findings.push(unknown("minikube driver", driver, `${known} are the ones that are supported`));
  }
  return findings;
}

async function examineCluster(
  { namespace, storageClass, hasLogStack }: ExamineOptions,
  target: Exclude<Target, "local">,
  { run }: Probes,
): Promise<readonly Finding[]> {
  const ask = async (...args: readonly string[]): Promise<unknown> =>
    parse(await run("kubectl", [...args, "-o", "json"]));
  const version = await ask("version");
  const nodes = await ask("get", "nodes");
  if (nodes === undefined) {
    const advice =
      target === "eks"
        ? "run: aws eks update-kubeconfig --name CLUSTER"
        : target === "minikube"
          ? "run: minikube start"
          : "check the current context: kubectl config current-context";
    return [bad("cluster", "kubectl cannot reach it", advice)];
  }
  const classes = await ask("get", "storageclass");
  const pods = await ask("get", "pods", "--all-namespaces");
  const service = await ask("get", "service", "client-0-ethrpc", "--namespace", namespace);
  return [
    checkKubernetesVersion(version),
    checkArchitecture(nodes),
    checkStorageClass(classes, storageClass),
    ...(target === "eks"
      ? [checkEbsDriver(classes, await ask("get", "csidriver"), storageClass)]
      : []),
    checkRoom(nodes, pods, {
      ...REQUESTS[target],
      ...(hasLogStack && { others: LOG_STACK_PODS }),
    }),
    ...(await examineRights(namespace, run)),
    await examineLookup(run),
    checkNeighbour(service, namespace),
  ];
}

/** What the chart makes, by what most clusters forbid first. */
async function examineRights(namespace: string, run: Probes["run"]): Promise<readonly Finding[]> {
  const missing: string[] = [];
  for (const kind of ["secrets", "statefulsets.apps", "roles.rbac.authorization.k8s.io"]) {
    const args = ["auth", "can-i", "create", kind, "--namespace", namespace];
    const answer = await run("kubectl", args);
    if (answer?.trim() !== "yes") missing.push(kind);
  }
  if (missing.length === 0) return [good(`rights in ${namespace}`, "enough")];
  const found = `may not create ${missing.join(", ")}`;
  return [bad(`rights in ${namespace}`, found, "ask the owner of the cluster for the role admin")];
}

/** The chart looks for the log stack there; a right that is missing would end the install. */
async function examineLookup(run: Probes["run"]): Promise<Finding> {
  const subject = "looking for the log stack";
  const args = ["auth", "can-i", "get", "services", "--namespace", "default"];
  const answer = await run("kubectl", args);
  if (answer?.trim() === "yes") return good(subject, "allowed");
  return doubtful(
    subject,
    "services in the namespace default may not be read",
    "install with --set logManagement.enabled=false (or true)",
  );
}

function registryNotGiven(): Finding {
  const advice = "give --registry HOST --registry-username NAME to have it checked";
  return unknown("registry", "not given", advice);
}

function parse(text: string | undefined): unknown {
  return text === undefined ? undefined : parseJson(text);
}
