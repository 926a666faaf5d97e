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
/** An Elasticsearch in the cluster's network, where there is one: it stores what comes. */
const STORE = process.env["QUORATE_CLUSTER_ELASTICSEARCH"];
const STREAM = "logs-generic-default";

type Document = Readonly<Record<string, unknown>>;

export class LogEndpoint {
  readonly #documents: Document[] = [];
  readonly #server: Server;
  #storing: Promise<void> = Promise.resolve();

  private constructor() {
    const filters = originalFilters();
    this.#server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text));
      request.on("end", () => {
        const documents = restatePipeline(filters, body, Date.now());
        this.#documents.push(...documents);
        if (STORE !== undefined) this.#storing = this.#storing.then(() => store(STORE, documents));
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

  /** How many entries the store has of each service; undefined without a store. */
  async stored(): Promise<ReadonlyMap<string, number> | undefined> {
    if (STORE === undefined) return undefined;
    await this.#storing;
    const body = { size: 0, aggs: { names: { terms: { field: "service_name" } } } };
    const answer = (await ask(`${STORE}/${STREAM}*/_search`, JSON.stringify(body))) as {
      readonly aggregations: {
        readonly names: {
          readonly buckets: { readonly key: string; readonly doc_count: number }[];
        };
      };
    };
    const { buckets } = answer.aggregations.names;
    return new Map(buckets.map(({ key, doc_count: count }) => [key, count]));
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

/** As the pipeline's output does: created in the data stream, and seen at once. */
async function store(url: string, documents: readonly Document[]): Promise<void> {
  const lines = documents.flatMap((document) => [{ create: {} }, document]);
  const body = `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
  const { errors } = (await ask(`${url}/${STREAM}/_bulk?refresh=true`, body)) as {
    readonly errors: boolean;
  };
  if (errors) throw new Error("Elasticsearch refused an entry");
}

async function ask(url: string, body: string): Promise<unknown> {
  const headers = { "content-type": "application/x-ndjson" };
  const response = await fetch(url, { method: "POST", headers, body });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
