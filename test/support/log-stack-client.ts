/** A log stack on ports of its own, and what a test asks of it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Logger } from "../../src/base/logger.ts";
import { LogStack, type LogStackOptions } from "../../src/log-stack/log-stack.ts";

export type Json = Readonly<Record<string, unknown>>;

export type StoredHit = {
  readonly _id: string;
  readonly _source: Json;
  readonly sort: readonly unknown[];
};

export type FoundHits = {
  readonly hits: {
    readonly total: { readonly value: number };
    readonly hits: readonly StoredHit[];
  };
  readonly aggregations: Readonly<
    Record<string, { readonly buckets: readonly (Json & { readonly doc_count: number })[] }>
  >;
};

export const SILENT_LOGGER: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export class LogStackClient {
  readonly stack: LogStack;
  readonly dataPath: string;

  private constructor(stack: LogStack, dataPath: string) {
    this.stack = stack;
    this.dataPath = dataPath;
  }

  static async open(options: Partial<LogStackOptions> = {}): Promise<LogStackClient> {
    const dataPath = options.dataPath ?? mkdtempSync(path.join(tmpdir(), "quorate-logs-"));
    const ports = { inputPort: 0, searchPort: 0, viewerPort: 0 };
    const stack = await LogStack.open(
      { host: "127.0.0.1", ...ports, ...options, dataPath },
      SILENT_LOGGER,
    );
    return new LogStackClient(stack, dataPath);
  }

  get inputUrl(): string {
    return `http://127.0.0.1:${this.stack.ports.inputPort}`;
  }

  get searchUrl(): string {
    return `http://127.0.0.1:${this.stack.ports.searchPort}`;
  }

  get viewerUrl(): string {
    return `http://127.0.0.1:${this.stack.ports.viewerPort}`;
  }

  async send(lines: readonly unknown[], headers: Record<string, string> = {}): Promise<Response> {
    const body = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
    return fetch(this.inputUrl, {
      method: "POST",
      headers: { "content-type": "application/x-ndjson", ...headers },
      body: body.join("\n"),
    });
  }

  async search(body: unknown, path_ = "/logs-generic-default/_search"): Promise<FoundHits> {
    const response = await this.searchRaw(body, path_);
    if (response.status !== 200) throw new Error(await response.text());
    return (await response.json()) as FoundHits;
  }

  searchRaw(body: unknown, path_ = "/logs-generic-default/_search"): Promise<Response> {
    return fetch(`${this.searchUrl}${path_}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  async close(): Promise<void> {
    await this.stack.close();
    rmSync(this.dataPath, { recursive: true, force: true });
  }
}

/** A line as a node writes it. */
export function logLine(fields: Json = {}): Json {
  return {
    level: "info",
    logtime: logtimeOf(Date.now()),
    blockchain_id: "chain-a",
    service_name: "replica-0",
    node_id: "replica-0",
    logger: "consensus",
    message: "block final",
    ...fields,
  };
}

export function logtimeOf(timeMs: number): string {
  const iso = new Date(timeMs).toISOString();
  return `${iso.slice(0, 19)},${iso.slice(20, 23)},+0000`;
}
