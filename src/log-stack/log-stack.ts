/**
 * The embedded log stack (SPEC L8): input, store, read endpoint and viewer in one process, with the
 * contract of the stack on a cluster (SPEC L2-L7).
 */
import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Logger } from "../base/logger.ts";
import { InputServer, type InputCounts } from "./input-server.ts";
import { DEFAULT_LOG_STORE_OPTIONS, LogStore } from "./log-store.ts";
import { SearchServer } from "./search-server.ts";
import { SearchService } from "./search-service.ts";
import { ViewerServer } from "./viewer-server.ts";

export type LogStackOptions = {
  /** Where the store is kept. */
  readonly dataPath: string;
  readonly host: string;
  readonly inputPort: number;
  readonly searchPort: number;
  readonly viewerPort: number;
  /** Names besides addresses and localhost under which the stack may be reached. */
  readonly hostNames?: readonly string[];
  readonly username?: string;
  readonly password?: string;
  readonly sizeMax?: number;
  readonly ageMaxMs?: number;
  readonly searchTimeMaxMs?: number;
};

const SEARCH_TIME_MAX_MS = 10_000;

export class LogStack {
  readonly #store: LogStore;
  readonly #search: SearchService;
  readonly #closers: (() => Promise<void>)[] = [];
  #input: InputServer | undefined;
  #searchServer: SearchServer | undefined;
  #viewer: ViewerServer | undefined;

  private constructor(options: LogStackOptions, logger: Logger) {
    mkdirSync(options.dataPath, { recursive: true, mode: 0o700 });
    const filePath = path.join(options.dataPath, "logs.sqlite");
    const { sizeMax, ageMaxMs, searchTimeMaxMs: timeMaxMs = SEARCH_TIME_MAX_MS } = options;
    this.#store = new LogStore(
      {
        ...DEFAULT_LOG_STORE_OPTIONS,
        filePath,
        ...(sizeMax === undefined ? {} : { sizeMax }),
        ...(ageMaxMs === undefined ? {} : { ageMaxMs }),
      },
      {
        onWritten: (lastId) => this.#viewer?.onWritten(lastId),
        onRetentionFailed: (error) =>
          logger.warn("old entries could not be removed", { reason: String(error) }),
      },
    );
    if (this.#store.isReplaced) logger.warn("the log store was damaged and put aside");
    this.#search = new SearchService({ filePath, timeMaxMs });
  }

  /** Throws LOG_STACK_LISTEN_FAILED, LOG_STORE_OPEN_FAILED or LOG_STORE_VERSION_UNKNOWN. */
  static async open(options: LogStackOptions, logger: Logger): Promise<LogStack> {
    const stack = new LogStack(options, logger);
    try {
      await stack.#listen(options);
      const { inputPort, searchPort, viewerPort } = stack.ports;
      logger.info("log stack serves", { inputPort, searchPort, viewerPort });
      return stack;
    } catch (error) {
      await stack.close();
      throw error;
    }
  }

  get ports(): {
    readonly inputPort: number;
    readonly searchPort: number;
    readonly viewerPort: number;
  } {
    return {
      inputPort: this.#input?.port ?? 0,
      searchPort: this.#searchServer?.port ?? 0,
      viewerPort: this.#viewer?.port ?? 0,
    };
  }

  get counts(): Readonly<InputCounts> & { readonly removedCount: number } {
    const none = { requestCount: 0, entryCount: 0, refusedCount: 0, taggedCount: 0 };
    return { ...(this.#input?.counts ?? none), removedCount: this.#store.removedCount };
  }

  /** The input closes first, so that no line is accepted that is not stored. */
  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
    await this.#search.close();
    this.#store.close();
  }

  async #listen(options: LogStackOptions): Promise<void> {
    const { host, hostNames = [], username, password } = options;
    const at = (port: number): { host: string; port: number; hostNames: readonly string[] } => ({
      host,
      port,
      hostNames,
    });
    const viewer = await ViewerServer.open(at(options.viewerPort), this.#search);
    this.#viewer = viewer;
    this.#closers.push(() => viewer.close());
    const searchServer = await SearchServer.open(at(options.searchPort), this.#search);
    this.#searchServer = searchServer;
    this.#closers.push(() => searchServer.close());
    const credentials = {
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
    };
    const input = await InputServer.open({ ...at(options.inputPort), ...credentials }, this.#store);
    this.#input = input;
    this.#closers.push(() => input.close());
  }
}
