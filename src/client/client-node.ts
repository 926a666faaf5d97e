/**
 * The client node: links to all replicas, a pool that keeps its promises, a follower that trusts no
 * single replica, and local reads. The RPC server and the process around it are others.
 */
import { CodedError } from "../base/coded-error.ts";
import { hexToBytes } from "../base/hex.ts";
import type { Result } from "../base/result.ts";
import type { RecoveredTransaction } from "../chain/transaction-sender.ts";
import type { SubmitRefusal, TransactionStatus } from "../api/transaction-status.ts";
import type { ReplicaIndex } from "../consensus/block.ts";
import { DEFAULT_PARAMETERS } from "../consensus/parameters.ts";
import { quorumOf, type Quorum } from "../consensus/quorum.ts";
import type { Endpoint } from "../transport/principal.ts";
import { DEFAULT_POOL_OPTIONS, type TxPoolOptions } from "../txpool/pool-options.ts";
import type { PoolStatus, SenderTransactions } from "../txpool/tx-pool.ts";
import { createPeerMessageAuthenticator, createKeyVerifier } from "../wire/authenticate.ts";
import { consensusGenesis } from "../wire/consensus-genesis.ts";
import { createHeaderHasher } from "../wire/ports.ts";
import type { StoredBlockRecord } from "./reads/block-record.ts";
import { Calls } from "./reads/calls.ts";
import type { ExecutedHeight } from "../ledger/executed-height.ts";
import { ChainReader } from "./reads/chain-reader.ts";
import {
  DEFAULT_CALL_LIMITS,
  DEFAULT_CLIENT_TIMING,
  type ClientDependencies,
  type ClientOptions,
  type ClientTiming,
} from "./client-options.ts";
import { closeStores, openStores, statePathOf, type ClientStores } from "./client-stores.ts";
import type { FollowedStatus } from "./sync/followed-replicas.ts";
import { Follower } from "./sync/follower.ts";
import { LocalReads } from "./reads/local-reads.ts";
import { Emitter } from "./notifications.ts";
import { PoolProgress } from "./transactions/pool-progress.ts";
import { FinalityWaiters } from "./transactions/finality-waiters.ts";
import { ReplicaLinks } from "./replica-links.ts";
import {
  PendingTransactions,
  type RejectedTransaction,
} from "./transactions/pending-transactions.ts";
import { ClientTransactionLife } from "./transactions/transaction-life.ts";

export type ClientEvents = {
  /** In order, once each. */
  readonly blockPublished: StoredBlockRecord;
  /** The hash was given out. */
  readonly transactionAccepted: RecoveredTransaction;
  /** Refused for good or expired. */
  readonly transactionRefused: RejectedTransaction;
};

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
  /** Promised and not final yet. */
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
/** How often is looked for what must be sent again. */
const RESEND_CHECK_MS = 200;

export class ClientNode {
  readonly reads: LocalReads;
  readonly #stores: ClientStores;
  readonly #dependencies: ClientDependencies;
  readonly #timing: ClientTiming;
  readonly #quorum: Quorum;
  readonly #emitter: Emitter<ClientEvents>;
  readonly #reader: ChainReader;
  readonly #follower: Follower;
  readonly #submissions: PendingTransactions;
  readonly #calls: Calls;
  readonly #settlements = new FinalityWaiters();
  readonly #progress = new PoolProgress();
  readonly #life: ClientTransactionLife;
  #links: ReplicaLinks | undefined;
  #timers: NodeJS.Timeout[] = [];
  #statusNonce = 0;
  #statusDueMs = 0;
  #hasBeenSynced = false;
  #onReady: (() => void)[] = [];
  #failure: unknown;
  #journalFailure: string | undefined;
  #isClosed = false;

  /** Resolves when reads and submissions work; whether the network is there says `whenReady`. */
  static async open(options: ClientOptions, dependencies: ClientDependencies): Promise<ClientNode> {
    let node: ClientNode | undefined;
    const stores = await openStores(options, dependencies.logger, (error) => {
      if (node !== undefined) node.#fail(error);
    });
    try {
      node = new ClientNode(options, dependencies, stores);
      await node.#submissions.restore();
      await node.#start(options);
      return node;
    } catch (error) {
      await closeStores(stores);
      throw error;
    }
  }

