/** A real Kubernetes of one node: etcd, control plane, containerd, kubelet, proxy, DNS. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { PAUSE_ARCHIVE } from "./image-builder.ts";
import {
  API_PORT,
  DNS_ADDRESS,
  DNS_PORT,
  NAMESPACE,
  NODE_ADDRESS,
  POD_RANGE,
  PROGRAMS,
  REGISTRY,
  RUN,
  SERVICE_RANGE,
  SOCKETS,
} from "./machine.ts";
import { attempt, Daemon, inNamespace, run, waitFor } from "./shell.ts";

const CONTAINERD = path.join(SOCKETS, "containerd.sock");
const ETCD = `http://${NODE_ADDRESS}:2379`;
const KUBELET_DATA = path.join(RUN, "kubelet");
const VOLUME_COUNT = 48;
/** What the kubelet sets for the whole machine. */
const KERNEL_SETTINGS = ["vm/overcommit_memory", "kernel/panic", "kernel/panic_on_oops"];

export class SingleNodeCluster {
  readonly #daemons: Daemon[] = [];
  readonly #kernelSettings = KERNEL_SETTINGS.map((name): [string, string] => [
    `/proc/sys/${name}`,
    readFileSync(`/proc/sys/${name}`, "utf8"),
  ]);

  async start(kubectl: (args: readonly string[], input?: string) => string): Promise<void> {
    for (const folder of [RUN, SOCKETS, KUBELET_DATA]) mkdirSync(folder, { recursive: true });
    const certificates = path.join(import.meta.dirname, "kubernetes/certificates.sh");
    run(certificates, [RUN, NODE_ADDRESS, String(API_PORT), "10.96.0.1"]);
    writeConfigs();
    this.#startStorage();
    this.#startControlPlane();
    await this.#until("the API server", () =>
      kubectl(["get", "--raw", "/readyz"]).includes("ok") ? true : undefined,
    );
    this.#startNode();
    this.#run("dns", [process.execPath, path.join(import.meta.dirname, "main.ts"), "--dns"]);
    await this.#until("the node", () => {
      const ready = '{.status.conditions[?(@.type=="Ready")].status}';
      const said = kubectl(["get", "node", "node-1", "-o", `jsonpath=${ready}`]);
      return said === "True" ? true : undefined;
    });
    kubectl(["apply", "-f", "-"], manifests());
  }

  async #until(what: string, ask: () => true | undefined): Promise<void> {
    await waitFor(what, 120_000, () => {
      for (const daemon of this.#daemons) daemon.assertRunning();
      return ask();
    });
  }

  async stop(): Promise<void> {
    const reversed = [...this.#daemons].reverse();
    const isRuntime = ({ name }: Daemon): boolean => name === "containerd";
    for (const daemon of reversed.filter((one) => !isRuntime(one))) await daemon.stop();
    endContainers();
    for (const daemon of reversed.filter(isRuntime)) await daemon.stop();
    this.#daemons.length = 0;
    for (const [file, value] of this.#kernelSettings) writeFileSync(file, value);
    cleanMachine();
  }

  #startStorage(): void {
    this.#run("containerd", ["containerd", "-c", path.join(RUN, "containerd.toml")]);
    this.#run("etcd", [
      ...[path.join(PROGRAMS, "etcd"), "--data-dir", path.join(RUN, "etcd"), "--unsafe-no-fsync"],
      ...["--listen-client-urls", ETCD, "--advertise-client-urls", ETCD],
      ...["--listen-peer-urls", `http://${NODE_ADDRESS}:2380`],
    ]);
  }

  #startControlPlane(): void {
    this.#run("kube-apiserver", [
      path.join(PROGRAMS, "kube-apiserver"),
      `--etcd-servers=${ETCD}`,
      `--bind-address=${NODE_ADDRESS}`,
      `--advertise-address=${NODE_ADDRESS}`,
      `--secure-port=${API_PORT}`,
      `--service-cluster-ip-range=${SERVICE_RANGE}`,
      "--authorization-mode=Node,RBAC",
      "--enable-admission-plugins=NodeRestriction",
      "--kubelet-preferred-address-types=InternalIP",
      "--client-ca-file=pki/ca.crt",
      "--tls-cert-file=pki/apiserver.crt",
      "--tls-private-key-file=pki/apiserver.key",
      "--kubelet-client-certificate=pki/apiserver-kubelet.crt",
      "--kubelet-client-key=pki/apiserver-kubelet.key",
      "--service-account-issuer=https://kubernetes.default.svc",
      "--service-account-key-file=pki/tokens.pub",
      "--service-account-signing-key-file=pki/tokens.key",
    ]);
    this.#run("kube-controller-manager", [
      path.join(PROGRAMS, "kube-controller-manager"),
      "--kubeconfig=controller-manager.conf",
      "--service-account-private-key-file=pki/tokens.key",
      "--root-ca-file=pki/ca.crt",
      "--use-service-account-credentials",
      "--leader-elect=false",
    ]);
    this.#run("kube-scheduler", [
      ...[path.join(PROGRAMS, "kube-scheduler"), "--kubeconfig=scheduler.conf"],
      "--leader-elect=false",
    ]);
  }

  #startNode(): void {
    // No pod could pull it: it is what holds a pod together.
    run("ctr", ["-a", CONTAINERD, "-n", "k8s.io", "images", "import", PAUSE_ARCHIVE]);
    this.#run("kubelet", [
      ...[path.join(PROGRAMS, "kubelet"), "--config=kubelet.yaml", "--kubeconfig=kubelet.conf"],
      ...[`--root-dir=${KUBELET_DATA}`, "--cert-dir=pki", "--hostname-override=node-1"],
      `--node-ip=${NODE_ADDRESS}`,
    ]);
    this.#run("kube-proxy", [
      ...[path.join(PROGRAMS, "kube-proxy"), "--kubeconfig=proxy.conf", "--proxy-mode=iptables"],
      ...["--hostname-override=node-1", `--cluster-cidr=${POD_RANGE}`],
      // Those tables belong to the machine.
      ...["--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0"],
      "--conntrack-tcp-timeout-close-wait=0",
    ]);
  }

  #run(name: string, command: readonly string[]): void {
    this.#daemons.push(new Daemon(name, inNamespace(command), RUN));
  }
}

