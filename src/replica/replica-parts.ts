/**
 * The parts of a replica, put together. They need each other in circles, so each gets this object
 * as its named ports and reads from it when it is called, never while it is constructed.
 */
import type { Logger } from "../base/logger.ts";
import { chainRules } from "../chain/chain-rules.ts";
import { quorumOf } from "../consensus/quorum.ts";
import { Replica } from "../consensus/replica.ts";
import { createSigner } from "../crypto/ed25519.ts";
import type { Principal } from "../transport/principal.ts";
import type { PeerMessageAuthenticator } from "../wire/authenticate.ts";
import { consensusGenesis } from "../wire/consensus-genesis.ts";
import { createPorts } from "../wire/ports.ts";
import { CoreEffects } from "./core-effects.ts";
import { DiskGate } from "./disk-gate.ts";
import { Driver } from "./driver.ts";
import { ExecutionFeed } from "./execution/execution-feed.ts";
import { ExecutionProgress } from "./execution/execution-progress.ts";
import { FinalBlocks } from "./final-blocks.ts";
import { NoticeHandler } from "./notice-handler.ts";
import { ClientSessions } from "./peers/client-sessions.ts";
import { FrameRouter } from "./peers/frame-router.ts";
import { HeldLinks } from "./peers/held-links.ts";
import { PeerGuard } from "./peers/peer-guard.ts";
import { PeerInbox } from "./peers/peer-inbox.ts";
import { PeerLinks } from "./peers/peer-links.ts";
import { createPeerAuthenticator } from "./replica-links.ts";
import {
  repairOf,
  type ReplicaDependencies,
  type ReplicaObserver,
  type ReplicaOptions,
} from "./replica-options.ts";
import { createParameters, poolOptions } from "./replica-parameters.ts";
import type { ReplicaCounters } from "./replica-report.ts";
import type { Resources } from "./replica-resources.ts";
import { createResultSigner, type SignResult } from "./result-signer.ts";
import { DEFAULT_GAP_MIN, StateSync } from "./state-sync/state-sync.ts";
import { StatusReporter } from "./status-reporter.ts";
import { Admission } from "./transactions/admission.ts";
import { CheckedTransactions } from "./transactions/checked-transactions.ts";
import { ClientTransactions } from "./transactions/client-transactions.ts";
import { clientSource, peerOf, replicaSource } from "./transactions/source-name.ts";
import { ReplicaTransactionLife } from "./transactions/transaction-life.ts";

export class ReplicaParts {
  readonly counters: ReplicaCounters = {
    finalBlocks: 0,
    finalTransactions: 0,
    droppedTransactions: 0,
    viewChanges: 0,
    framesRefused: 0,
    executedBlocks: 0,
    stateTransfers: 0,
  };
  readonly options: ReplicaOptions;
  readonly logger: Logger;
  readonly observer: ReplicaObserver | undefined;
  readonly store: Resources["store"];
  readonly life: ReplicaTransactionLife;
  readonly links: PeerLinks;
  readonly held: HeldLinks;
  readonly blocks: FinalBlocks;
  readonly driver: Driver;
  readonly feed: ExecutionFeed;
  readonly inbox: PeerInbox;
  readonly stateSync: StateSync;
  readonly admission: Admission;
  readonly sessions: ClientSessions;
  readonly guard: PeerGuard;
  readonly gate = new DiskGate(this);
  readonly notices = new NoticeHandler(this);
  readonly router = new FrameRouter(this);
  readonly progress = new ExecutionProgress(this);
  readonly reporter = new StatusReporter(this);
  readonly #clientTransactions = new ClientTransactions(this);
  readonly #resources: Resources;
  readonly #signResult: SignResult;
  readonly #onFailed: (error: unknown) => void;

