/**
 * Puts the parts of a client node together, in the order in which they need each other. Links come
 * first and are started last: the parts that handle their events are made in between.
 */
import { quorumOf, type Quorum } from "../consensus/quorum.ts";
import { DEFAULT_PARAMETERS } from "../consensus/parameters.ts";
import { DEFAULT_POOL_OPTIONS, type TxPoolOptions } from "../txpool/pool-options.ts";
import {
  createKeyVerifier,
  createPeerMessageAuthenticator,
  type PeerMessageAuthenticator,
} from "../wire/authenticate.ts";
import { consensusGenesis } from "../wire/consensus-genesis.ts";
import { createHeaderHasher } from "../wire/ports.ts";
import { BlockPublisher } from "./block-publisher.ts";
import type { ClientEvents } from "./client-events.ts";
import {
  DEFAULT_CALL_LIMITS,
  DEFAULT_CLIENT_TIMING,
  type ClientDependencies,
  type ClientOptions,
  type ClientTiming,
} from "./client-options.ts";
import { statePathOf, type ClientStores } from "./client-stores.ts";
import { ClientDisk } from "./client-disk.ts";
import type { NodeFailure } from "./node-failure.ts";
import { Emitter } from "./notifications.ts";
import { Calls } from "./reads/calls.ts";
import { ChainReader } from "./reads/chain-reader.ts";
import { LocalReads } from "./reads/local-reads.ts";
import { NodeReadiness } from "./node-readiness.ts";
import { ReplicaEventHandler } from "./replica-event-handler.ts";
import { ReplicaLinks } from "./replica-links.ts";
import { ReplicaStatusPoller } from "./replica-status-poller.ts";
import { BlockPipeline } from "./sync/block-pipeline.ts";
import { BlockProver, lastProvedBlock } from "./sync/block-prover.ts";
import { BlockStreams } from "./sync/block-streams.ts";
import { ChainProgress } from "./sync/chain-progress.ts";
import { FollowedReplicas } from "./sync/followed-replicas.ts";
import { Follower } from "./sync/follower.ts";
import { PublishedHead } from "./sync/published-head.ts";
import { ResultProofs } from "./sync/result-proofs.ts";
import { FinalityWaiters } from "./transactions/finality-waiters.ts";
import { PendingTransactions } from "./transactions/pending-transactions.ts";
import { PoolProgress } from "./transactions/pool-progress.ts";
import { ClientTransactionLife } from "./transactions/transaction-life.ts";
import { TransactionObservers } from "./transactions/transaction-observers.ts";

/** What all parts are made from. */
export type ClientSetup = {
  readonly options: ClientOptions;
  readonly dependencies: ClientDependencies;
  readonly stores: ClientStores;
  readonly failure: NodeFailure;
};

export type ClientParts = {
  readonly timing: ClientTiming;
  readonly quorum: Quorum;
  readonly links: ReplicaLinks;
  readonly head: PublishedHead;
  readonly replicas: FollowedReplicas;
  readonly progress: ChainProgress;
  readonly readiness: NodeReadiness;
  readonly disk: ClientDisk;
  readonly pending: PendingTransactions;
  readonly poolProgress: PoolProgress;
  readonly waiters: FinalityWaiters;
  readonly events: Emitter<ClientEvents>;
  readonly publisher: BlockPublisher;
  readonly follower: Follower;
  readonly poller: ReplicaStatusPoller;
  readonly handler: ReplicaEventHandler;
  readonly calls: Calls;
  readonly reads: LocalReads;
};

