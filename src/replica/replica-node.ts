/**
 * A replica: sockets, consensus core, log and admission in this thread, execution in another.
 * Opened from what is on the disk; closed in the reverse order of opening.
 */
import { randomBytes } from "node:crypto";
import { CodedError } from "../base/coded-error.ts";
import type { Logger } from "../base/logger.ts";
import { chainRules } from "../chain/chain-rules.ts";
import type { Hash, ReplicaIndex } from "../consensus/block.ts";
import type { Notice } from "../consensus/effect.ts";
import type { Message } from "../consensus/message.ts";
import type { Ports } from "../consensus/parameters.ts";
import { quorumOf } from "../consensus/quorum.ts";
import { Replica } from "../consensus/replica.ts";
import type { Start } from "../consensus/recovery/start.ts";
import { createSigner } from "../crypto/ed25519.ts";
import type { LinkReason } from "../transport/link-reason.ts";
import type { Endpoint, Principal } from "../transport/principal.ts";
import type { Transport, TransportEvents } from "../transport/transport.ts";
import type { PeerMessageAuthenticator } from "../wire/authenticate.ts";
import { CLIENT_CHANNEL, CONSENSUS_CHANNEL, type ReplicaReport } from "../wire/client-codec.ts";
import { consensusGenesis } from "../wire/consensus-genesis.ts";
import { bytesToHash } from "../wire/hash-text.ts";
import { encodeMessage } from "../wire/message-codec.ts";
import { createPorts } from "../wire/ports.ts";
import { STATE_CHANNEL } from "../wire/state-codec.ts";
import { Admission } from "./transactions/admission.ts";
import type { ExecutionReport } from "./execution/execution-report.ts";
import { CheckedTransactions } from "./transactions/checked-transactions.ts";
import { ClientSessions } from "./peers/client-sessions.ts";
import { Driver } from "./driver.ts";
import { ExecutionFeed } from "./execution/execution-feed.ts";
import { FinalBlocks } from "./final-blocks.ts";
import { HeldLinks } from "./peers/held-links.ts";
import { PeerInbox } from "./peers/peer-inbox.ts";
import { PeerGuard } from "./peers/peer-guard.ts";
import { createPeerAuthenticator, openTransport } from "./replica-links.ts";
import { createParameters, poolOptions } from "./replica-parameters.ts";
import { repairOf, type ReplicaDependencies, type ReplicaOptions } from "./replica-options.ts";
import type { LocalReport, ReplicaCounters } from "./replica-report.ts";
import { clientSource, peerOf, replicaSource } from "./transactions/source-name.ts";
import { closeResources, openResources, type Resources } from "./replica-resources.ts";
import { createResultSigner, type SignResult } from "./result-signer.ts";
import { startOf } from "./start-mode.ts";
import { DEFAULT_GAP_MIN, StateSync } from "./state-sync/state-sync.ts";
import { ReplicaTransactionLife } from "./transactions/transaction-life.ts";

const CONSENSUS_FRAME = Uint8Array.of(CONSENSUS_CHANNEL);
const STATE_FRAME = Uint8Array.of(STATE_CHANNEL);
const EXPIRY_INTERVAL_MS = 30_000;

export class ReplicaNode {
  readonly counters: ReplicaCounters = {
    finalBlocks: 0,
    finalTransactions: 0,
    droppedTransactions: 0,
    viewChanges: 0,
    framesRefused: 0,
    executedBlocks: 0,
    stateTransfers: 0,
  };
  readonly #options: ReplicaOptions;
  readonly #logger: Logger;
  readonly #life: ReplicaTransactionLife;
  readonly #observer: ReplicaDependencies["observer"];
  readonly #onFatal: (error: unknown) => void;
  readonly #resources: Resources;
  readonly #ports: Ports;
  readonly #signResult: SignResult;
  readonly #driver: Driver;
  readonly #peers: readonly ReplicaIndex[];
  readonly #held: HeldLinks;
  readonly #inbox: PeerInbox;
  readonly #blocks: FinalBlocks;
  readonly #feed: ExecutionFeed;
  readonly #admission: Admission;
  readonly #sessions: ClientSessions;
  readonly #guard: PeerGuard;
  readonly #stateSync: StateSync;
  readonly #expiry: NodeJS.Timeout;
  #transport: Transport | undefined;
  #isStateFull = false;
  #isLogFull = false;
  #isClosing = false;
  /** The last thing that only an operator can mend. */
  #alarm: Notice["code"] | undefined;

