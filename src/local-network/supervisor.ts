/** Runs the nodes of a network on this machine and keeps them running. */
import { rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { CodedError } from "../base/coded-error.ts";
import { quorumOf } from "../consensus/quorum.ts";
import { LogFile } from "../logging/log-file.ts";
import {
  CLIENT_NAME,
  LOG_STACK_NAME,
  NODE_NAMES,
  REPLICA_COUNT,
  REPLICA_NAMES,
} from "../config/node-names.ts";
import { writeFileAtomically } from "../storage/atomic-file.ts";
import { type NetworkPaths } from "./network-paths.ts";
import { LOOPBACK } from "./free-ports.ts";
import { NodeChild, type Failure } from "./node-child.ts";
import { hasCompiledCode, markCompiledCode } from "./compiled-code.ts";
import type { SupervisorRecord } from "./supervisor-record.ts";
import type { LogStackPorts } from "./up-options.ts";

export type SupervisorOptions = {
  readonly paths: NetworkPaths;
  readonly rpcPort: number;
  readonly rpcUrl: string;
  readonly logLevel: string | undefined;
  /** True while the replicas have yet to begin. */
  readonly isBootstrap: boolean;
  /** Replicas that discard their log at their first start. */
  readonly rejoining: ReadonlySet<string>;
  readonly logStack: LogStackPorts | undefined;
};

export type SupervisorEvents = {
  onStarted(node: string): void;
  onReady(): void;
  onEnded(node: string, failure: Failure): void;
  /** The network cannot become ready: too many nodes refuse to start. */
  onHopeless(error: CodedError): void;
};

/** Together they load all code there is. */
const PIONEERS: readonly string[] = [...REPLICA_NAMES.slice(0, 1), CLIENT_NAME];
/** If one of them fails, the others fail for the same reason and report it. */
const PIONEER_TIMEOUT_MS = 5_000;

/**
 * Most objects are short-lived: a young generation that is large from the start saves a node many
 * collections. 64 MB would save no more and cost 200 MB of memory per node (docs/adr/0015).
 */
const NURSERY_FLAGS = ["--min-semi-space-size=16", "--max-semi-space-size=16"];
/**
 * The rest may double before it is searched for garbage. Left alone, the engine takes three times
 * as long for that under load, and saves 50 MB of the client's memory (docs/adr/0015).
 */
const GROWTH_FLAGS = ["--heap-growing-percent=100"];
/**
 * Five processes on few cores: more collector threads only wait for each other, while the other
 * nodes need the core. A fifth of the whole network's processor time (docs/adr/0015).
 */
const SHARED_CORES_MAX = 4;
const RUNTIME_FLAGS: readonly string[] = [
  ...NURSERY_FLAGS,
  ...GROWTH_FLAGS,
  ...(availableParallelism() <= SHARED_CORES_MAX ? ["--single-threaded-gc"] : []),
];

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #events: SupervisorEvents;
  readonly #children: readonly NodeChild[];
  readonly #startedAtMs = Date.now();
  /** Nodes that came up at least once since the start. */
  readonly #begun = new Set<string>();
  /** Why nodes that never came up did not. */
  readonly #refusals = new Map<string, Failure>();
  readonly #loaded = new Set<string>();
  #isReady = false;
  #isStopping = false;

  constructor(options: SupervisorOptions, events: SupervisorEvents) {
    this.#options = options;
    this.#events = events;
    const stack = options.logStack === undefined ? [] : [LOG_STACK_NAME];
    this.#children = [...stack, ...NODE_NAMES].map((name) => this.#createChild(name));
  }

  /**
   * All at once, except where nothing is compiled yet: then one replica and the client do it for
   * the others, which would otherwise all do the same work on few cores.
   */
  start(): void {
    const isCold = !hasCompiledCode();
    const first = isCold
      ? this.#children.filter(({ name }) => PIONEERS.includes(name))
      : this.#children;
    for (const child of first) child.start();
    if (isCold) setTimeout(() => this.#startOthers(), PIONEER_TIMEOUT_MS).unref();
  }

  #startOthers(): void {
    if (this.#isStopping) return;
    for (const child of this.#children) if (child.state === "new") child.start();
  }

  #onLoaded(name: string): void {
    this.#loaded.add(name);
    if (PIONEERS.every((pioneer) => this.#loaded.has(pioneer))) this.#startOthers();
  }

  /** The client first, which still has something to submit; then the replicas; then their logs. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const clients = this.#children.filter(({ name }) => name === CLIENT_NAME);
    const replicas = this.#children.filter(({ name }) => REPLICA_NAMES.includes(name));
    const others = this.#children.filter(({ name }) => !NODE_NAMES.includes(name));
    for (const group of [clients, replicas, others]) {
      await Promise.all(group.map((child) => child.stop()));
    }
    rmSync(this.#options.paths.supervisorFile, { force: true });
  }

  /** Kills at once; the data on the disk stays valid. */
  kill(): void {
    this.#isStopping = true;
    for (const child of this.#children) child.kill();
  }

  #createChild(name: string): NodeChild {
    const { paths } = this.#options;
    return new NodeChild(
      {
        name,
        runtimeFlags: RUNTIME_FLAGS,
        args: () => this.#argsOf(name),
      },
      new LogFile(paths.log(name)),
      {
        onChange: () => this.#record(),
        onLoaded: () => this.#onLoaded(name),
        onStarted: () => this.#onStarted(name),
        onReady: () => {
          if (name !== CLIENT_NAME || this.#isReady) return;
          this.#isReady = true;
          markCompiledCode();
          this.#record();
          this.#events.onReady();
        },
        onEnded: (failure) => this.#onEnded(name, failure),
      },
    );
  }

  #argsOf(name: string): readonly string[] {
    if (name === CLIENT_NAME) return this.#clientArgs();
    return name === LOG_STACK_NAME ? this.#logStackArgs() : this.#replicaArgs(name);
  }

  #logStackArgs(): readonly string[] {
    const { paths, logStack } = this.#options;
    return [
      ...["log-stack", "--data", paths.data(LOG_STACK_NAME), "--host", LOOPBACK],
      ...["--input-port", String(logStack?.inputPort)],
      ...["--search-port", String(logStack?.searchPort)],
      ...["--viewer-port", String(logStack?.viewerPort)],
    ];
  }

  #replicaArgs(name: string): readonly string[] {
    const { paths, isBootstrap, rejoining } = this.#options;
    const isFirst = !this.#begun.has(name);
    return [
      ...["replica", "--config", paths.config(name)],
      ...(isBootstrap && isFirst ? ["--bootstrap"] : []),
      ...(rejoining.has(name) && isFirst ? ["--rejoin"] : []),
      ...this.#logArgs(),
    ];
  }

  #clientArgs(): readonly string[] {
    const { paths, rpcPort } = this.#options;
    const port = ["--rpc-port", String(rpcPort)];
    return ["client", "--config", paths.config(CLIENT_NAME), ...port, ...this.#logArgs()];
  }

  #logArgs(): readonly string[] {
    const { logLevel, logStack } = this.#options;
    return [
      ...["--log-format", "json"],
      ...(logLevel === undefined ? [] : ["--log-level", logLevel]),
      ...(logStack === undefined
        ? []
        : ["--log-endpoint_1-url", `http://${LOOPBACK}:${logStack.inputPort}`]),
    ];
  }

  #onStarted(name: string): void {
    this.#begun.add(name);
    this.#refusals.delete(name);
    const haveAllBegun = REPLICA_NAMES.every((replica) => this.#begun.has(replica));
    // From here on a replica without a log counts as one that lost it.
    if (haveAllBegun) rmSync(this.#options.paths.bootstrapMark, { force: true });
    this.#events.onStarted(name);
  }

  #onEnded(name: string, failure: Failure): void {
    if (this.#isStopping) return;
    if (this.#makesHopeless(name, failure)) {
      const { code = "NODE_FAILED", sentence } = failure;
      this.#events.onHopeless(new CodedError(code, { node: name, sentence }));
    } else {
      this.#events.onEnded(name, failure);
    }
  }

  /** Before the network was ready, and too many nodes never came up. */
  #makesHopeless(name: string, failure: Failure): boolean {
    // The network works without its log stack.
    if (this.#isReady || this.#begun.has(name) || name === LOG_STACK_NAME) return false;
    this.#refusals.set(name, failure);
    const refusing = [...this.#refusals.keys()].filter((node) => node !== CLIENT_NAME);
    return name === CLIENT_NAME || refusing.length > quorumOf(REPLICA_COUNT).faultsMax;
  }

  #record(): void {
    if (this.#isStopping) return;
    const nodes = this.#children.map(({ name, pid, state, restartCount, failure }) => ({
      ...{ name, pid, state, restartCount },
      failure: failure === undefined ? undefined : nodeFailureText(failure),
    }));
    const record: SupervisorRecord = {
      pid: process.pid,
      startedAtMs: this.#startedAtMs,
      isReady: this.#isReady,
      rpcUrl: this.#options.rpcUrl,
      nodes,
    };
    try {
      writeFileAtomically(
        this.#options.paths.supervisorFile,
        `${JSON.stringify(record, undefined, 2)}\n`,
      );
    } catch {
      // The record is only informative; a full disk is reported by the nodes.
    }
  }
}

export function nodeFailureText({ code, sentence }: Failure): string {
  return code === undefined ? sentence : `${code}: ${sentence}`;
}