export function createClientParts(setup: ClientSetup): ClientParts {
  const { options, dependencies, stores, failure } = setup;
  const { logger } = dependencies;
  const { executor, genesisBlock, blocks } = stores;
  const timing = { ...DEFAULT_CLIENT_TIMING, ...options.timing };
  const quorum = quorumOf(options.genesis.replicaPublicKeys.length);
  const pool = { ...DEFAULT_POOL_OPTIONS, ...options.pool };
  const links = new ReplicaLinks(options, logger);
  const head = new PublishedHead(executor.height, executor.head.header.number);
  const shared = { timing, quorum, links, head };
  const sync = createSync(setup, shared);
  const { progress } = sync;
  const readiness = new NodeReadiness({ quorum, progress, links, failure });
  const reader = new ChainReader({ executor, genesisBlock, blocks, published: head });
  const disk = new ClientDisk(stores, logger);
  const { pending, events, waiters, life } = createPending(setup, shared, { pool, reader, disk });
  const poolProgress = new PoolProgress();
  const publisher = new BlockPublisher({
    ...{ head, reader, pending, poolProgress, waiters, events, readiness, life },
  });
  const { proofs, streams, prover, replicas } = sync;
  const pipeline = new BlockPipeline(timing, {
    ...{ stores, head, proofs, streams, pending, publisher, disk, failure },
  });
  const follower = new Follower(timing, {
    ...{ prover, replicas, streams, proofs, pipeline, head, progress, pending },
  });
  const poller = new ReplicaStatusPoller(timing, { links, readiness });
  const handler = new ReplicaEventHandler({ follower, pending, poller, readiness });
  const calls = new Calls(
    { statePath: statePathOf(options), ...DEFAULT_CALL_LIMITS, ...options.calls },
    { executor, reader, logger },
  );
  const { chainId, transactionGasMax } = options.genesis;
  const reads = new LocalReads(
    { chainId, transactionGasMax, clientVersion: options.clientVersion, fees: pool.fees },
    { reader, calls, pending, waiters, events, links, readiness },
  );
  return {
    ...{ timing, quorum, links, head, replicas, progress, readiness, disk, pending },
    ...{ poolProgress, waiters, events, publisher, follower, poller, handler, calls, reads },
  };
}

type SharedParts = Pick<ClientParts, "timing" | "quorum" | "links" | "head">;

type SyncParts = {
  readonly prover: BlockProver;
  readonly streams: BlockStreams;
  readonly replicas: FollowedReplicas;
  readonly proofs: ResultProofs;
  readonly progress: ChainProgress;
};

/** What blocks and votes are proved with. */
function createSync(
  { options, dependencies, stores }: ClientSetup,
  { timing, quorum, links, head }: SharedParts,
): SyncParts {
  const { logger } = dependencies;
  const { executor, blocks, shown } = stores;
  const origin = consensusGenesis(options.genesis, executor.genesis.result);
  const authenticator = createAuthenticator(options, origin);
  const genesisHash = createHeaderHasher(origin.net)(origin.header);
  const prover = new BlockProver(lastProvedBlock(blocks, genesisHash), { authenticator });
  const streams = new BlockStreams({ links, prover, executor, head });
  const replicas = new FollowedReplicas(
    { quorum, distrustMs: timing.distrustMs },
    { streams, logger },
  );
  const proofs = new ResultProofs(
    { needed: quorum.weak, patienceMs: timing.stallMs },
    { blocks, authenticator, replicas },
    head.height,
  );
  const progress = new ChainProgress(
    { quorum: quorum.quorum, shownBefore: shown.durableHeight },
    { head, prover, replicas },
  );
  return { prover, streams, replicas, proofs, progress };
}

function createAuthenticator(
  { genesis }: ClientOptions,
  origin: ReturnType<typeof consensusGenesis>,
): PeerMessageAuthenticator {
  const { replicaPublicKeys } = genesis;
  return createPeerMessageAuthenticator(
    {
      net: origin.net,
      replicaCount: replicaPublicKeys.length,
      genesis: origin.header,
      window: DEFAULT_PARAMETERS.window,
    },
    { verify: createKeyVerifier(replicaPublicKeys) },
  );
}

type PendingParts = Pick<ClientParts, "pending" | "events" | "waiters"> & {
  readonly life: ClientTransactionLife;
};

function createPending(
  { dependencies, stores, failure }: ClientSetup,
  { timing, quorum, links }: SharedParts,
  given: { readonly pool: TxPoolOptions; readonly reader: ChainReader; readonly disk: ClientDisk },
): PendingParts {
  const { logger, onFinal, now = Date.now } = dependencies;
  const { executor, opened } = stores;
  const { rules, permits } = executor;
  const { pool, reader: chain, disk } = given;
  const events = new Emitter<ClientEvents>((error) => {
    logger.error("a listener failed", { reason: String(error) });
  });
  const life = new ClientTransactionLife(logger);
  const waiters = new FinalityWaiters();
  const listener = new TransactionObservers({ life, waiters, events, onFinal });
  const pending = new PendingTransactions(
    { pool, timing, rules, permits, weak: quorum.weak },
    { opened, chain, links, disk, failure, listener, now },
  );
  return { pending, events, waiters, life };
}
