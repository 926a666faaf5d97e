/** A real Prometheus for tests of metrics, rules and queries. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { chooseFreePorts } from "../../../src/local-network/free-ports.ts";
import { waitFor } from "./network-process.ts";

export type Alert = {
  readonly labels: Readonly<Record<string, string>>;
  readonly state: "pending" | "firing";
};

/** What a test prints when it is skipped; undefined where it can run. */
export function prometheusMissing(): string | undefined {
  const hasAll = ["prometheus", "promtool"].every(
    (name) => spawnSync(name, ["--version"]).error === undefined,
  );
  return hasAll ? undefined : "no prometheus and promtool (apt-get install prometheus)";
}

export class Prometheus {
  readonly #child: ChildProcess;
  readonly #url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.#url = url;
  }

  /** Scrapes and evaluates every second, so that a test need not wait as an operator would. */
  static async open(
    directory: string,
    options: { readonly targets: readonly string[]; readonly rules: string },
  ): Promise<Prometheus> {
    const { targets, rules } = options;
    const [port = 0] = await chooseFreePorts(1);
    writeFileSync(path.join(directory, "rules.yaml"), rules);
    const config = {
      global: { scrape_interval: "1s", scrape_timeout: "900ms", evaluation_interval: "1s" },
      rule_files: ["rules.yaml"],
      scrape_configs: [{ job_name: "quorate", static_configs: [{ targets }] }],
    };
    const file = path.join(directory, "prometheus.yaml");
    writeFileSync(file, JSON.stringify(config));
    const args = [
      `--config.file=${file}`,
      `--storage.tsdb.path=${path.join(directory, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const child = spawn("prometheus", args, { stdio: "ignore" });
    const prometheus = new Prometheus(child, `http://127.0.0.1:${port}`);
    const isReady = (): Promise<boolean> =>
      fetch(`${prometheus.#url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    await waitFor(isReady, "prometheus is ready", 30_000);
    return prometheus;
  }

  async query(
    expression: string,
  ): Promise<readonly { readonly value: readonly [number, string] }[]> {
    const body = new URLSearchParams({ query: expression });
    const response = await fetch(`${this.#url}/api/v1/query`, { method: "POST", body });
    const answer = (await response.json()) as {
      status: string;
      error?: string;
      data: { result: { value: [number, string] }[] };
    };
    if (answer.status !== "success") throw new Error(`${expression}: ${answer.error ?? ""}`);
    return answer.data.result;
  }

  async value(expression: string): Promise<number | undefined> {
    const [first] = await this.query(expression);
    return first === undefined ? undefined : Number(first.value[1]);
  }

  async firing(): Promise<readonly string[]> {
    const response = await fetch(`${this.#url}/api/v1/alerts`);
    const { data } = (await response.json()) as { data: { alerts: Alert[] } };
    const firing = data.alerts.filter(({ state }) => state === "firing");
    return [...new Set(firing.map(({ labels }) => labels["alertname"] ?? ""))];
  }

  async close(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await ended;
  }
}
