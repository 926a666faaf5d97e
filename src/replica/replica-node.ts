/**
 * A replica: sockets, consensus core, log and admission in this thread, execution in another.
 * Opened from what is on the disk; closed in the reverse order of opening.
 */
import { randomBytes } from "node:crypto";
import { CodedError } from "../base/coded-error.ts";
import type { ReplicaIndex } from "../consensus/block.ts";
import type { Start } from "../consensus/recovery/start.ts";
import type { Endpoint } from "../transport/principal.ts";
import type { ReplicaReport } from "../wire/client-codec.ts";
import { bytesToHash } from "../wire/hash-text.ts";
import type { ExecutionReport } from "./execution/execution-report.ts";
import type { ReplicaDependencies, ReplicaOptions } from "./replica-options.ts";
import { ReplicaParts } from "./replica-parts.ts";
import type { LocalReport, ReplicaCounters } from "./replica-report.ts";
import { closeResources, openResources, type Resources } from "./replica-resources.ts";
import { startOf } from "./start-mode.ts";

const EXPIRY_INTERVAL_MS = 30_000;

export class ReplicaNode {
  readonly #dependencies: ReplicaDependencies;
  readonly #resources: Resources;
  readonly #parts: ReplicaParts;
  readonly #expiry: NodeJS.Timeout;
  #isClosing = false;

  static async open(
    options: ReplicaOptions,
    dependencies: ReplicaDependencies,
  ): Promise<ReplicaNode> {
    let node: ReplicaNode | undefined;
    // The thread may report before the node is there; it cannot execute before it is asked to.
    const onceOpen = (act: (opened: ReplicaNode) => void): void => {
      if (node !== undefined) act(node);
    };
    const resources = await openResources(options, dependencies.logger, {
      onExecuted: (executed, durationMs) =>
        onceOpen((opened) => opened.#onExecuted(executed, durationMs)),
      onLogSynced: (durationMs) => dependencies.observer?.onLogSynced(durationMs),
      onStateFull: (isFull) => onceOpen((opened) => opened.#parts.gate.onStateFull(isFull)),
      onBlocksFull: () => onceOpen((opened) => opened.#parts.gate.onBlocksChanged()),
      onFailed: (error) => onceOpen((opened) => opened.#fail(error)),
    });
    try {
      node = new ReplicaNode(options, dependencies, resources);
      await node.#start();
      return node;
    } catch (error) {
      if (node === undefined) await closeResources(resources);
      else await node.close();
      throw error;
    }
  }

  private constructor(
    options: ReplicaOptions,
    dependencies: ReplicaDependencies,
    resources: Resources,
  ) {
    this.#dependencies = dependencies;
    this.#resources = resources;
    this.#parts = new ReplicaParts(options, dependencies, resources, (error) => this.#fail(error));
    const { admission } = this.#parts;
    this.#expiry = setInterval(() => admission.expire(performance.now()), EXPIRY_INTERVAL_MS);
    this.#expiry.unref();
  }

  get counters(): ReplicaCounters {
    return this.#parts.counters;
  }

  /** The port that was given or that the system chose. */
  get port(): number {
    return this.#parts.links.port;
  }

  get genesisBlockHash(): Uint8Array {
    return this.#resources.ready.genesis.blockHash;
  }

  /** Where another replica is to be found, if that was not known at the start. */
  setEndpoint(replica: ReplicaIndex, endpoint: Endpoint): void {
    this.#parts.links.setEndpoint(replica, endpoint);
  }

  report(nonce = 0): ReplicaReport & LocalReport {
    return this.#parts.reporter.report(nonce);
  }

  /** The result of a height that this replica executed, if it still knows it. */
  resultOf(height: number): Uint8Array | undefined {
    return this.#parts.blocks.result(height);
  }

  async close(): Promise<void> {
    const { driver, stateSync, inbox, sessions, links } = this.#parts;
    this.#isClosing = true;
    clearInterval(this.#expiry);
    // The others need not wait for their view timers if this replica leads.
    driver.input({ kind: "retire" });
    await driver.stop();
    await stateSync.close();
    inbox.close();
    sessions.close();
    await links.close();
    await closeResources(this.#resources);
  }

  async #start(): Promise<void> {
    const { options, logger, links, router, driver, stateSync, feed } = this.#parts;
    await links.open(router);
    const how = this.#howToStart(options);
    await driver.start(how);
    const { finalHeight } = driver.status();
    stateSync.consider(finalHeight);
    feed.start(finalHeight);
    const { index } = options;
    const { isRebuilt, height } = this.#resources.ready;
    if (isRebuilt) logger.warn("the state was damaged and is made again", { index });
    logger.info("replica started", { index, start: how.kind, finalHeight, execHeight: height });
  }

  #howToStart({ startMode }: ReplicaOptions): Start {
    const { opened, store, ready } = this.#resources;
    const found = {
      records: opened.records,
      blockHeight: store.latestHeight,
      stateHeight: ready.height,
    };
    return startOf(startMode, found, bytesToHash(randomBytes(32)));
  }

  #onExecuted(executed: ExecutionReport, durationMs: number): void {
    if (!this.#isClosing) this.#parts.progress.onExecuted(executed, durationMs);
  }

  /** Nothing is signed or sent from here on; what is on the disk stays as it is. */
  #fail(error: unknown): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    clearInterval(this.#expiry);
    const code = error instanceof CodedError ? error.code : "REPLICA_FAILED";
    const reason = error instanceof Error ? error.message : String(error);
    this.#dependencies.logger.error("the replica stopped", { code, reason });
    this.#parts.driver.stop().catch(() => undefined);
    this.#parts.links.close(0).catch(() => undefined);
    this.#dependencies.onFatal(error);
  }
}