  static async open(
    options: ReplicaOptions,
    dependencies: ReplicaDependencies,
  ): Promise<ReplicaNode> {
    let node: ReplicaNode | undefined;
    // The thread may report before the node is there; it cannot execute before it is asked to.
    const told = (act: (opened: ReplicaNode) => void): void => {
      if (node !== undefined) act(node);
    };
    const resources = await openResources(options, dependencies.logger, {
      onExecuted: (executed, durationMs) =>
        told((opened) => opened.#onExecuted(executed, durationMs)),
      onLogSynced: (durationMs) => dependencies.observer?.onLogSynced(durationMs),
      onStateFull: (isFull) => told((opened) => opened.#onStateFull(isFull)),
      onBlocksFull: () => told((opened) => opened.#updateAdmission()),
      onFailed: (error) => told((opened) => opened.#die(error)),
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
    const { genesis } = options;
    this.#options = options;
    this.#logger = dependencies.logger;
    this.#life = new ReplicaTransactionLife(dependencies.logger);
    this.#observer = dependencies.observer;
    this.#onFatal = dependencies.onFatal;
    this.#resources = resources;
    const { ready } = resources;
    const origin = consensusGenesis(genesis, ready.genesis.result);
    const parameters = createParameters(options, origin);
    const checked = new CheckedTransactions(chainRules(genesis), resources.senders);
    this.#ports = createPorts({ net: origin.net, signer: createSigner(options.seed) });
    this.#signResult = createResultSigner({
      self: options.index,
      mode: () => this.#driver.status().mode,
      sign: this.#ports.sign,
    });
    this.#blocks = new FinalBlocks(resources.store, parameters.window);
    this.#feed = this.#createFeed(checked, parameters.execLagMax);
    this.#peers = [...genesis.replicaPublicKeys.keys()].filter((peer) => peer !== options.index);
    this.#held = new HeldLinks(this.#peers, (peer, isHeld) => this.#transport?.hold(peer, isHeld));
    this.#driver = this.#createDriver(new Replica(parameters, this.#ports));
    const authenticator = createPeerAuthenticator(options, origin, parameters.window);
    this.#inbox = this.#createInbox(checked, authenticator);
    this.#stateSync = this.#createStateSync(authenticator);
    this.#admission = new Admission(poolOptions(options), {
      checked,
      accounts: (addresses) => resources.execution.accounts(addresses),
      permissions: genesis.isWritePermissioned
        ? (questions) => resources.execution.permissions(questions)
        : undefined,
      submit: (transactions, onRefused) =>
        this.#driver.input({ kind: "submit", transactions }, ({ refused }) => onRefused(refused)),
      withdraw: (id) => this.#driver.input({ kind: "withdraw", id }),
      onAdmitted: (hash) => this.#life.admitted(hash),
      hold: (source, isHeld) => this.#guard.hold(peerOf(source), isHeld),
      onForged: (source, code) => this.#guard.onForged(peerOf(source), code),
    });
    this.#sessions = this.#createSessions();
    this.#guard = new PeerGuard({
      logger: dependencies.logger,
      links: () => this.#transport,
      isReplica: (peer) => this.#isReplica(peer),
      onBarred: (peer) =>
        this.#admission.forget(this.#isReplica(peer) ? replicaSource(peer) : clientSource(peer)),
    });
    this.#expiry = setInterval(() => this.#admission.expire(performance.now()), EXPIRY_INTERVAL_MS);
    this.#expiry.unref();
  }

  /** The port that was given or that the system chose. */
  get port(): number {
    return this.#transport?.port ?? 0;
  }

  get genesisBlockHash(): Uint8Array {
    return this.#resources.ready.genesis.blockHash;
  }

  /** Where another replica is to be found, if that was not known at the start. */
  setEndpoint(replica: ReplicaIndex, endpoint: Endpoint): void {
    this.#transport?.setEndpoint(replica, endpoint);
  }

