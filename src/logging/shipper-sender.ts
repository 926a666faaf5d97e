/**
 * Sends the waiting lines to one endpoint, one request at a time and in order. Lines count as taken
 * when the endpoint answers 2xx. 429, 5xx, any other answer and silence are tried again after a
 * wait that doubles; 400 and 413 mean bad lines: the batch is halved until the one bad line is
 * alone, which is dropped and counted.
 */
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { endpointPort, endpointUrl, type ShipperEndpoint } from "./shipper-endpoint.ts";
import type { SpoolBatch, Spool } from "./shipper-spool.ts";

export type SenderTiming = {
  readonly answerTimeoutMs: number;
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
};

export type SenderStatus = {
  readonly isUp: boolean;
  readonly sentLines: number;
  readonly rejectedLines: number;
  readonly failedRequests: number;
  /** Of the last failure: a status or a code of the system. */
  readonly problem: string | undefined;
};

type Outcome =
  | { readonly kind: "taken" }
  | { readonly kind: "refused"; readonly problem: string }
  | { readonly kind: "failed"; readonly problem: string; readonly waitMs: number | undefined };

const BATCH_LIMITS = { sizeMax: 512 * 1024, linesMax: 2_000 };
const RETRY_AFTER_MAX_MS = 60_000;

export class Sender {
  readonly #name: string;
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #spool: Spool;
  readonly #timing: SenderTiming;
  readonly #onChange: () => void;
  #linesMax = BATCH_LIMITS.linesMax;
  #retryMs: number;
  #wake: (() => void) | undefined;
  #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #status: SenderStatus = {
    isUp: true,
    sentLines: 0,
    rejectedLines: 0,
    failedRequests: 0,
    problem: undefined,
  };

  constructor(
    endpoint: ShipperEndpoint,
    timing: SenderTiming,
    { spool, onChange }: { readonly spool: Spool; readonly onChange: () => void },
  ) {
    this.#name = endpoint.name;
    this.#url = endpointUrl(endpoint);
    this.#headers = headersOf(endpoint);
    const isSecure = this.#url.protocol === "https:";
    const options = { keepAlive: true, maxSockets: 1 };
    this.#agent = isSecure ? new HttpsAgent(options) : new HttpAgent(options);
    this.#spool = spool;
    this.#timing = timing;
    this.#retryMs = timing.retryMinMs;
    this.#onChange = onChange;
  }

  get status(): SenderStatus {
    return this.#status;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** There may be something to send. */
  wake(): void {
    this.#wake?.();
  }

  /** A request that is under way is given up: its lines are sent again by the next run. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wake?.();
    await this.#running;
    this.#agent.destroy();
  }

  async #run(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const batch = this.#spool.next(this.#name, { ...BATCH_LIMITS, linesMax: this.#linesMax });
      if (batch === undefined) await this.#pause(undefined);
      else await this.#send(batch);
    }
  }

  async #send(batch: SpoolBatch): Promise<void> {
    const outcome = await this.#post(batch.bytes);
    if (this.#stopped.signal.aborted && outcome.kind !== "taken") return;
    switch (outcome.kind) {
      case "taken":
        this.#spool.take(batch);
        this.#retryMs = this.#timing.retryMinMs;
        this.#linesMax = Math.min(2 * this.#linesMax, BATCH_LIMITS.linesMax);
        this.#change({ isUp: true, sentLines: this.#status.sentLines + batch.lineCount });
        return;
      case "refused":
        this.#onRefused(batch, outcome.problem);
        return;
      case "failed": {
        const failedRequests = this.#status.failedRequests + 1;
        this.#change({ isUp: false, failedRequests, problem: outcome.problem });
        // Jitter: nodes that failed together must not retry together.
        const jitter = 0.5 + Math.random() / 2;
        // A lower bound: an endpoint that keeps asking for a retry at once must not be flooded.
        const askedMs = Math.max(outcome.waitMs ?? this.#retryMs, this.#timing.retryMinMs);
        await this.#pause(outcome.waitMs === undefined ? askedMs * jitter : askedMs);
        this.#retryMs = Math.min(2 * this.#retryMs, this.#timing.retryMaxMs);
      }
    }
  }

  #onRefused(batch: SpoolBatch, problem: string): void {
    const failedRequests = this.#status.failedRequests + 1;
    if (batch.lineCount > 1) {
      this.#linesMax = Math.max(1, Math.floor(batch.lineCount / 2));
      this.#change({ failedRequests, problem });
      return;
    }
    this.#spool.take(batch);
    const rejectedLines = this.#status.rejectedLines + 1;
    this.#change({ failedRequests, problem, rejectedLines });
  }

  #post(body: Buffer): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const deadline = AbortSignal.timeout(this.#timing.answerTimeoutMs);
    const fail = (error: unknown): void => {
      const problem = deadline.aborted ? "TIMEOUT" : problemOf(error);
      resolve({ kind: "failed", problem, waitMs: undefined });
    };
    const send = this.#url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = send(
      {
        protocol: this.#url.protocol,
        hostname: this.#url.hostname.replace(/^\[|\]$/g, ""),
        port: endpointPort(this.#url),
        path: this.#url.pathname + this.#url.search,
        method: "POST",
        agent: this.#agent,
        headers: { ...this.#headers, "content-length": body.length },
        signal: AbortSignal.any([this.#stopped.signal, deadline]),
      },
      (response) => {
        response.on("error", fail);
        response.on("end", () => resolve(outcomeOf(response.statusCode ?? 0, response.headers)));
        response.resume();
      },
    );
    request.on("error", fail);
    request.on("close", () => fail(undefined));
    request.end(body);
    return promise;
  }

  #change(changes: Partial<SenderStatus>): void {
    this.#status = { ...this.#status, ...changes };
    this.#onChange();
  }

  /** For so long; without a time until there is something to do. */
  async #pause(waitMs: number | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const end = (): void => resolve(undefined);
    const timer = waitMs === undefined ? undefined : setTimeout(end, waitMs);
    // New lines do not shorten a back-off.
    if (waitMs === undefined) this.#wake = end;
    this.#stopped.signal.addEventListener("abort", end);
    await promise;
    this.#stopped.signal.removeEventListener("abort", end);
    this.#wake = undefined;
    clearTimeout(timer);
  }
}

function outcomeOf(
  status: number,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Outcome {
  if (status >= 200 && status < 300) return { kind: "taken" };
  const problem = `HTTP ${status}`;
  if (status === 400 || status === 413) return { kind: "refused", problem };
  return { kind: "failed", problem, waitMs: retryAfterMs(headers["retry-after"]) };
}

/**
 * Seconds or a date (RFC 9110); undefined for anything else. The value is capped, so that an
 * endpoint cannot stop the shipping for long.
 */
function retryAfterMs(value: string | readonly string[] | undefined): number | undefined {
  if (typeof value !== "string") return undefined;
  const isSeconds = /^\d+$/.test(value);
  const waitMs = isSeconds ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), RETRY_AFTER_MAX_MS);
}

function headersOf({ username, password }: ShipperEndpoint): Readonly<Record<string, string>> {
  const type = { "content-type": "application/x-ndjson" };
  if (username === undefined || username === "") return type;
  const pair = Buffer.from(`${username}:${password ?? ""}`).toString("base64");
  return { ...type, authorization: `Basic ${pair}` };
}

function problemOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "CONNECTION";
}
