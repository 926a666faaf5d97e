/** One node as a child of the supervisor: started, watched, started again, stopped. */
import { spawn, type ChildProcess } from "node:child_process";
import path from "node:path";
import { isRecord } from "../base/parse-json.ts";
import type { LogFile } from "../logging/log-file.ts";
import { COMPILED_CODE } from "./compiled-code.ts";
import { CLOSE_TIMEOUT_MS, SUPERVISED_VARIABLE } from "../node/node-process.ts";

export type NodeChildOptions = {
  readonly name: string;
  /** Of Node.js itself. */
  readonly runtimeFlags: readonly string[];
  /** Asked before every start. */
  readonly args: () => readonly string[];
};

/** waiting: it ended by itself and is started again soon. */
export type ChildState = "new" | "starting" | "up" | "waiting" | "stopped";

/** `code` is undefined where the node reported nothing before it ended. */
export type Failure = { readonly code: string | undefined; readonly sentence: string };

export type NodeChildEvents = {
  onChange(): void;
  /** Its code is read and compiled. */
  onLoaded(): void;
  onStarted(): void;
  onReady(): void;
  /** It ended by itself; `failure` is what it reported. */
  onEnded(failure: Failure): void;
};

const PROGRAM = path.join(import.meta.dirname, "..", "..", "bin", "quorate.js");
const RESTART_MIN_MS = 100;
const RESTART_MAX_MS = 10_000;
/** A node that ran for so long has recovered: the next wait is short again. */
const HEALTHY_MS = 10_000;
const KILL_AFTER_MS = CLOSE_TIMEOUT_MS + 2_000;

export class NodeChild {
  readonly name: string;
  readonly #options: NodeChildOptions;
  readonly #log: LogFile;
  readonly #events: NodeChildEvents;
  #process: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #state: ChildState = "new";
  #restartCount = 0;
  #restartMs = RESTART_MIN_MS;
  #restartTimer: NodeJS.Timeout | undefined;
  #failure: Failure | undefined;

  constructor(options: NodeChildOptions, log: LogFile, events: NodeChildEvents) {
    this.name = options.name;
    this.#options = options;
    this.#log = log;
    this.#events = events;
  }

  get state(): ChildState {
    return this.#state;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get restartCount(): number {
    return this.#restartCount;
  }

  /** Why it ended the last time; undefined once it is up again. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  start(): void {
    const startedMs = performance.now();
    const { runtimeFlags, args } = this.#options;
    const child = spawn(process.execPath, [...runtimeFlags, PROGRAM, ...args()], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      env: childEnvironment(),
      // A group of its own: Ctrl-C reaches the supervisor alone, which stops all in order.
      detached: true,
    });
    this.#process = child;
    this.#state = "starting";
    let failure: Failure | undefined;
    child.stdout?.on("data", (text: Uint8Array) => this.#log.append(text));
    child.stderr?.on("data", (text: Uint8Array) => this.#log.append(text));
    child.on("message", (message) => {
      failure = this.#onMessage(message) ?? failure;
    });
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#ended = promise;
    const onEnd = (reason: Failure): void => {
      if (this.#process !== child) return;
      this.#process = undefined;
      if (performance.now() - startedMs > HEALTHY_MS) this.#restartMs = RESTART_MIN_MS;
      resolve(undefined);
      this.#onEnd(reason);
    };
    child.on("error", (error) => onEnd({ code: undefined, sentence: error.message }));
    // Not "exit": at "close" its last output has been read.
    child.on("close", (code, signal) => {
      const how = signal === null ? `ended with code ${String(code)}` : `was ended by ${signal}`;
      onEnd(failure ?? { code: undefined, sentence: how });
    });
    this.#events.onChange();
  }

  /** Resolves when it is gone. */
  async stop(): Promise<void> {
    clearTimeout(this.#restartTimer);
    this.#state = "stopped";
    this.#process?.kill("SIGTERM");
    const timer = setTimeout(() => this.#process?.kill("SIGKILL"), KILL_AFTER_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  kill(): void {
    clearTimeout(this.#restartTimer);
    this.#state = "stopped";
    this.#process?.kill("SIGKILL");
  }

  /** The failure that the child reports. */
  #onMessage(message: unknown): Failure | undefined {
    if (!isRecord(message) || this.#state === "stopped") return undefined;
    switch (message["kind"]) {
      case "loaded":
        this.#events.onLoaded();
        return undefined;
      case "started":
        this.#state = "up";
        this.#failure = undefined;
        this.#events.onStarted();
        this.#events.onChange();
        return undefined;
      case "ready":
        this.#events.onReady();
        return undefined;
      case "failed":
        return { code: String(message["code"]), sentence: String(message["sentence"]) };
      default:
        return undefined;
    }
  }

  #onEnd(failure: Failure): void {
    if (this.#state === "stopped") {
      this.#events.onChange();
      return;
    }
    this.#state = "waiting";
    this.#failure = failure;
    this.#restartCount++;
    const waitMs = this.#restartMs;
    this.#restartMs = Math.min(2 * this.#restartMs, RESTART_MAX_MS);
    this.#restartTimer = setTimeout(() => this.start(), waitMs);
    this.#events.onEnded(failure);
    this.#events.onChange();
  }
}

/** Settings of the supervisor are not those of a node: each node has its file. */
function childEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("QUORATE_"));
  return {
    ...Object.fromEntries(own),
    [SUPERVISED_VARIABLE]: "1",
    // Threads take it from here alone.
    NODE_COMPILE_CACHE: COMPILED_CODE,
  };
}
