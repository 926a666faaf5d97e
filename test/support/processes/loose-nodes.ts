/**
 * The five nodes of a network as processes without a supervisor: what a test ends stays down until
 * the test starts it again, with the flags that an operator would give.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import type { Hex } from "../../../src/base/hex.ts";
import { PROGRAM, rpc, SERVICES, startNetwork, waitFor, type Service } from "./network-process.ts";

export const REPLICAS = SERVICES.slice(0, 4);

export type ReplicaStanding = {
  readonly mode: string;
  readonly view: number;
  readonly leader: number;
  readonly finalHeight: number;
  readonly execHeight: number;
  readonly execResult: Hex | undefined;
};

type Running = { readonly child: ChildProcess; readonly ended: Promise<unknown>; output: string };

export class LooseNodes {
  readonly dataPath: string;
  readonly url: string;
  readonly chainId: bigint;
  readonly #running = new Map<Service, Running>();

  private constructor(dataPath: string, url: string, chainId: bigint) {
    this.dataPath = dataPath;
    this.url = url;
    this.chainId = chainId;
  }

  /** A new network, made by `quorate up`; all five nodes run. */
  static async start(dataPath: string): Promise<LooseNodes> {
    const made = await startNetwork({ dataPath });
    const { chainId, url } = made;
    await made.stop();
    const nodes = new LooseNodes(dataPath, url, chainId);
    for (const service of SERVICES) nodes.run(service);
    await nodes.whenAllReady();
    return nodes;
  }

  run(service: Service, flags: readonly string[] = []): void {
    const command = service === "client-0" ? "client" : "replica";
    const config = path.join(this.dataPath, "config", `${service}.json`);
    const own = service === "client-0" ? ["--rpc-port", new URL(this.url).port] : [];
    const args = [PROGRAM, command, "--config", config, ...own, ...flags];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    const running: Running = { child, ended: once(child, "close"), output: "" };
    const keep = (text: Buffer): void => {
      running.output = (running.output + text.toString()).slice(-100_000);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    this.#running.set(service, running);
  }

  signal(service: Service, signal: NodeJS.Signals): void {
    this.#running.get(service)?.child.kill(signal);
  }

  /** Resolves when the process is gone. */
  async kill(service: Service, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const running = this.#running.get(service);
    if (running === undefined) return;
    running.child.kill(signal);
    await running.ended;
    this.#running.delete(service);
  }

  /** Waits until it ends by itself; what it wrote. */
  async ended(service: Service, timeoutMs: number): Promise<string> {
    const running = this.#running.get(service);
    if (running === undefined) return "";
    const { child } = running;
    await waitFor(() => child.exitCode !== null, `${service} ends by itself`, timeoutMs);
    await running.ended;
    this.#running.delete(service);
    return running.output;
  }

  outputOf(service: Service): string {
    return this.#running.get(service)?.output ?? "";
  }

  folderOf(service: Service): string {
    return path.join(this.dataPath, service);
  }

  async health(service: Service, place: string): Promise<unknown> {
    const file = path.join(this.dataPath, "config", `${service}.json`);
    const config = JSON.parse(readFileSync(file, "utf8")) as { health: { port: number } };
    const response = await fetch(`http://127.0.0.1:${config.health.port}${place}`);
    return response.json();
  }

  async standing(service: Service): Promise<ReplicaStanding | undefined> {
    return this.health(service, "/status").then(
      (status) => status as ReplicaStanding,
      () => undefined,
    );
  }

  async isReady(service: Service): Promise<boolean> {
    const answer = await this.health(service, "/ready").catch(() => undefined);
    return (answer as { readonly isReady?: boolean } | undefined)?.isReady === true;
  }

  async whenReady(service: Service, timeoutMs = 30_000): Promise<void> {
    await waitFor(() => this.isReady(service), `${service} is ready`, timeoutMs).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}\n${this.outputOf(service)}`);
      },
    );
  }

  async whenAllReady(): Promise<void> {
    await Promise.all(SERVICES.map((service) => this.whenReady(service)));
  }

  async leader(): Promise<Service> {
    for (const service of REPLICAS) {
      const standing = await this.standing(service);
      if (standing?.mode === "active") return `replica-${standing.leader}` as Service;
    }
    throw new Error("no replica says who leads");
  }

  rpc(method: string, params: readonly unknown[] = []): Promise<unknown> {
    return rpc(this.url, method, params);
  }

  async blockNumber(): Promise<number> {
    return Number(await this.rpc("eth_blockNumber"));
  }

  /** All replicas executed the same height with the same result: their states are equal. */
  async whenEqual(timeoutMs = 30_000): Promise<ReplicaStanding> {
    let agreed: ReplicaStanding | undefined;
    await waitFor(
      async () => {
        const all = await Promise.all(REPLICAS.map((service) => this.standing(service)));
        const [first] = all;
        if (first === undefined) return false;
        const { execHeight, execResult } = first;
        const isEqual = all.every((standing) => standing?.execHeight === execHeight);
        if (!isEqual || execResult === undefined) return false;
        if (all.some((standing) => standing?.execResult !== execResult)) {
          throw new Error(`results differ at height ${execHeight}`);
        }
        agreed = first;
        return true;
      },
      "all replicas have executed the same",
      timeoutMs,
    );
    return agreed!;
  }

  async close(): Promise<void> {
    const services = [...this.#running.keys()];
    for (const service of services) this.signal(service, "SIGCONT");
    await Promise.all(services.map((service) => this.kill(service, "SIGTERM")));
    rmSync(this.dataPath, { recursive: true, force: true });
  }
}
