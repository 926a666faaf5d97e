/**
 * What one correct replica remembers and has signed, and what it may do next by itself. Every rule
 * that the product has as a predicate (src/consensus/safety/safety-rules.ts) is asked there. Its
 * answers are cached per local state, of which there are few, so that billions of steps stay
 * affordable.
 */
import {
  isAcceptedAfterRestart,
  mayCommit,
  mayVote,
  tipAfterFinal,
} from "../../src/consensus/safety/safety-rules.ts";
import type { BlockTree } from "./block-tree.ts";
import type { BlockNumber, Bound, Deviation, Round } from "./bound.ts";

/** Three of these name a state in one number below 2^51. */
export const LOCAL_IDS_MAX = 2 ** 17;

export type LocalId = number;

const UNKNOWN = -2;
/** Ten kinds of guarded moves with eight blocks each. */
const GUARDED_MOVES_MAX = 10 * 8;

export type Local = {
  readonly round: number;
  readonly isAccepted: boolean;
  /** Meaningful while accepted; otherwise 0. */
  readonly tip: BlockNumber;
  /** It lost its disk and is an observer until a later epoch. */
  readonly isSilent: boolean;
  /** The round in which it left the first epoch, or -1. */
  readonly leftAt: number;
  /** Per round, the set of blocks voted. */
  readonly voted: readonly number[];
  /** Per round, the set of the highest blocks committed: at most one while the rules hold. */
  readonly committed: readonly number[];
  /** Sets of rounds, empty unless a rule of the model is broken; see Deviation. */
  readonly lostCertificates: number;
  readonly queuedVotes: number;
  readonly forgotten: number;
};

/** Something that a replica can do whatever the others did. */
export type FreeMove = {
  readonly kind: "votes" | "leaves" | "leaves with its last vote still queued" | "restarts";
  readonly block: BlockNumber;
  readonly next: LocalId;
};

export class LocalStates {
  readonly rounds: readonly Round[];
  readonly #bound: Bound;
  readonly #tree: BlockTree;
  readonly #deviation: Deviation;
  readonly #locals: Local[] = [];
  readonly #ids = new Map<string, LocalId>();
  readonly #free: (readonly FreeMove[] | undefined)[] = [];
  /** What each guarded move leads to, once asked; UNKNOWN until then. */
  readonly #guarded = new Int32Array(LOCAL_IDS_MAX * GUARDED_MOVES_MAX).fill(UNKNOWN);
  /**
   * Copies of the fields that the explorer reads in its innermost loop; index id * rounds + round.
   */
  readonly votedOf: Uint8Array;
  readonly committedOf: Uint8Array;
  readonly roundOf = new Uint8Array(LOCAL_IDS_MAX);
  readonly isAcceptedOf = new Uint8Array(LOCAL_IDS_MAX);
  readonly isSilentOf = new Uint8Array(LOCAL_IDS_MAX);

  constructor(bound: Bound, rounds: readonly Round[], tree: BlockTree, deviation: Deviation) {
    this.#bound = bound;
    this.rounds = rounds;
    this.#tree = tree;
    this.#deviation = deviation;
    this.votedOf = new Uint8Array(LOCAL_IDS_MAX * rounds.length);
    this.committedOf = new Uint8Array(LOCAL_IDS_MAX * rounds.length);
  }

  get count(): number {
    return this.#locals.length;
  }