  report(nonce = 0): ReplicaReport & LocalReport {
    const status = this.#driver.status();
    const { mode, epoch, view, isAccepted, leader, tipHeight, finalHeight, finalHash } = status;
    return {
      kind: "status",
      nonce,
      replica: this.#options.index,
      ...{ mode, epoch, view, isAccepted, leader, tipHeight, finalHeight, finalHash },
      execHeight: this.#feed.executedHeight,
      pendingCount: Math.max(status.pendingCount, this.#admission.pendingCount),
      isDiskFull: this.#isDiskFull(),
      peersUp: this.#peersUp(),
      alarm: this.#alarm,
      isPoolFull: this.#admission.poolStatus().isFull,
      intakeDropped: this.#admission.droppedCount,
    };
  }

  #peersUp(): ReplicaIndex[] {
    const peers = this.#transport?.status() ?? [];
    return peers.filter(({ peer, isUp }) => isUp && this.#isReplica(peer)).map(({ peer }) => peer);
  }

  #isReplica(peer: Principal): boolean {
    return peer < this.#options.genesis.replicaPublicKeys.length;
  }

  /** The result of a height that this replica executed, if it still knows it. */
  resultOf(height: number): Uint8Array | undefined {
    return this.#blocks.result(height);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#expiry);
    // Nobody has to find out that its leader is gone.
    this.#driver.input({ kind: "retire" });
    await this.#driver.stop();
    await this.#stateSync.close();
    this.#inbox.close();
    this.#sessions.close();
    await this.#transport?.close();
    await closeResources(this.#resources);
  }

  async #start(): Promise<void> {
    this.#transport = await openTransport(this.#options, this.#transportEvents());
    const how = this.#howToStart();
    await this.#driver.start(how);
    const { finalHeight } = this.#driver.status();
    this.#stateSync.consider(finalHeight);
    this.#feed.start(finalHeight);
    const { index } = this.#options;
    const { isRebuilt, height } = this.#resources.ready;
    if (isRebuilt) this.#logger.warn("the state was damaged and is made again", { index });
    const fields = { index, start: how.kind, finalHeight, execHeight: height };
    this.#logger.info("replica started", fields);
  }

  #howToStart(): Start {
    const { opened, store, ready } = this.#resources;
    const found = {
      records: opened.records,
      blockHeight: store.latestHeight,
      stateHeight: ready.height,
    };
    return startOf(this.#options.startMode, found, bytesToHash(randomBytes(32)));
  }