  private constructor(
    options: ClientOptions,
    dependencies: ClientDependencies,
    stores: ClientStores,
  ) {
    const { executor, genesisBlock, blocks } = stores;
    this.#stores = stores;
    this.#dependencies = dependencies;
    this.#life = new ClientTransactionLife(dependencies.logger);
    this.#timing = { ...DEFAULT_CLIENT_TIMING, ...options.timing };
    this.#quorum = quorumOf(options.genesis.replicaPublicKeys.length);
    this.#emitter = new Emitter((error) => {
      dependencies.logger.error("a listener failed", { reason: String(error) });
    });
    this.#follower = this.#createFollower(options);
    this.#reader = new ChainReader({
      executor,
      genesisBlock,
      blocks,
      published: () => this.#follower.published,
    });
    const pool = { ...DEFAULT_POOL_OPTIONS, ...options.pool };
    this.#submissions = this.#createSubmissions(pool);
    this.#calls = new Calls(
      { statePath: statePathOf(options), ...DEFAULT_CALL_LIMITS, ...options.calls },
      { executor, reader: this.#reader, logger: dependencies.logger },
    );
    this.reads = new LocalReads(
      {
        chainId: options.genesis.chainId,
        transactionGasMax: options.genesis.transactionGasMax,
        clientVersion: options.clientVersion,
        fees: pool.fees,
      },
      {
        reader: this.#reader,
        calls: this.#calls,
        submissions: this.#submissions,
        settlements: this.#settlements,
        onBlock: (listener) => this.on("blockPublished", listener),
        onAccepted: (listener) => this.on("transactionAccepted", listener),
        peerCount: () => this.#follower.replicasUp.length,
        submit: (encoded, source) => this.submit(encoded, source),
        lag: () => (this.#hasBeenSynced ? 0 : this.#lag()),
      },
    );
  }

  /** Returns what ends the subscription. */
  on<Name extends keyof ClientEvents>(
    name: Name,
    listener: (event: ClientEvents[Name]) => void,
  ): () => void {
    return this.#emitter.on(name, listener);
  }

  /** The hash is a promise (SPEC E13). `source` is who hands it in: limits count by it. */
  submit(encoded: Uint8Array, source?: string): Promise<Result<Uint8Array, SubmitRefusal>> {
    if (this.#failure !== undefined || this.#isClosed) {
      const code = this.#failure instanceof CodedError ? this.#failure.code : "NODE_STOPPED";
      return Promise.resolve({ ok: false, error: { code } });
    }
    return this.#submissions.submit(encoded, source);
  }

  /** Undefined for a transaction that was never accepted here or is forgotten. */
  transactionStatus(hash: Uint8Array): TransactionStatus | undefined {
    return this.reads.transactionStatus(hash);
  }

  /** Accepted and not final, per sender. */
  poolContent(): Iterable<SenderTransactions> {
    return this.#submissions.content();
  }

  /** Where a replica is to be found, if that was not known at the start or has changed. */
  setEndpoint(replica: ReplicaIndex, endpoint: Endpoint): void {
    this.#links?.setEndpoint(replica, endpoint);
  }

  /** Threads that run long calls now, or did a moment ago. */
  get readThreadCount(): number {
    return this.#calls.threadCount;
  }

  /** SPEC N6: links to 2f+1 replicas, and caught up with the chain. */
  get isReady(): boolean {
    const isUp = this.#follower.replicasUp.length >= this.#quorum.quorum;
    return this.#hasBeenSynced && isUp && this.#failure === undefined && !this.#isClosed;
  }

  /** Resolves when the node is ready for the first time. */
  whenReady(): Promise<void> {
    if (this.#hasBeenSynced) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onReady.push(resolve);
    });
  }

  status(): ClientStatus {
    const { height, number } = this.#follower.published;
    return {
      isReady: this.isReady,
      finalHeight: this.#follower.provedHeight,
      publishedHeight: height,
      blockNumber: number,
      lag: this.#lag(),
      replicas: this.#follower.status(),
      upCount: this.#follower.replicasUp.length,
      quorum: this.#quorum.quorum,
      pool: this.#submissions.poolStatus(),
      openTransactions: this.#submissions.openCount,
      stalledMs: this.#progress.stalledMs(performance.now()),
      isDiskFull: this.#isDiskFull(),
      journalFailure: this.#journalFailure,
      failure: this.#failure === undefined ? undefined : codeOf(this.#failure),
    };
  }

  /** In the reverse order of opening; what was promised stays on the disk. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#settlements.close();
    await this.#links?.close();
    await this.#calls.close();
    await this.#follower.stop();
    await closeStores(this.#stores);
  }

  async #start(options: ClientOptions): Promise<void> {
    const { logger } = this.#dependencies;
    const follower = this.#follower;
    this.#links = await ReplicaLinks.open(options, logger, {
      onUp: (replica) => {
        follower.onUp(replica);
        this.#askStatus(replica);
        this.#submissions.onReplicaUp(replica);
      },
      onDown: (replica) => follower.onDown(replica),
      isKnown: (height) => follower.isProved(height),
      onKnownBlock: (replica, height) => follower.onKnownBlock(replica, height),
      onBlock: (replica, block, certificate) => follower.onBlock(replica, block, certificate),
      onVote: (replica, vote) => follower.onVote(replica, vote),
      onRefused: (replica, id, code) => this.#submissions.onReplicaRefused(replica, id, code),
      onReport: (replica, report) => {
        follower.onReport(replica, report);
        this.#checkReady();
      },
    });
    follower.start();
    this.#timers = [
      setInterval(() => this.#tick(), TICK_MS),
      setInterval(() => this.#resend(), RESEND_CHECK_MS),
      setInterval(() => this.#submissions.expire(), this.#timing.expiryCheckMs),
    ];
  }

  #createFollower(options: ClientOptions): Follower {
    const { genesis } = options;
    const { executor, blocks, shown } = this.#stores;
    const origin = consensusGenesis(genesis, executor.genesis.result);
    const { replicaPublicKeys } = genesis;
    const authenticator = createPeerMessageAuthenticator(
      {
        net: origin.net,
        replicaCount: replicaPublicKeys.length,
        genesis: origin.header,
        window: DEFAULT_PARAMETERS.window,
      },
      { verify: createKeyVerifier(replicaPublicKeys) },
    );
    return new Follower(
      {
        quorum: this.#quorum,
        timing: this.#timing,
        genesisHash: createHeaderHasher(origin.net)(origin.header),
      },
      {
        executor,
        blocks,
        shown,
        authenticator,
        logger: this.#dependencies.logger,
        ask: (replica, request) => void this.#links?.ask(replica, request),
        hold: (replica, isHeld) => this.#links?.hold(replica, isHeld),
        known: ({ id }) => this.#submissions.get(hexToBytes(id)),
        isWaiting: () => this.#submissions.hasExecutable,
        onPublished: (executed) => this.#onPublished(executed),
        onFailed: (error) => this.#fail(error),
      },
    );
  }

  #createSubmissions(pool: TxPoolOptions): PendingTransactions {
    const { now = Date.now } = this.#dependencies;
    const { executor, opened } = this.#stores;
    return new PendingTransactions(
      {
        pool,
        timing: this.#timing,
        rules: executor.rules,
        permits: executor.permits,
        weak: this.#quorum.weak,
      },
      {
        opened,
        now,
        state: () =>
          this.#reader.stateReaderAt(this.#follower.published.number) ?? executor.database,
        isFinal: (hash) => this.#reader.isFinal(hash),
        send: (replica, transactions) =>
          void this.#links?.ask(replica, { kind: "submit", transactions }),
        replicasUp: () => this.#follower.replicasUp,
        isDiskFull: () => this.#isDiskFull(),
        onAccepted: (transaction) => {
          this.#life.accepted(transaction);
          this.#emitter.emit("transactionAccepted", transaction);
        },
        onFinal: this.#dependencies.onFinal,
        onRefused: (refused) => {
          this.#life.refused(refused);
          this.#settlements.settle(refused.hash);
          this.#emitter.emit("transactionRefused", refused);
        },
        onFailure: (error) => {
          if (this.#journalFailure !== undefined) return;
          const code = codeOf(error);
          this.#journalFailure = code;
          this.#dependencies.logger.error("the journal cannot be written", { code });
        },
      },
    );
  }

  #onPublished(executed: ExecutedHeight): void {
    this.#life.published(executed);
    this.#submissions.onPublished(executed);
    this.#noteProgress(performance.now());
    if (executed.block !== undefined) {
      for (const { hash } of executed.block.transactions) this.#settlements.settle(hash);
      const block = this.#reader.blockByNumber(executed.number);
      if (block !== undefined) this.#emitter.emit("blockPublished", block);
    }
    this.#checkReady();
  }

  #tick(): void {
    this.#follower.tick();
    this.#checkReady();
    const nowMs = performance.now();
    this.#noteProgress(nowMs);
    if (nowMs < this.#statusDueMs) return;
    // Until it is ready the node waits for the answers.
    this.#statusDueMs = nowMs + (this.#hasBeenSynced ? this.#timing.statusMs : 0);
    for (const replica of this.#follower.replicasUp) this.#askStatus(replica);
  }

  #noteProgress(nowMs: number): void {
    const { executable } = this.#submissions.poolStatus();
    this.#progress.note(nowMs, this.#follower.published.height, executable);
  }

  #resend(): void {
    this.#submissions.resend(performance.now());
  }

  #askStatus(replica: ReplicaIndex): void {
    this.#statusNonce++;
    this.#links?.ask(replica, { kind: "statusRequest", nonce: this.#statusNonce });
  }

  #checkReady(): void {
    if (this.#hasBeenSynced || !this.#follower.isSynced) return;
    this.#hasBeenSynced = true;
    for (const resolve of this.#onReady.splice(0)) resolve();
  }

  #isDiskFull(): boolean {
    const { blocks, state } = this.#stores;
    return this.#follower.isDiskFull || blocks.isFull || state.isFull;
  }

  #lag(): number {
    const { published, finalHeight } = this.#follower;
    return Math.max(0, finalHeight - published.height);
  }

  #fail(error: unknown): void {
    if (this.#failure !== undefined || this.#isClosed) return;
    this.#failure = error;
    this.#dependencies.logger.error("the client node stopped", { code: codeOf(error) });
    this.#dependencies.onFatal(error);
  }
}

function codeOf(error: unknown): string {
  return error instanceof CodedError ? error.code : String(error);
}