export function makeNamespace(): void {
  const ip = (...args: string[]): string => run("ip", args);
  const inside = (...command: string[]): string => {
    const [program = "", ...args] = inNamespace(command);
    return run(program, args);
  };
  ip("netns", "add", NAMESPACE);
  inside("ip", "link", "set", "lo", "up");
  inside("ip", "link", "add", "node0", "type", "bridge");
  inside("ip", "addr", "add", `${NODE_ADDRESS}/24`, "dev", "node0");
  inside("ip", "link", "set", "node0", "up");
  // Programs ask for the address of the way out. There is none, but the question has an answer.
  inside("ip", "route", "add", "default", "dev", "node0");
  inside("sysctl", "-qw", "net.ipv4.ip_forward=1");
  inside("sysctl", "-qw", "net.bridge.bridge-nf-call-iptables=1");
}

function writeConfigs(): void {
  const registry = path.join(RUN, "registries", REGISTRY);
  mkdirSync(registry, { recursive: true });
  const http = `http://${REGISTRY}`;
  const hosts = `server = "${http}"\n[host."${http}"]\n  capabilities = ["pull", "resolve"]\n`;
  writeFileSync(path.join(registry, "hosts.toml"), hosts);
  writeFileSync(
    path.join(RUN, "containerd.toml"),
    `version = 2
root = "${path.join(RUN, "containerd")}"
state = "${path.join(SOCKETS, "containerd")}"
[grpc]
  address = "${CONTAINERD}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/quorate-cluster/pause:1"
  # Containers run in machines where root may not raise scores.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${path.join(RUN, "registries")}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${path.join(RUN, "cni")}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
`,
  );
  mkdirSync(path.join(RUN, "cni"), { recursive: true });
  const ipam = { type: "host-local", subnet: POD_RANGE, routes: [{ dst: "0.0.0.0/0" }] };
  const dataDir = path.join(RUN, "addresses");
  const bridge = { type: "bridge", bridge: "pods0", isGateway: true, hairpinMode: true };
  const plugins = [{ ...bridge, ipam: { ...ipam, dataDir } }, { type: "loopback" }];
  const network = { cniVersion: "0.4.0", name: "quorate-pods", plugins };
  writeFileSync(path.join(RUN, "cni/10-pods.conflist"), JSON.stringify(network));
  writeFileSync(path.join(RUN, "resolv.conf"), `nameserver ${DNS_ADDRESS}\n`);
  const kubelet = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: path.join(RUN, "pki/ca.crt") },
    },
    authorization: { mode: "Webhook" },
    address: NODE_ADDRESS,
    cgroupDriver: "cgroupfs",
    clusterDNS: [DNS_ADDRESS],
    clusterDomain: "cluster.local",
    containerRuntimeEndpoint: `unix://${CONTAINERD}`,
    failSwapOn: false,
    failCgroupV1: false,
    resolvConf: path.join(RUN, "resolv.conf"),
    tlsCertFile: path.join(RUN, "pki/kubelet.crt"),
    tlsPrivateKeyFile: path.join(RUN, "pki/kubelet.key"),
    evictionHard: { "memory.available": "100Mi", "nodefs.available": "1%" },
  };
  writeFileSync(path.join(RUN, "kubelet.yaml"), JSON.stringify(kubelet));
}

