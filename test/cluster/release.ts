/** One network in the cluster, by helm and kubectl, as an operator would see it. */
import path from "node:path";
import {
  createJsonRpcCaller,
  type JsonRpcCaller,
} from "../../src/cli/smoke-test/json-rpc-caller.ts";
import { kubernetesTool } from "../support/processes/kubernetes-tools.ts";
import { KUBECONFIG, NODE_ADDRESS, REGISTRY, ROOT, SOCKETS } from "./machine.ts";
import { attempt, run, waitFor } from "./shell.ts";

export type Credentials = { readonly username: string; readonly password: string };

type Status = {
  readonly leader: number;
  readonly finalHeight: number;
  readonly blockNumber: string;
};

const CHART = path.join(ROOT, "deploy/chart");
export const READY_LINE = "client_id=8 is serving - the pool is ready";
const environment = { KUBECONFIG };
const HELM_TIMEOUT_MS = 400_000;

export function kubectl(args: readonly string[], input?: string): string {
  const options = { environment, ...(input !== undefined && { input }) };
  return run(kubernetesTool("kubectl"), args, options);
}

export class Release {
  readonly name: string;
  readonly namespace: string;
  readonly #helm: string;
  readonly #settings: readonly string[];

  constructor(
    name: string,
    namespace: string,
    helm: "helm-3" | "helm-4",
    { username, password }: Credentials,
  ) {
    this.name = name;
    this.namespace = namespace;
    this.#helm = kubernetesTool(helm);
    this.#settings = [
      ...["-f", "values-minikube.yaml"],
      ...["--set", `global.imageCredentials.registry=${REGISTRY}`],
      ...["--set", `global.imageCredentials.username=${username}`],
      ...["--set", `global.imageCredentials.password=${password}`],
    ];
  }

  /** From the folder of the chart, as the documentation says. */
  helm(args: readonly string[]): string {
    const options = { environment, directory: CHART, timeoutMs: HELM_TIMEOUT_MS };
    return run(this.#helm, [...args, "--namespace", this.namespace], options);
  }

  install(...more: readonly string[]): string {
    return this.helm(["install", this.name, ".", ...this.#settings, "--create-namespace", ...more]);
  }

  upgrade(...more: readonly string[]): string {
    return this.helm(["upgrade", this.name, ".", ...this.#settings, ...more]);
  }

  /** What helm says when it refuses. Throws if it does not. */
  refusal(command: "install" | "upgrade", ...more: readonly string[]): string {
    const args = [command, this.name, ".", ...this.#settings, ...more];
    const options = { environment, directory: CHART, timeoutMs: HELM_TIMEOUT_MS };
    const namespaced = [...args, "--namespace", this.namespace];
    const { status, stderr } = attempt(this.#helm, namespaced, options);
    if (status === 0) throw new Error(`helm ${command} was expected to refuse, and did not`);
    return stderr;
  }

  kubectl(...args: readonly string[]): string {
    return kubectl([...args, "--namespace", this.namespace]);
  }

  get client(): string {
    return `deployment/${this.name}-client-0-clientservice`;
  }

  replica(index: number): string {
    return `${this.name}-replica-${index}`;
  }

  async waitUntilReady(timeoutMs = 300_000): Promise<void> {
    await waitFor("the ready line", timeoutMs, () =>
      this.kubectl("logs", this.client, "--tail=-1").includes(READY_LINE) ? true : undefined,
    );
    const seconds = `--timeout=${Math.round(timeoutMs / 1000)}s`;
    this.kubectl("rollout", "status", this.client, seconds);
    this.kubectl("rollout", "status", `statefulset/${this.name}-replica`, seconds);
  }

  /** Of the service, on the port that it has on every machine. */
  url(): string {
    const port = this.kubectl(
      ...["get", "service", "client-0-ethrpc", "-o", "jsonpath={.spec.ports[0].nodePort}"],
    );
    return `http://${NODE_ADDRESS}:${port}`;
  }

  caller(): JsonRpcCaller {
    return createJsonRpcCaller(this.url());
  }

  async status(): Promise<Status> {
    return (await this.caller()("quorate_status", [])) as Status;
  }

  podField(pod: string, field: string): string {
    return this.kubectl("get", "pod", pod, "-o", `jsonpath=${field}`);
  }

  isReady(pod: string): boolean {
    const condition = '{.status.conditions[?(@.type=="Ready")].status}';
    const known = attempt(
      kubernetesTool("kubectl"),
      ["get", "pod", pod, "-o", `jsonpath=${condition}`, "--namespace", this.namespace],
      { environment },
    );
    return known.stdout === "True";
  }

  /** The process of a pod, as the machine numbers it. */
  processOf(pod: string): number {
    const container = this.podField(pod, "{.status.containerStatuses[0].containerID}");
    const id = container.replace("containerd://", "");
    const socket = path.join(SOCKETS, "containerd.sock");
    const tasks = run("ctr", ["-a", socket, "-n", "k8s.io", "tasks", "ls"]);
    const line = tasks.split("\n").find((text) => text.startsWith(id)) ?? "";
    return Number(line.split(/\s+/)[1]);
  }
}