  #createDriver(replica: Replica): Driver {
    return new Driver(replica, this.#resources.opened.log, {
      send: (to, message) => this.#send(to, message),
      finalize: (blocks, certificate) => {
        this.#blocks.append(blocks, certificate);
        this.#feed.onFinal(blocks);
        this.counters.finalBlocks += blocks.length;
        for (const block of blocks) {
          const { header } = block;
          this.#life.ordered(block, certificate.view);
          this.counters.finalTransactions += header.txCount;
          this.#observer?.onFinal(header.txCount, Math.max(0, Date.now() - header.timestampMs));
        }
        this.#sessions.onProgress();
      },
      serveBlocks: (to, fromHeight, toHeight) => {
        const parts = this.#blocks.response(fromHeight, toHeight);
        if (parts !== undefined) this.#transport?.send(to, [CONSENSUS_FRAME, ...parts]);
      },
      // Any height can be taken over (state-sync.ts), so these are only told of.
      checkpoint: ({ height }) => this.#logger.debug("checkpoint", { height }),
      notice: (notice) => this.#onNotice(notice),
      onLogFull: (isFull) => {
        this.#isLogFull = isFull;
        this.#updateAdmission();
      },
      onCongested: (isCongested) => this.#held.holdAll(isCongested),
      flushBlocks: () => this.#blocks.flush(),
      onFatal: (error) => this.#die(error),
    });
  }

  #createFeed(checked: CheckedTransactions, execLagMax: number): ExecutionFeed {
    const { execution, ready } = this.#resources;
    const options = { reportedMax: 2 * execLagMax, repair: repairOf(this.#options) };
    return new ExecutionFeed(options, ready, {
      blocks: this.#blocks,
      checked,
      execute: (block, senders) => execution.execute(block, senders),
      report: (height, result) => this.#driver.input({ kind: "executed", height, result }),
    });
  }

  #createInbox(checked: CheckedTransactions, authenticator: PeerMessageAuthenticator): PeerInbox {
    return new PeerInbox({
      authenticator,
      checked,
      onMessage: (from, message, transactionsValid) =>
        this.#onMessage(from, message, transactionsValid),
      onRefused: (from, code) => this.#onRefusedFrame(from, code),
      hold: (from, isHeld) => this.#held.hold(from, isHeld),
    });
  }

  #createStateSync(authenticator: PeerMessageAuthenticator): StateSync {
    const { stateTransfer, genesis } = this.#options;
    const { execution, statePath } = this.#resources;
    const gapMin = stateTransfer?.gapMin ?? DEFAULT_GAP_MIN;
    return new StateSync(
      { statePath, gapMin, timing: stateTransfer?.timing },
      {
        logger: this.#logger,
        weakQuorum: quorumOf(genesis.replicaPublicKeys.length).weak,
        isActive: () => this.#driver.status().mode === "active",
        executedHeight: () => this.#feed.executedHeight,
        fedHeight: () => this.#feed.fedHeight,
        share: (isShared) => this.#feed.share(isShared),
        peersUp: () => this.#peersUp(),
        isSigned: (vote) => authenticator.authenticate(vote, vote.sender).ok,
        signedResult: (height) => {
          const claim = this.#blocks.executionClaim(height);
          return claim === undefined ? undefined : this.#signResult(claim);
        },
        send: (to, bytes) => this.#transport?.send(to, [STATE_FRAME, bytes]),
        importState: (command) => execution.importState(command),
        hold: () => this.#feed.hold(),
        release: () => this.#feed.release(),
        replace: (state) => {
          this.counters.stateTransfers++;
          this.#feed.replace(state);
          this.#admission.onStateReplaced();
        },
        onRefused: (from, code) => this.#onRefusedFrame(from, code),
        onFailed: (error) => this.#die(error),
      },
    );
  }

  #createSessions(): ClientSessions {
    return new ClientSessions({
      blocks: this.#blocks,
      execHeight: () => this.#feed.executedHeight,
      send: (client, parts) => this.#transport?.send(client, parts) ?? false,
      submit: (client, transactions) => {
        const refuse = (transactionId: Hash, code: string): void => {
          this.#life.refused(transactionId, code);
          this.#sessions.answer(client, { kind: "refused", transactionId, code });
        };
        this.#admission.arrive(transactions, clientSource(client), refuse);
      },
      report: (nonce) => this.report(nonce),
      signResult: (vote) => this.#signResult(vote),
      onRefused: (client, code) => this.#onRefusedFrame(client, code),
    });
  }

  #transportEvents(): TransportEvents {
    return {
      onUp: (peer) => {
        this.#logger.info("link up", { peer });
        if (this.#isReplica(peer)) this.#driver.input({ kind: "link", peer, isUp: true });
        else this.#sessions.onUp(peer);
      },
      onDown: (peer, reason) => this.#onDown(peer, reason),
      onFrame: (peer, frame) => this.#onFrame(peer, frame),
      onDrain: (peer) => this.#sessions.onDrain(peer),
      onRefusal: ({ code, remote }) => this.#logger.debug("connection refused", { code, remote }),
    };
  }

  #onDown(peer: Principal, reason: LinkReason): void {
    this.#logger.info("link down", { peer, reason });
    if (!this.#isReplica(peer)) {
      this.#sessions.onDown(peer);
      return;
    }
    this.#inbox.onDown(peer);
    this.#stateSync.onDown(peer);
    this.#driver.input({ kind: "link", peer, isUp: false });
  }

  #onFrame(peer: Principal, frame: Uint8Array): void {
    const channel = frame[0];
    const bytes = frame.subarray(1);
    const isReplica = this.#isReplica(peer);
    if (isReplica && channel === CONSENSUS_CHANNEL) this.#inbox.onFrame(peer, bytes);
    else if (isReplica && channel === STATE_CHANNEL) this.#stateSync.onFrame(peer, bytes);
    else if (!isReplica && channel === CLIENT_CHANNEL) this.#sessions.onFrame(peer, bytes);
    else this.#onRefusedFrame(peer, "CHANNEL_UNKNOWN");
  }

  #onMessage(from: ReplicaIndex, message: Message, transactionsValid: boolean): void {
    if (message.kind === "forward") {
      // By the same door as a client's: the leader orders nothing that it would not admit.
      this.#admission.arrive([message.transaction.bytes], replicaSource(from));
      return;
    }
    const input = { kind: "message", from, message, transactionsValid } as const;
    this.#driver.input(input, ({ rejection }) => {
      if (rejection === undefined) return;
      this.#logger.debug("message refused", { from, code: rejection.code });
    });
  }

  #onRefusedFrame(peer: Principal, code: string): void {
    this.counters.framesRefused++;
    this.#logger.debug("frame refused", { peer, code });
    this.#guard.onForged(peer, code);
  }

  #send(to: ReplicaIndex | "all", message: Message): void {
    const transport = this.#transport;
    if (transport === undefined) return;
    this.#inbox.noteSent(to, message);
    const frame = [CONSENSUS_FRAME, encodeMessage(message)];
    if (to !== "all") {
      transport.send(to, frame);
      return;
    }
    for (const peer of this.#peers) transport.send(peer, frame);
  }

  #onExecuted(executed: ExecutionReport, durationMs: number): void {
    if (this.#isClosing) return;
    this.#observer?.onExecuted(executed.included.length, durationMs);
    this.counters.executedBlocks++;
    this.counters.droppedTransactions += executed.drops.length;
    this.#life.executed(executed);
    this.#feed.onExecuted(executed);
    this.#admission.onExecuted(executed);
    this.#sessions.onProgress();
  }

  #onStateFull(isFull: boolean): void {
    this.#isStateFull = isFull;
    this.#updateAdmission();
  }

  #updateAdmission(): void {
    const isFull = this.#isDiskFull();
    if (isFull === this.#admission.isClosed) return;
    this.#admission.isClosed = isFull;
    if (isFull) this.#logger.error("the disk is full: no transactions are accepted", {});
    else this.#logger.warn("the disk has room again", {});
  }

  #isDiskFull(): boolean {
    return this.#isStateFull || this.#isLogFull || this.#resources.store.isFull;
  }

  #onNotice(notice: Notice): void {
    const { code, ...fields } = notice;
    switch (code) {
      case "EXECUTION_DIVERGED":
        this.#alarm = code;
        this.#logger.error("this replica's results differ from the others'", fields);
        return;
      case "FINALITY_CONFLICT":
      case "KEY_SUPERSEDED":
        this.#alarm = code;
        // After the effects of this step: the core has stopped itself already.
        queueMicrotask(() => this.#die(new CodedError(code, fields)));
        return;
      case "ROLLED_BACK":
      case "EVIDENCE_FOUND":
        this.#logger.warn("consensus notice", { code, ...fields });
        return;
      case "VIEW_ENTERED":
        this.counters.viewChanges++;
        this.#logger.info("consensus notice", { code, ...fields });
        return;
      case "VIEW_ACCEPTED":
      case "EPOCH_ENTERED":
      case "LEADER_SUSPECTED":
      case "EPOCH_JOINED":
        this.#logger.info("consensus notice", { code, ...fields });
        return;
      case "CATCHING_UP":
        this.#logger.debug("consensus notice", { code, ...fields });
        this.#stateSync.consider(notice.to);
    }
  }

  /** Nothing is signed or sent from here on; what is on the disk stays as it is. */
  #die(error: unknown): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    clearInterval(this.#expiry);
    const code = error instanceof CodedError ? error.code : "REPLICA_FAILED";
    const reason = error instanceof Error ? error.message : String(error);
    this.#logger.error("the replica stopped", { code, reason });
    this.#driver.stop().catch(() => undefined);
    this.#transport?.close(0).catch(() => undefined);
    this.#onFatal(error);
  }
}