/** A storage class of the default name, volumes for it, and the address of the DNS. */
function manifests(): string {
  const storageClass = {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "standard" },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "WaitForFirstConsumer",
  };
  const volumes = Array.from({ length: VOLUME_COUNT }, (_, index) => {
    const folder = path.join(RUN, "volumes", String(index));
    mkdirSync(folder, { recursive: true });
    const here = { key: "kubernetes.io/hostname", operator: "In", values: ["node-1"] };
    return {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: `volume-${index}` },
      spec: {
        capacity: { storage: "10Gi" },
        accessModes: ["ReadWriteOnce"],
        persistentVolumeReclaimPolicy: "Retain",
        storageClassName: "standard",
        local: { path: folder },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [here] }] } },
      },
    };
  });
  const metadata = { name: "cluster-dns", namespace: "kube-system" };
  const port = { name: "dns", protocol: "UDP" };
  const service = {
    ...{ apiVersion: "v1", kind: "Service", metadata },
    spec: { clusterIP: DNS_ADDRESS, ports: [{ ...port, port: 53, targetPort: DNS_PORT }] },
  };
  const endpoints = {
    ...{ apiVersion: "v1", kind: "Endpoints", metadata },
    subsets: [{ addresses: [{ ip: NODE_ADDRESS }], ports: [{ ...port, port: DNS_PORT }] }],
  };
  const items = [storageClass, ...volumes, service, endpoints];
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}

function endContainers(): void {
  const ctr = (...args: string[]): string =>
    attempt("ctr", ["-a", CONTAINERD, "-n", "k8s.io", ...args]).stdout;
  const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");
  for (const task of lines(ctr("tasks", "ls", "-q"))) ctr("tasks", "kill", "-s", "SIGKILL", task);
  for (const task of lines(ctr("tasks", "ls", "-q"))) ctr("tasks", "delete", "-f", task);
  for (const name of lines(ctr("containers", "ls", "-q"))) ctr("containers", "rm", name);
}

/** Everything that a run leaves behind. Safe to call when there is nothing. */
export function cleanMachine(): void {
  const mounts = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .filter((mount) => mount.startsWith(RUN) || mount.startsWith(`${SOCKETS}/`));
  for (const mount of mounts.reverse()) attempt("umount", ["-l", mount]);
  if (existsSync(`/run/netns/${NAMESPACE}`)) attempt("ip", ["netns", "del", NAMESPACE]);
  for (const name of existsSync("/run/netns") ? readdirSync("/run/netns") : []) {
    if (name.startsWith("cni-")) attempt("ip", ["netns", "del", name]);
  }
  attempt("sh", ["-c", "find /sys/fs/cgroup -depth -type d -path '*/kubepods*' -exec rmdir {} +"]);
  for (const folder of [RUN, SOCKETS]) rmSync(folder, { recursive: true, force: true });
  rmSync("/var/log/pods", { recursive: true, force: true });
  rmSync("/var/log/containers", { recursive: true, force: true });
}