  initial(): LocalId {
    return this.#intern({
      round: 0,
      isAccepted: true,
      tip: 0,
      isSilent: false,
      leftAt: -1,
      voted: this.rounds.map(() => 0),
      committed: this.rounds.map(() => 0),
      lostCertificates: 0,
      queuedVotes: 0,
      forgotten: 0,
    });
  }

  get(id: LocalId): Local {
    return this.#locals[id]!;
  }

  /** Whether the replica sent a ViewChange for the round, or may have. */
  hasReported(id: LocalId, round: number): boolean {
    const local = this.get(id);
    const isPast = this.rounds[local.round]!.epoch > this.rounds[round]!.epoch;
    return (isPast ? local.leftAt : local.round) >= round;
  }

  /** What the replica may do whatever the others did. */
  freeMoves(id: LocalId): readonly FreeMove[] {
    const known = this.#free[id];
    if (known !== undefined) return known;
    const local = this.get(id);
    const moves = local.isSilent ? [] : this.#freeMoves(local);
    this.#free[id] = moves;
    return moves;
  }

  /** Commits a block whose quorum certificate of that round exists (PROTOCOL §5.3), or -1. */
  afterCommit(id: LocalId, round: number, block: BlockNumber): LocalId {
    return this.#remember(id, 1 + round, block, () => this.#afterCommit(id, round, block));
  }

  /** Moves the tip to a block that is final in a round (PROTOCOL §5.5), or -1. */
  afterSkip(id: LocalId, round: number, final: BlockNumber): LocalId {
    if (this.rounds[round]!.epoch !== this.rounds[this.roundOf[id]!]!.epoch) return -1;
    return this.#remember(id, 6, final, () => this.#afterSkip(id, final));
  }

  /** Accepts a NewView with this base (PROTOCOL §6.4). */
  afterAccept(id: LocalId, base: BlockNumber, votesBase: boolean): LocalId {
    return this.#remember(id, votesBase ? 7 : 8, base, () => {
      const local = this.get(id);
      const voted = votesBase ? added(local.voted, local.round, base) : local.voted;
      return this.#intern({ ...local, isAccepted: true, tip: base, voted });
    });
  }

  /** Starts the next epoch on its final boundary; a silent replica is let in again (§9.3). */
  afterBoundary(id: LocalId, boundary: BlockNumber): LocalId {
    return this.#remember(id, 9, boundary, () => {
      const local = this.get(id);
      const { epoch } = this.rounds[local.round]!;
      const round = this.rounds.findIndex((other) => other.epoch === epoch + 1);
      const isBoundary = this.#tree.baseOfEpoch(epoch + 1) === boundary;
      if (round === -1 || !isBoundary) return -1;
      const start = { round, isAccepted: true, tip: boundary, isSilent: false };
      return this.#intern({ ...local, ...start, leftAt: local.round });
    });
  }

  /** Loses its disk (PROTOCOL §9.2), or -1. */
  afterLoss(id: LocalId): LocalId {
    const local = this.get(id);
    return this.#remember(id, 0, 0, () => (local.isSilent ? -1 : this.#intern(this.#wiped(local))));
  }

  /** Whether the replica came back without its memory, which only a broken rule lets it. */
  isForgetful(id: LocalId): boolean {
    return this.get(id).forgotten !== 0;
  }

  /** The same state with blocks renamed. */
  renamed(id: LocalId, names: readonly BlockNumber[]): LocalId {
    return this.#remember(id, 0, 1, () => {
      const local = this.get(id);
      const voted = local.voted.map((set) => renamedSet(set, names));
      const committed = local.committed.map((set) => renamedSet(set, names));
      return this.#intern({ ...local, tip: names[local.tip]!, voted, committed });
    });
  }

  #remember(id: LocalId, kind: number, block: BlockNumber, next: () => LocalId): LocalId {
    const key = id * GUARDED_MOVES_MAX + kind * 8 + block;
    const known = this.#guarded[key]!;
    if (known !== UNKNOWN) return known;
    const found = next();
    this.#guarded[key] = found;
    return found;
  }

  #freeMoves(local: Local): readonly FreeMove[] {
    const moves: FreeMove[] = [];
    const add = (kind: FreeMove["kind"], next: Local, block = 0): void => {
      moves.push({ kind, block, next: this.#intern(next) });
    };
    for (let block = 1; block < this.#tree.count; block++) {
      if (!this.#mayVote(local, block)) continue;
      add("votes", { ...local, tip: block, voted: added(local.voted, local.round, block) }, block);
    }
    const { epoch } = this.rounds[local.round]!;
    if (this.rounds[local.round + 1]?.epoch === epoch) {
      const left = { ...local, round: local.round + 1, isAccepted: false, tip: 0 };
      add("leaves", left);
      if (this.#deviation === "queued-vote-unreported" && local.voted[local.round] !== 0) {
        const queuedVotes = local.queuedVotes | (1 << local.round);
        add("leaves with its last vote still queued", { ...left, queuedVotes });
      }
    }
    if (this.#bound.extensions.restarts) add("restarts", this.#restarted(local));
    return moves;
  }

  #mayVote(local: Local, block: BlockNumber): boolean {
    const { epoch, view } = this.rounds[local.round]!;
    const { parent, epoch: blockEpoch } = this.#tree.shapes[block]!;
    const isBelowBoundary =
      this.#deviation === "boundary-ignored" || !this.#tree.isAboveBoundary(block, epoch);
    const { isAccepted } = local;
    return (
      blockEpoch === epoch &&
      isBelowBoundary &&
      mayVote(
        { view, isAccepted, tip: this.#tree.refs[local.tip]! },
        { view, height: this.#tree.refs[block]!.height, parent: this.#tree.refs[parent]!.hash },
      )
    );
  }

  #afterCommit(id: LocalId, round: number, block: BlockNumber): LocalId {
    const local = this.get(id);
    const own = this.rounds[local.round]!;
    const { epoch, view } = this.rounds[round]!;
    const isAllowed = local.isAccepted || this.#bound.extensions.commitsUnaccepted;
    if (local.isSilent || !isAllowed || epoch !== own.epoch) return -1;
    if (!mayCommit(own.view, { view })) return -1;
    const before = local.committed[round]!;
    if (this.#tree.isBelow(block, before)) return -1;
    const higher = before & ~this.#tree.ancestorsOf(block);
    const committed = local.committed.with(round, higher | (1 << block));
    // Only a broken commit rule gets here late: the ViewChange went out without the certificate.
    const isLate = round < local.round;
    const lostCertificates = local.lostCertificates | (isLate ? 1 << round : 0);
    return this.#intern({ ...local, committed, lostCertificates });
  }

  #afterSkip(id: LocalId, final: BlockNumber): LocalId {
    const local = this.get(id);
    if (local.isSilent || !local.isAccepted) return -1;
    const { refs } = this.#tree;
    const tip = tipAfterFinal(refs[local.tip]!, refs[final]!, (a, b) =>
      this.#tree.isAncestor(this.#tree.numberOf(a), this.#tree.numberOf(b)),
    );
    // After a conflict the replica votes no more in this view, which it may do anyway.
    return tip === "conflict" ? -1 : this.#intern({ ...local, tip: this.#tree.numberOf(tip) });
  }

  /** The log holds the view, the votes and the certificates; the rest is found again (§5.4). */
  #restarted(local: Local): Local {
    const { epoch } = this.rounds[local.round]!;
    const votedRound = this.rounds.findLastIndex(
      (round, index) => round.epoch === epoch && index <= local.round && local.voted[index] !== 0,
    );
    const firstRound = this.rounds.findIndex((round) => round.epoch === epoch);
    const isLost = this.#deviation === "promise-lost";
    const round = isLost ? Math.max(votedRound, firstRound) : local.round;
    const votedView = votedRound === -1 ? -1 : this.rounds[votedRound]!.view;
    const isAccepted = isAcceptedAfterRestart(this.rounds[round]!.view, votedView);
    const base = this.#tree.baseOfEpoch(epoch);
    const tip = votedRound === round ? this.#tree.highest(local.voted[round]!) : base;
    const lost = this.#deviation === "certificate-not-durable" ? 1 << round : 0;
    const lostCertificates = local.lostCertificates | (local.committed[round] === 0 ? 0 : lost);
    return { ...local, round, isAccepted, tip: isAccepted ? tip : 0, lostCertificates };
  }

  /** What it signed stays in the world; what it knew is gone (§9.2). */
  #wiped(local: Local): Local {
    const { epoch } = this.rounds[local.round]!;
    const returns =
      this.#deviation === "rejoin-at-once" ||
      (this.#deviation === "rejoin-by-foreign-nonce" && epoch > 0);
    if (!returns) return { ...local, isSilent: true, isAccepted: false, tip: 0 };
    const round = this.rounds.findIndex((other) => other.epoch === epoch);
    const forgotten = this.rounds.reduce((set, other, index) => {
      return other.epoch === epoch ? set | (1 << index) : set;
    }, local.forgotten);
    const tip = this.#tree.baseOfEpoch(epoch);
    return { ...local, round, isAccepted: true, tip, forgotten };
  }

  #intern(local: Local): LocalId {
    const key = JSON.stringify(Object.values(local));
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#locals.length;
    if (id >= LOCAL_IDS_MAX) throw new Error("too many local states: the bound is too large");
    this.#locals.push(local);
    this.#ids.set(key, id);
    this.roundOf[id] = local.round;
    this.isAcceptedOf[id] = local.isAccepted ? 1 : 0;
    this.isSilentOf[id] = local.isSilent ? 1 : 0;
    for (let round = 0; round < this.rounds.length; round++) {
      this.votedOf[id * this.rounds.length + round] = local.voted[round]!;
      this.committedOf[id * this.rounds.length + round] = local.committed[round]!;
    }
    return id;
  }
}

function added(sets: readonly number[], round: number, block: BlockNumber): readonly number[] {
  return sets.with(round, sets[round]! | (1 << block));
}

function renamedSet(set: number, names: readonly BlockNumber[]): number {
  return names.reduce((renamed, name, block) => renamed | (((set >> block) & 1) << name), 0);
}
