/**
 * The state of a replica and the few primitives that every rule uses. The rules live in files of
 * their own as functions over a Core; nothing here decides anything.
 */
import { Ballots } from "./agreement/ballots.ts";
import type { BlockRef, Hash, ChainLink, Rejoin, ReplicaIndex } from "./block.ts";
import { chainLinkOf } from "./block.ts";
import { BlockTree } from "./block-tree.ts";
import { genesisCert, type Certificate, type FinalCert } from "./certificate.ts";
import type { BaseSelection, Report } from "./safety/base-selection.ts";
import type { Clock, Effect, Notice } from "./effect.ts";
import type { FinalPoint, LogRecord } from "./log-record.ts";
import type {
  Abdicate,
  Complaint,
  Evidence,
  ExecVote,
  Message,
  NewView,
  Propose,
  Statement,
  ViewChange,
} from "./message.ts";
import { Outbox } from "./outbox.ts";
import type { Parameters, Ports } from "./parameters.ts";
import { PendingQueue } from "./agreement/pending-queue.ts";
import { leaderOf, quorumOf, type Quorum } from "./quorum.ts";
import { Witness } from "./recovery/witness.ts";

/**
 * probing: asks peers whether its log is complete; signs nothing yet. observer: lost its log;
 * follows, and waits for an epoch that knows its nonce. active: takes part. diverged: its execution
 * contradicts that of f+1 others; signs view changes only. stopped: processes no further input.
 */
export type Mode = "probing" | "observer" | "active" | "diverged" | "stopped";

export type Final = { readonly link: ChainLink; readonly certificate: FinalCert };

/** A ViewChange with what the choice needs of it, worked out once. */
export type ViewChangeEntry = { readonly message: ViewChange; readonly report: Report };

/** A NewView whose base is known; it waits for the bodies of `choice.path`. */
export type NewViewEntry = { readonly message: NewView; readonly choice: BaseSelection };

export type Core = {
  readonly parameters: Parameters;
  readonly ports: Ports;
  readonly quorum: Quorum;
  readonly self: ReplicaIndex;
  readonly genesis: ChainLink;

  clock: Clock;
  effects: Effect[];

  mode: Mode;
  /** The number of the last record appended, and of the last one known to be durable. */
  lsn: number;
  syncedLsn: number;
  syncAskedLsn: number;
  /** The record that opened this epoch for us: nothing of the epoch leaves before it is durable. */
  epochLsn: number;
  /** The record that names our nonce: no Rejoin leaves before it is durable. */
  rejoinLsn: number;
  readonly outbox: Outbox;

  // What safety needs (PROTOCOL §5). Every change of it is appended to the log first.
  epoch: number;
  boundary: Final;
  view: number;
  isAccepted: boolean;
  tip: BlockRef;
  votedView: number;
  votedTip: BlockRef | undefined;
  highCert: Certificate;
  final: Final;

  /** False in the view the replica restarted in, and once it abdicated (PROTOCOL §5.4). */
  mayLead: boolean;
  /** The tip conflicts with a final block: no further vote in this view (PROTOCOL §5.5). */
  isTipConflicting: boolean;
  /** Our votes of the current view, lowest first, to be sent again. */
  ownVotes: BlockRef[];
  booted: boolean;
  /** Drawn by this process, never read from the log: a copy of the log has the same one. */
  rejoinNonce: Hash | undefined;
  /** Block time of each member's last Rejoin, or -1. */
  rejoinedAtMs: number[];

  readonly tree: BlockTree;
  /** The leader's proposals of the current view by height: one each, the first. */
  readonly proposals: Map<number, Propose>;
  readonly ballots: Ballots;
  readonly witness: Witness;
  readonly pending: PendingQueue;
  /** At most one Rejoin per member, with its arrival. */
  readonly pendingRejoins: Map<ReplicaIndex, { readonly rejoin: Rejoin; readonly sinceMs: number }>;
  /** The highest finality certificate known that is not applied because blocks are missing. */
  awaitedFinal: FinalCert | undefined;

  readonly views: ViewState;
  readonly timers: Timers;
  readonly execution: ExecutionState;
  readonly peers: PeerState[];
  probe: ProbeState | undefined;
};

/** What a proposed block held, and when it came: its successor shows whether it was full. */
export type ProposedBlock = {
  readonly hash: Hash;
  readonly atMs: number;
  readonly bytes: number;
  readonly gas: number;
  readonly count: number;
};

