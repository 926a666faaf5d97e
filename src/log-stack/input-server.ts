/**
 * The input of the pipeline (SPEC L2, id `vmbc-logs`): a request is answered with `ok` when all its
 * lines are in the store. 429 and 503 ask the sender to retry with the same lines.
 */
import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import {
  type Exchange,
  HttpError,
  HttpListener,
  type ListenOptions,
  readRequestBody,
  sendText,
} from "./http-listener.ts";
import { processRequest } from "./log-pipeline.ts";
import type { LogStore } from "./log-store.ts";

export const INPUT_ID = "vmbc-logs";

export type InputOptions = ListenOptions & {
  /** With a user, every request must carry both (HTTP basic). */
  readonly username?: string;
  readonly password?: string;
};

export type InputCounts = {
  requestCount: number;
  entryCount: number;
  refusedCount: number;
  taggedCount: number;
};

const BODY_LIMITS = { sentMax: 16 * 1024 * 1024, unpackedMax: 64 * 1024 * 1024 };
const LINES_MAX = 100_000;
/** Bodies being read and unpacked at one time; the memory of the stack depends on it. */
const READING_SIZE_MAX = 128 * 1024 * 1024;

export class InputServer {
  readonly counts: InputCounts = {
    requestCount: 0,
    entryCount: 0,
    refusedCount: 0,
    taggedCount: 0,
  };
  readonly #options: InputOptions;
  readonly #store: LogStore;
  #listener: HttpListener | undefined;
  #readingSize = 0;

  private constructor(options: InputOptions, store: LogStore) {
    this.#options = options;
    this.#store = store;
  }

  static async open(options: InputOptions, store: LogStore): Promise<InputServer> {
    const input = new InputServer(options, store);
    input.#listener = await HttpListener.open(options, (exchange) => input.#take(exchange));
    return input;
  }

  get port(): number {
    return this.#listener?.port ?? 0;
  }

  async close(): Promise<void> {
    await this.#listener?.close();
  }

  async #take(exchange: Exchange): Promise<void> {
    this.counts.requestCount += 1;
    try {
      await this.#takeLines(exchange);
    } catch (error) {
      this.counts.refusedCount += 1;
      throw error;
    }
  }

  async #takeLines(exchange: Exchange): Promise<void> {
    const { request } = exchange;
    if (!this.#isAllowed(request)) {
      exchange.response.setHeader("www-authenticate", `Basic realm="${INPUT_ID}"`);
      throw new HttpError(401, "user name or password is wrong");
    }
    if (request.method !== "POST" && request.method !== "PUT") {
      throw new HttpError(405, `POST log lines to this port (input ${INPUT_ID})`);
    }
    const size = Number(request.headers["content-length"] ?? BODY_LIMITS.sentMax);
    if (this.#readingSize > 0 && this.#readingSize + size > READING_SIZE_MAX) {
      throw new HttpError(429, "too much at once");
    }
    this.#readingSize += size;
    try {
      const body = await readRequestBody(request, BODY_LIMITS);
      await this.#keep(exchange, body);
    } finally {
      this.#readingSize -= size;
    }
  }

  async #keep(exchange: Exchange, body: Buffer): Promise<void> {
    const lineCount = countLines(body);
    if (lineCount > LINES_MAX) throw new HttpError(413, `at most ${LINES_MAX} lines`);
    if (!this.#store.hasRoomFor(lineCount)) throw new HttpError(429, "the store is behind");
    const { request } = exchange;
    const documents = processRequest(
      {
        body: body.toString("utf8"),
        contentType: request.headers["content-type"] ?? "",
        host: request.socket.remoteAddress ?? "",
        headers: request.headers,
      },
      Date.now(),
    );
    try {
      await this.#store.add(documents);
    } catch {
      throw new HttpError(503, "the store cannot be written");
    }
    this.counts.entryCount += documents.length;
    this.counts.taggedCount += documents.filter(
      ({ fields }) => fields["tags"] !== undefined,
    ).length;
    sendText(exchange, 200, "ok", { "x-input-id": INPUT_ID });
  }

  #isAllowed({ headers }: IncomingMessage): boolean {
    const { username, password = "" } = this.#options;
    if (username === undefined || username === "") return true;
    const wanted = Buffer.from(
      `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`,
    );
    const given = Buffer.from(headers.authorization ?? "");
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
}

function countLines(body: Buffer): number {
  let count = 1;
  for (let at = body.indexOf(10); at !== -1; at = body.indexOf(10, at + 1)) count += 1;
  return count;
}
