/** The generator of load as a process of its own, so that its processor time can be told apart. */
import { fork, type ChildProcess } from "node:child_process";
import type { RunningNetwork } from "../../test/support/processes/network-process.ts";
import type { Order, Report, Transfers } from "./generator.ts";
import type { Pace } from "../../src/cli/bench/load.ts";

export class LoadProcess {
  readonly #child: ChildProcess = fork(new URL("./generator.ts", import.meta.url), {
    execArgv: [],
  });

  async prepare(
    network: Pick<RunningNetwork, "url" | "chainId" | "accounts">,
    senderCount: number,
  ): Promise<void> {
    const { url, chainId, accounts } = network;
    const [funder] = accounts;
    if (funder === undefined) throw new Error("the network has no account with coins");
    const funderKey = funder.privateKey;
    const plan = { url, chainId: String(chainId), funderKey, senderCount };
    await this.#ask({ kind: "prepare", plan });
  }

  async sign(transfers: Transfers, count: number, connectionCount: number): Promise<void> {
    await this.#ask({ kind: "sign", transfers, count, connectionCount });
  }

  async latencies(transfers: Transfers, count: number): Promise<readonly number[]> {
    const report = await this.#ask({ kind: "latency", transfers, count });
    return report.kind === "latencies" ? report.latencies : [];
  }

  async run(pace: Pace, seconds: number): Promise<Extract<Report, { readonly kind: "loaded" }>> {
    const report = await this.#ask({ kind: "load", pace, seconds });
    if (report.kind !== "loaded") throw new Error("the load gave no result");
    return report;
  }

  end(): void {
    if (this.#child.connected) this.#child.send({ kind: "end" } satisfies Order);
  }

  #ask(order: Order): Promise<Report> {
    return new Promise((resolve, reject) => {
      this.#child.once("message", (report: Report) => {
        if (report.kind === "failed") reject(new Error(report.reason));
        else resolve(report);
      });
      this.#child.send(order);
    });
  }
}