export type ViewState = {
  /** The highest ViewChange of each sender. */
  readonly changes: Map<ReplicaIndex, ViewChangeEntry>;
  /** The highest view of this epoch in which each replica is known to have signed anything. */
  readonly reached: Map<ReplicaIndex, number>;
  /** Complaints about the current view by sender, with their arrival time: they expire. */
  readonly complaints: Map<ReplicaIndex, { readonly message: Complaint; readonly atMs: number }>;
  ownComplaint: Complaint | undefined;
  abdicate: Abdicate | undefined;
  /** At most one NewView for the current view and one for the next. */
  readonly newViews: Map<number, NewViewEntry>;
  /** The NewView that was accepted in the current view, to be passed on. */
  acceptedNewView: NewView | undefined;
  sentNewViewIn: number;
  /** The last proposal of the current view that came in. */
  lastProposed: ProposedBlock | undefined;
  /** One proof per equivocator of this epoch. */
  readonly evidence: Map<ReplicaIndex, Evidence>;
  /** Leaders that failed their last term: they get half the time. */
  readonly failedLeaders: Set<ReplicaIndex>;
};

export type Timers = {
  /** Consecutive views without finality: the exponent of every timeout. */
  failures: number;
  hasFinalizedInView: boolean;
  viewEnteredMs: number;
  /** When 2f+1 replicas were seen in this view or above, or undefined. */
  quorumInViewMs: number | undefined;
  lastProgressMs: number;
  workSinceMs: number | undefined;
  leaderHeardMs: number;
  nextHeartbeatMs: number;
  nextResendMs: number;
  nextFetchMs: number;
  nextForwardMs: number;
  /** When a held proposal is checked again (its timestamp is ahead of our clock). */
  heldUntilMs: number | undefined;
  commitDueMs: number | undefined;
  /** When the leader may propose again: it gathers, or would run ahead of its clock. */
  proposeDueMs: number | undefined;
  /** Our last proposal as a leader, in whichever view. */
  lastProposal: { readonly atMs: number; readonly txCount: number } | undefined;
  behindSinceMs: number | undefined;
  hasComplainedOfTimestamp: boolean;
  /** The last commit latencies, for the view timer. */
  readonly latenciesMs: number[];
  slowestCommitMs: number;
  /** Their median: one view change does not move it. */
  usualCommitMs: number;
  readonly votedAtMs: Map<number, number>;
  fastStreak: number;
  /** Smoothed gap between the quorum's last vote and the very last one. */
  lastVoteGapMs: number;
  readonly quorumAtMs: Map<Hash, number>;
};

export type ExecutionState = {
  height: number;
  /** Our results of the last heights. */
  readonly results: Map<number, Hash>;
  readonly votes: Map<number, Map<ReplicaIndex, ExecVote>>;
  checkpointHeight: number;
  /** Whether ordering waits for our own execution now, and when it last did. */
  isAwaited: boolean;
  awaitedUntilMs: number;
  /** When the block that is being executed was begun, or undefined when all are executed. */
  startedMs: number | undefined;
  /** How long the last blocks took, and the slowest of them. */
  readonly durationsMs: number[];
  slowestMs: number;
};

export type PeerState = {
  isUp: boolean;
  hasBeenUp: boolean;
  downSinceMs: number;
  /** What the peer last said of itself. */
  epoch: number;
  finalHeight: number;
  execHeight: number;
  nextFinalityMs: number;
  nextHelpMs: number;
  nextServeMs: number;
};

export type ProbeState = {
  readonly nonce: Hash;
  readonly isEmpty: boolean;
  readonly answers: Map<ReplicaIndex, { readonly isUntouched: boolean }>;
};

export function createCore(parameters: Parameters, ports: Ports): Core {
  const genesis = chainLinkOf(parameters.genesis, ports.hashHeader);
  const final: Final = { link: genesis, certificate: genesisCert(genesis.hash) };
  const peer = (): PeerState => ({
    isUp: false,
    hasBeenUp: false,
    downSinceMs: 0,
    epoch: 0,
    finalHeight: 0,
    execHeight: 0,
    nextFinalityMs: 0,
    nextHelpMs: 0,
    nextServeMs: 0,
  });
  return {
    parameters,
    ports,
    quorum: quorumOf(parameters.replicaCount),
    self: parameters.self,
    genesis,
    clock: { nowMs: 0, wallMs: 0 },
    effects: [],
    mode: "probing",
    lsn: 0,
    syncedLsn: 0,
    syncAskedLsn: 0,
    epochLsn: 0,
    rejoinLsn: 0,
    outbox: new Outbox(),
    epoch: 0,
    boundary: final,
    view: 0,
    isAccepted: true,
    tip: genesis,
    votedView: -1,
    votedTip: undefined,
    highCert: final.certificate,
    final,
    mayLead: false,
    isTipConflicting: false,
    ownVotes: [],
    booted: false,
    rejoinNonce: undefined,
    rejoinedAtMs: Array.from({ length: parameters.replicaCount }, () => -1),
    tree: new BlockTree(genesis, {
      blocksMax: 16 * parameters.window,
      finalLinksMax: 2 * parameters.execLagMax + 4 * parameters.window,
    }),
    proposals: new Map(),
    ballots: new Ballots(4 * parameters.window),
    witness: new Witness(),
    pending: new PendingQueue(parameters.pendingMax),
    pendingRejoins: new Map(),
    awaitedFinal: undefined,
    views: createViewState(),
    timers: createTimers(),
    execution: createExecution(parameters.genesisResult),
    peers: Array.from({ length: parameters.replicaCount }, peer),
    probe: undefined,
  };
}

