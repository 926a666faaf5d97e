/** What the answers of kubectl mean for an install. Pure: JSON in, findings out. */
import { isRecord } from "../../base/parse-json.ts";
import { bad, doubtful, good, unknown, type Finding } from "./finding.ts";
import { placePods, type NodeRoom, type PodRequests } from "./pod-placement.ts";
import { bytesText, parseResourceQuantity } from "./quantity.ts";
import { isAtLeast } from "./version-check.ts";

export const KUBERNETES_MIN = "1.22";
const EBS_PROVISIONERS = ["ebs.csi.aws.com", "kubernetes.io/aws-ebs"];

export function checkKubernetesVersion(version: unknown): Finding {
  const subject = "Kubernetes";
  const text = textAt(version, "serverVersion", "gitVersion");
  const number = /^v?(\d+\.\d+\.\d+)/.exec(text)?.[1];
  const advice = `upgrade the cluster to ${KUBERNETES_MIN} or newer`;
  if (number === undefined) return unknown(subject, "the cluster says no version", advice);
  if (isAtLeast(number, KUBERNETES_MIN)) return good(subject, text);
  return doubtful(subject, `${text}; ${KUBERNETES_MIN} is the oldest that is supported`, advice);
}

export function checkStorageClass(classes: unknown, wanted: string): Finding {
  const subject = `storage class ${wanted}`;
  const names = items(classes).map(nameOf);
  if (names.includes(wanted)) {
    const found = items(classes).find((one) => nameOf(one) === wanted);
    return good(subject, textAt(found, "provisioner"));
  }
  const others = names.length === 0 ? "the cluster has none" : `there are ${names.join(", ")}`;
  const advice =
    names.length === 0
      ? "install a storage provisioner, then name its class by --set global.storageClass=NAME"
      : `use one of these by --set global.storageClass=${names[0] ?? "NAME"}`;
  return bad(subject, `not there; ${others}`, advice);
}

/** EBS volumes are made by a driver that EKS does not bring along. */
export function checkEbsDriver(classes: unknown, drivers: unknown, wanted: string): Finding {
  const subject = "EBS CSI driver";
  const found = items(classes).find((one) => nameOf(one) === wanted);
  const provisioner = textAt(found, "provisioner");
  if (found !== undefined && !EBS_PROVISIONERS.includes(provisioner)) {
    return good(subject, `not needed: ${wanted} is of ${provisioner}`);
  }
  if (items(drivers).some((one) => nameOf(one) === "ebs.csi.aws.com"))
    return good(subject, "there");
  return bad(
    subject,
    "not installed: volumes would stay pending",
    "eksctl create addon --name aws-ebs-csi-driver --cluster CLUSTER, with a role that has " +
      "AmazonEBSCSIDriverPolicy",
  );
}

/** Free: what machines offer, less what pods on them ask for. */
export function freeRoom(nodes: unknown, pods: unknown): readonly NodeRoom[] {
  const used = new Map<string, { cpu: number; memory: number }>();
  for (const pod of items(pods)) {
    const phase = at(pod, "status", "phase");
    if (phase === "Succeeded" || phase === "Failed") continue;
    const node = textAt(pod, "spec", "nodeName");
    const sum = used.get(node) ?? { cpu: 0, memory: 0 };
    for (const container of list(at(pod, "spec", "containers"))) {
      sum.cpu += parseResourceQuantity(at(container, "resources", "requests", "cpu") ?? "0");
      sum.memory += parseResourceQuantity(at(container, "resources", "requests", "memory") ?? "0");
    }
    used.set(node, sum);
  }
  return items(nodes)
    .filter((node) => at(node, "spec", "unschedulable") !== true)
    .map((node) => {
      const taken = used.get(nameOf(node)) ?? { cpu: 0, memory: 0 };
      return {
        name: nameOf(node),
        cpu: parseResourceQuantity(at(node, "status", "allocatable", "cpu")) - taken.cpu,
        memory: parseResourceQuantity(at(node, "status", "allocatable", "memory")) - taken.memory,
      };
    });
}

export function checkRoom(nodes: unknown, pods: unknown, requests: PodRequests): Finding {
  const subject = "free CPU and memory";
  const rooms = freeRoom(nodes, pods);
  const cpu = rooms.reduce((sum, room) => sum + room.cpu, 0);
  const memory = rooms.reduce((sum, room) => sum + room.memory, 0);
  const found = `${cpu.toFixed(1)} cores and ${bytesText(memory)} on ${rooms.length} machine(s)`;
  const problem = placePods(rooms, requests);
  if (problem === undefined) return good(subject, found);
  const advice =
    "add machines, or ask for less by --set resources.replica.cpuRequest=... and so on";
  return bad(subject, `${found}; ${problem}`, advice);
}

export function checkArchitecture(nodes: unknown): Finding {
  const subject = "machines of the cluster";
  const kinds = items(nodes).map((node) => textAt(node, "status", "nodeInfo", "architecture"));
  const others = kinds.filter((kind) => kind !== "amd64" && kind !== "arm64");
  const found = [...new Set(kinds)].join(", ");
  if (others.length === 0 && kinds.length > 0) return good(subject, `${kinds.length}: ${found}`);
  return bad(subject, found === "" ? "none" : found, "use machines with amd64 or arm64");
}

/** A service of that name belongs to another release: names are fixed, one network a namespace. */
export function checkNeighbour(service: unknown, namespace: string): Finding {
  const subject = `namespace ${namespace}`;
  const owner = textAt(service, "metadata", "annotations", "meta.helm.sh/release-name");
  if (service === undefined) return good(subject, "has no network yet");
  const found = `has a network already (release ${owner})`;
  return doubtful(subject, found, "upgrade that one, or install with --namespace OTHER");
}

function items(value: unknown): readonly unknown[] {
  return list(at(value, "items"));
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function nameOf(item: unknown): string {
  return textAt(item, "metadata", "name");
}

/** Empty where there is no text. */
function textAt(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value);
}