  constructor(
    options: ReplicaOptions,
    dependencies: Pick<ReplicaDependencies, "logger" | "observer">,
    resources: Resources,
    onFailed: (error: unknown) => void,
  ) {
    const { genesis, index } = options;
    this.options = options;
    this.logger = dependencies.logger;
    this.observer = dependencies.observer;
    this.store = resources.store;
    this.#resources = resources;
    this.#onFailed = onFailed;
    const origin = consensusGenesis(genesis, resources.ready.genesis.result);
    const parameters = createParameters(options, origin);
    const ports = createPorts({ net: origin.net, signer: createSigner(options.seed) });
    const authenticator = createPeerAuthenticator(options, origin, parameters.window);
    const checked = new CheckedTransactions(chainRules(genesis), resources.senders);
    this.life = new ReplicaTransactionLife(this.logger);
    this.links = new PeerLinks(options);
    this.held = new HeldLinks(this.links);
    this.blocks = new FinalBlocks(resources.store, parameters.window);
    const core = new Replica(parameters, ports);
    this.driver = new Driver(core, resources.opened.log, new CoreEffects(this));
    this.#signResult = createResultSigner({
      self: index,
      mode: () => this.driver.status().mode,
      sign: ports.sign,
    });
    this.feed = this.#createFeed(checked, parameters.execLagMax);
    this.inbox = this.#createInbox(checked, authenticator);
    this.stateSync = this.#createStateSync(authenticator);
    this.admission = this.#createAdmission(checked);
    this.sessions = this.#createSessions();
    this.guard = new PeerGuard(this);
  }

  /** Stops the replica for good. */
  fail(error: unknown): void {
    this.#onFailed(error);
  }

  /** The peer is cut off: what it sent is not worth checking. */
  onBarred(peer: Principal): void {
    const isReplica = this.links.isReplica(peer);
    this.admission.forget(isReplica ? replicaSource(peer) : clientSource(peer));
  }

  #createFeed(checked: CheckedTransactions, execLagMax: number): ExecutionFeed {
    const { execution, ready } = this.#resources;
    const options = { reportedMax: 2 * execLagMax, repair: repairOf(this.options) };
    return new ExecutionFeed(options, ready, {
      blocks: this.blocks,
      checked,
      execution,
      core: this.driver,
    });
  }

  #createInbox(checked: CheckedTransactions, authenticator: PeerMessageAuthenticator): PeerInbox {
    return new PeerInbox({ authenticator, checked, receiver: this.router, links: this.held });
  }

  #createAdmission(checked: CheckedTransactions): Admission {
    const { execution } = this.#resources;
    const { isWritePermissioned } = this.options.genesis;
    return new Admission(poolOptions(this.options), {
      checked,
      accounts: (addresses) => execution.accounts(addresses),
      permissions: isWritePermissioned
        ? (questions) => execution.permissions(questions)
        : undefined,
      submit: (transactions, onRefused) =>
        this.driver.input({ kind: "submit", transactions }, ({ refused }) => onRefused(refused)),
      withdraw: (id) => this.driver.input({ kind: "withdraw", id }),
      onAdmitted: (hash) => this.life.admitted(hash),
      hold: (source, isHeld) => this.guard.hold(peerOf(source), isHeld),
      onForged: (source, code) => this.guard.onForged(peerOf(source), code),
    });
  }

  #createStateSync(authenticator: PeerMessageAuthenticator): StateSync {
    const { stateTransfer, genesis } = this.options;
    const { execution, statePath } = this.#resources;
    const gapMin = stateTransfer?.gapMin ?? DEFAULT_GAP_MIN;
    return new StateSync(
      { statePath, gapMin, timing: stateTransfer?.timing },
      {
        logger: this.logger,
        weakQuorum: quorumOf(genesis.replicaPublicKeys.length).weak,
        isActive: () => this.driver.status().mode === "active",
        executedHeight: () => this.feed.executedHeight,
        fedHeight: () => this.feed.fedHeight,
        share: (isShared) => this.feed.share(isShared),
        peersUp: () => this.links.replicasUp(),
        isSigned: (vote) => authenticator.authenticate(vote, vote.sender).ok,
        signedResult: (height) => {
          const claim = this.blocks.executionClaim(height);
          return claim === undefined ? undefined : this.#signResult(claim);
        },
        send: (to, bytes) => this.links.sendState(to, bytes),
        importState: (command) => execution.importState(command),
        hold: () => this.feed.hold(),
        release: () => this.feed.release(),
        replace: (state) => {
          this.counters.stateTransfers++;
          this.feed.replace(state);
          this.admission.onStateReplaced();
        },
        onRefused: (from, code) => this.router.onRefused(from, code),
        onFailed: (error) => this.fail(error),
      },
    );
  }

  #createSessions(): ClientSessions {
    return new ClientSessions({
      blocks: this.blocks,
      execHeight: () => this.feed.executedHeight,
      signResult: this.#signResult,
      links: this.links,
      transactions: this.#clientTransactions,
      reporter: this.reporter,
      router: this.router,
    });
  }
}