function createExecution(genesisResult: Hash): ExecutionState {
  return {
    height: 0,
    results: new Map([[0, genesisResult]]),
    votes: new Map(),
    checkpointHeight: 0,
    isAwaited: false,
    awaitedUntilMs: 0,
    startedMs: undefined,
    durationsMs: [],
    slowestMs: 0,
  };
}

function createViewState(): ViewState {
  return {
    changes: new Map(),
    reached: new Map(),
    complaints: new Map(),
    ownComplaint: undefined,
    abdicate: undefined,
    newViews: new Map(),
    acceptedNewView: undefined,
    sentNewViewIn: -1,
    lastProposed: undefined,
    evidence: new Map(),
    failedLeaders: new Set(),
  };
}

function createTimers(): Timers {
  return {
    failures: 0,
    hasFinalizedInView: false,
    viewEnteredMs: 0,
    quorumInViewMs: undefined,
    lastProgressMs: 0,
    workSinceMs: undefined,
    leaderHeardMs: 0,
    nextHeartbeatMs: 0,
    nextResendMs: 0,
    nextFetchMs: 0,
    nextForwardMs: 0,
    heldUntilMs: undefined,
    commitDueMs: undefined,
    proposeDueMs: undefined,
    lastProposal: undefined,
    behindSinceMs: undefined,
    hasComplainedOfTimestamp: false,
    latenciesMs: [],
    slowestCommitMs: 0,
    usualCommitMs: 0,
    votedAtMs: new Map(),
    fastStreak: 0,
    lastVoteGapMs: 0,
    quorumAtMs: new Map(),
  };
}

export function leader(core: Core): ReplicaIndex {
  return leaderOf(core.view, core.quorum.replicaCount);
}

export function finalPoint({ link, certificate }: Final): FinalPoint {
  return { header: link.header, certificate };
}

export function notice(core: Core, what: Notice): void {
  core.effects.push({ kind: "notice", notice: what });
}

export function append(core: Core, record: LogRecord): void {
  core.lsn += 1;
  core.effects.push({ kind: "append", lsn: core.lsn, record });
}

/** For what must be durable first: leaves when everything appended so far is. */
export function sendAfterSync(core: Core, to: ReplicaIndex | "all", message: Message): void {
  queue(core, core.lsn, to, message);
}

/**
 * For messages that bind the replica to nothing: they wait only for the record that opened the
 * epoch (PROTOCOL §7).
 */
export function sendNow(core: Core, to: ReplicaIndex | "all", message: Message): void {
  queue(core, core.epochLsn, to, message);
}

function queue(core: Core, lsn: number, to: ReplicaIndex | "all", message: Message): void {
  if (lsn <= core.syncedLsn) core.effects.push({ kind: "send", to, message });
  else core.outbox.push(lsn, to, message);
}

type SignedKind = Exclude<Statement["kind"], "proposeClaim">;

/** Signs a statement with this replica's key. */
export function signed<Kind extends SignedKind>(
  core: Core,
  statement: Extract<Statement, { readonly kind: Kind }>,
): Extract<Message, { readonly kind: Kind }> {
  const message = { ...statement, signature: core.ports.sign(statement) };
  // The statement of a kind plus its signature is the message of that kind (src/consensus/message).
  return message as unknown as Extract<Message, { readonly kind: Kind }>;
}

/**
 * A replica that signs in a view has entered it; f+1 of them show that the network is there
 * (PROTOCOL §6.5).
 */
export function noteReached(core: Core, sender: ReplicaIndex, view: number): void {
  const known = core.views.reached.get(sender) ?? 0;
  if (view > known) core.views.reached.set(sender, view);
}
