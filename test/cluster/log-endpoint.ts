/**
 * Stands for the log stack in the cluster: its service `logstash-logstash` in the namespace default,
 * and behind it the pipeline of deploy/logging/logstash.yaml as the tests restate it.
 */
import { createServer, type Server } from "node:http";
import { originalFilters, restatePipeline } from "../support/logstash-restatement.ts";
import { NODE_ADDRESS } from "./machine.ts";
import { kubectl } from "./release.ts";

const NAME = "logstash-logstash";
const PORT = 8080;

type Document = Readonly<Record<string, unknown>>;

export class LogEndpoint {
  readonly #documents: Document[] = [];
  readonly #server: Server;

  private constructor() {
    const filters = originalFilters();
    this.#server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text));
      request.on("end", () => {
        this.#documents.push(...restatePipeline(filters, body, Date.now()));
        response.end("ok");
      });
    });
  }

  static async open(): Promise<LogEndpoint> {
    const endpoint = new LogEndpoint();
    await new Promise<void>((resolve) => endpoint.#server.listen(PORT, NODE_ADDRESS, resolve));
    kubectl(["apply", "-f", "-"], manifests());
    return endpoint;
  }

  get count(): number {
    return this.#documents.length;
  }

  values(field: string): ReadonlySet<string> {
    return new Set(this.#documents.map((document) => String(document[field])));
  }

  /** Entries that a step of the pipeline could not read. */
  failures(): readonly Document[] {
    return this.#documents.filter(({ tags }) => tags !== undefined);
  }

  async close(): Promise<void> {
    kubectl(["delete", "service,endpoints", NAME, "--namespace", "default", "--ignore-not-found"]);
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

/** As the chart of Logstash makes it, but for what is behind it: a program of this machine. */
function manifests(): string {
  const metadata = { name: NAME, namespace: "default" };
  const port = { name: "http", port: PORT, protocol: "TCP" };
  const service = {
    ...{ apiVersion: "v1", kind: "Service", metadata },
    spec: { type: "ClusterIP", ports: [{ ...port, targetPort: PORT }] },
  };
  const endpoints = {
    ...{ apiVersion: "v1", kind: "Endpoints", metadata },
    subsets: [{ addresses: [{ ip: NODE_ADDRESS }], ports: [port] }],
  };
  return JSON.stringify({ apiVersion: "v1", kind: "List", items: [service, endpoints] });
}
