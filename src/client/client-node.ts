/**
 * The client node: links to all replicas, a mempool whose hashes are promises, a follower that
 * proves what replicas send, and local reads. The RPC server is put in front of it by src/node.
 */
import type { ReplicaIndex } from "../consensus/block.ts";
import type { Endpoint } from "../transport/principal.ts";
import type { PoolStatus } from "../txpool/tx-pool.ts";
import type { ClientEvents } from "./client-events.ts";
import type { ClientDependencies, ClientOptions } from "./client-options.ts";
import { createClientParts, type ClientParts } from "./client-parts.ts";
import { closeStores, openStores, type ClientStores } from "./client-stores.ts";
import { NodeFailure } from "./node-failure.ts";
import type { LocalReads } from "./reads/local-reads.ts";
import type { FollowedStatus } from "./sync/followed-replicas.ts";
import type { PendingTransactions } from "./transactions/pending-transactions.ts";

export type ClientStatus = {
  readonly isReady: boolean;
  /** Final here, by consensus height. */
  readonly finalHeight: number;
  /** Executed, matched and readable. */
  readonly publishedHeight: number;
  readonly blockNumber: bigint;
  /** Heights that f+1 replicas report and that are not published here yet. */
  readonly lag: number;
  readonly replicas: readonly FollowedStatus[];
  /** How many replicas are up, and how many it takes to order something. */
  readonly upCount: number;
  readonly quorum: number;
  readonly pool: PoolStatus;
  /** Acknowledged and not final yet. */
  readonly openTransactions: number;
  /** For how long executable transactions have waited while nothing became final; 0 if none do. */
  readonly stalledMs: number;
  readonly isDiskFull: boolean;
  /** The code of what keeps the journal from being written: reads go on, nothing is accepted. */
  readonly journalFailure: string | undefined;
  /** The code of what stopped the node. */
  readonly failure: string | undefined;
};

const TICK_MS = 100;
/** How often the mempool looks for transactions that are due to be retransmitted. */
const RESEND_CHECK_MS = 200;

export class ClientNode {
  readonly #parts: ClientParts;
  readonly #stores: ClientStores;
  readonly #failure: NodeFailure;
  #timers: NodeJS.Timeout[] = [];
  #isClosed = false;

  /** Resolves when reads and submissions work; `whenReady` resolves when the network is there. */
  static async open(options: ClientOptions, dependencies: ClientDependencies): Promise<ClientNode> {
    const failure = new NodeFailure(dependencies);
    const stores = await openStores(options, dependencies.logger, (error) => failure.fail(error));
    try {
      const parts = createClientParts({ options, dependencies, stores, failure });
      const node = new ClientNode(parts, stores, failure);
      await parts.pending.restore();
      await node.#start();
      return node;
    } catch (error) {
      await closeStores(stores);
      throw error;
    }
  }

  private constructor(parts: ClientParts, stores: ClientStores, failure: NodeFailure) {
    this.#parts = parts;
    this.#stores = stores;
    this.#failure = failure;
  }

  /** Everything that ethrpc reads. */
  get reads(): LocalReads {
    return this.#parts.reads;
  }

  /** The mempool, where transactions are submitted. */
  get pending(): PendingTransactions {
    return this.#parts.pending;
  }

  /** Returns what ends the subscription. */
  on<Name extends keyof ClientEvents>(
    name: Name,
    listener: (event: ClientEvents[Name]) => void,
  ): () => void {
    return this.#parts.events.on(name, listener);
  }

  /** The address of a replica, if it was not known at the start or has changed. */
  setEndpoint(replica: ReplicaIndex, endpoint: Endpoint): void {
    this.#parts.links.setEndpoint(replica, endpoint);
  }

  /** Threads that run long calls now, or did a moment ago. */
  get readThreadCount(): number {
    return this.#parts.calls.threadCount;
  }

  get isReady(): boolean {
    return this.#parts.readiness.isReady;
  }

  /** Resolves when the node is ready for the first time. */
  whenReady(): Promise<void> {
    return this.#parts.readiness.whenReady();
  }

  status(): ClientStatus {
    const { head, progress, replicas, links, quorum, pending, poolProgress, disk } = this.#parts;
    const nowMs = performance.now();
    return {
      isReady: this.isReady,
      finalHeight: progress.provedHeight,
      publishedHeight: head.height,
      blockNumber: head.number,
      lag: progress.lag,
      replicas: replicas.status(nowMs),
      upCount: links.replicasUp.length,
      quorum: quorum.quorum,
      pool: pending.poolStatus(),
      openTransactions: pending.openCount,
      stalledMs: poolProgress.stalledMs(nowMs),
      isDiskFull: disk.isFull,
      journalFailure: this.#failure.journalCode,
      failure: this.#failure.code,
    };
  }

  /** In the reverse order of opening; acknowledged transactions stay in the journal. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#failure.close();
    for (const timer of this.#timers) clearInterval(timer);
    const { waiters, links, calls, follower } = this.#parts;
    waiters.close();
    await links.close();
    await calls.close();
    await follower.stop();
    await closeStores(this.#stores);
  }

  async #start(): Promise<void> {
    const { links, handler, follower, pending, timing } = this.#parts;
    await links.start(handler);
    follower.start();
    this.#timers = [
      setInterval(() => this.#tick(), TICK_MS),
      setInterval(() => pending.resend(performance.now()), RESEND_CHECK_MS),
      setInterval(() => pending.expire(), timing.expiryCheckMs),
    ];
  }

  #tick(): void {
    const { follower, readiness, publisher, poller } = this.#parts;
    follower.tick();
    readiness.check();
    const nowMs = performance.now();
    publisher.notePoolProgress(nowMs);
    poller.tick(nowMs);
  }
}
