/** What the run needs of this machine. Debian packages that are missing are installed. */
import { existsSync } from "node:fs";
import path from "node:path";
import { PROGRAMS } from "./machine.ts";
import { attempt, run } from "./shell.ts";

/** A program of each package. */
const PACKAGES: Readonly<Record<string, string>> = {
  dockerd: "docker.io",
  containerd: "containerd",
  runc: "runc",
  "/usr/lib/cni/bridge": "containernetworking-plugins",
  mmdebstrap: "mmdebstrap",
  skopeo: "skopeo",
  "docker-registry": "docker-registry",
  htpasswd: "apache2-utils",
  iptables: "iptables",
  conntrack: "conntrack",
  openssl: "openssl",
  ip: "iproute2",
  nsenter: "util-linux",
};

const BUILT = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"];

/** Why the run cannot be made here, or undefined. */
export function whyNotHere(): string | undefined {
  if (process.platform !== "linux" || process.arch !== "x64") return "it needs Linux on x86-64";
  if (process.getuid?.() !== 0) return "it needs root";
  const missing = [...BUILT, "kubelet", "etcd"].filter(
    (name) => !existsSync(path.join(PROGRAMS, name)),
  );
  if (missing.length === 0) return undefined;
  return `${missing.join(", ")} not built yet: run test/cluster/kubernetes/build.sh once`;
}

export function installPackages(): void {
  const wanted = Object.entries(PACKAGES)
    .filter(([program]) => !isThere(program))
    .map(([, name]) => name);
  if (wanted.length === 0) return;
  const environment = { DEBIAN_FRONTEND: "noninteractive" };
  const timeoutMs = 600_000;
  run("apt-get", ["update"], { environment, timeoutMs });
  const args = ["install", "-y", "--no-install-recommends", ...new Set(wanted)];
  run("apt-get", args, { environment, timeoutMs });
}

function isThere(program: string): boolean {
  if (program.startsWith("/")) return existsSync(program);
  return attempt("sh", ["-c", `command -v ${program}`]).status === 0;
}
