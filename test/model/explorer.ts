/**
 * Visits every state that three correct replicas and one Byzantine replica can reach within a
 * bound, breadth first, and checks the invariants in each. What it finds first is therefore the
 * shortest way there. The replicas are alike, so states that differ only in who is who count once.
 */
import { BlockTree } from "./block-tree.ts";
import { HALT_BIT } from "./choice-table.ts";
import { roundsOf, type Bound, type BlockNumber, type Deviation } from "./bound.ts";
import { Finality } from "./finality.ts";
import { LOCAL_IDS_MAX, LocalStates, type FreeMove, type LocalId } from "./local-state.ts";
import { GHOST_BIT, NewViews } from "./new-view.ts";
import { StateSet } from "./state-set.ts";

/** The names are those of PROTOCOL §12. */
export type Invariant =
  /** No two conflicting blocks are final. */
  | "agreement"
  /** The quorum certificates of one view lie on one chain. */
  | "one-chain-per-view"
  /** The votes of one correct replica in one view lie on one chain. */
  | "votes-form-a-chain"
  /** Every base that a NewView could have now descends from everything final in lower views. */
  | "ghost-choose"
  /** `choose` always finds a base. */
  | "choose-is-total";

export type Settings = {
  readonly deviation: Deviation;
  readonly invariants: readonly Invariant[];
  /** Counts states once that differ only by the bound's renaming of blocks. Right rules only. */
  readonly isReduced: boolean;
};

export const ALL_INVARIANTS: readonly Invariant[] = [
  "agreement",
  "one-chain-per-view",
  "votes-form-a-chain",
  "ghost-choose",
  "choose-is-total",
];

export type MoveKind =
  | FreeMove["kind"]
  | "commits"
  | "skips to"
  | "accepts"
  | "enters the next epoch on"
  | "loses its disk";

export type Move = {
  readonly actor: number;
  readonly kind: MoveKind;
  readonly round: number;
  readonly block: BlockNumber;
  /** For "accepts": the outcome as a bit of `NewViews.outcomes`. */
  readonly outcome: number;
  readonly next: LocalId;
};

type MoveVisitor = (
  kind: MoveKind,
  round: number,
  block: BlockNumber,
  outcome: number,
  next: LocalId,
) => void;

export type Exploration = {
  readonly states: number;
  readonly transitions: number;
  readonly depth: number;
  readonly localStates: number;
  readonly choices: number;
  readonly violation: { readonly invariant: Invariant; readonly position: number } | undefined;
};

export class Explorer {
  readonly tree: BlockTree;
  readonly locals: LocalStates;
  readonly newViews: NewViews;
  readonly finality: Finality;
  readonly #bound: Bound;
  readonly #settings: Settings;
  readonly #roundCount: number;
  readonly #set = new StateSet();
  readonly #certified: number[];
  readonly #final: number[];
  readonly #targets: LocalId[] = [];
  readonly #collect: MoveVisitor = (_kind, _round, _block, _outcome, next) => {
    this.#targets.push(next);
  };
  #transitions = 0;

  constructor(bound: Bound, settings: Settings) {
    const rounds = roundsOf(bound.viewsPerEpoch);
    this.#bound = bound;
    this.#settings = settings;
    this.#roundCount = rounds.length;
    this.tree = new BlockTree(bound.blocks);
    this.locals = new LocalStates(bound, rounds, this.tree, settings.deviation);
    this.finality = new Finality(this.tree);
    this.newViews = new NewViews(bound, this.tree, this.finality, this.locals);
    this.#certified = rounds.map(() => 0);
    this.#final = rounds.map(() => 0);
  }

  run(): Exploration {
    const start = this.locals.initial();
    this.#set.add(this.nameOf([start, start, start]), -1);
    let depth = 0;
    let levelEnd = 1;
    let violation: Exploration["violation"];
    for (let position = 0; position < this.#set.count && violation === undefined; position++) {
      if (position === levelEnd) {
        depth += 1;
        levelEnd = this.#set.count;
      }
      violation = this.#expand(position);
    }
    return {
      states: this.#set.count,
      transitions: this.#transitions,
      depth: violation === undefined ? depth : depth + 1,
      localStates: this.locals.count,
      choices: this.newViews.choiceCount,
      violation,
    };
  }

  /** The states from the start to a position, each as its three local states in no order. */
  pathTo(position: number): readonly (readonly LocalId[])[] {
    const path: (readonly LocalId[])[] = [];
    for (let at = position; at !== -1; at = this.#set.parentOf(at)) {
      path.unshift(unpack(this.#set.at(at)));
    }
    return path;
  }

  /** The number of a state, the same for all states that count as one. */
  nameOf(ids: readonly LocalId[]): number {
    return this.#name(ids[0]!, ids[1]!, ids[2]!);
  }

  #name(a: LocalId, b: LocalId, c: LocalId): number {
    const name = pack(a, b, c);
    const { renaming } = this.#bound;
    if (!this.#settings.isReduced || renaming === undefined) return name;
    const { locals } = this;
    const other = pack(
      locals.renamed(a, renaming),
      locals.renamed(b, renaming),
      locals.renamed(c, renaming),
    );
    return Math.min(name, other);
  }

  /** Every move from a state, with what a trace needs to tell it. */
  moves(ids: readonly LocalId[]): readonly Move[] {
    const moves: Move[] = [];
    const [a, b, c] = ids as [LocalId, LocalId, LocalId];
    this.#observe(a, b, c);
    ids.forEach((id, actor) => {
      const round = this.locals.roundOf[id]!;
      for (const { kind, block, next } of this.locals.freeMoves(id)) {
        moves.push({ actor, kind, round, block, outcome: 0, next });
      }
      this.#guardedMoves(id, a, b, c, (kind, inRound, block, outcome, next) => {
        moves.push({ actor, kind, round: inRound, block, outcome, next });
      });
    });
    return moves;
  }

  #expand(position: number): Exploration["violation"] {
    const [a, b, c] = unpack(this.#set.at(position));
    this.#observe(a, b, c);
    this.#targets.length = 0;
    this.#guardedMoves(a, a, b, c, this.#collect);
    const endOfA = this.#targets.length;
    this.#guardedMoves(b, a, b, c, this.#collect);
    const endOfB = this.#targets.length;
    this.#guardedMoves(c, a, b, c, this.#collect);
    const endOfC = this.#targets.length;
    let broken: Invariant | undefined;
    for (let index = 0; index < endOfA; index++) {
      broken ??= this.#reach(this.#targets[index]!, b, c, position);
    }
    for (let index = endOfA; index < endOfB; index++) {
      broken ??= this.#reach(a, this.#targets[index]!, c, position);
    }
    for (let index = endOfB; index < endOfC; index++) {
      broken ??= this.#reach(a, b, this.#targets[index]!, position);
    }
    for (const { next } of this.locals.freeMoves(a)) broken ??= this.#reach(next, b, c, position);
    for (const { next } of this.locals.freeMoves(b)) broken ??= this.#reach(a, next, c, position);
    for (const { next } of this.locals.freeMoves(c)) broken ??= this.#reach(a, b, next, position);
    return broken === undefined ? undefined : { invariant: broken, position: this.#set.count - 1 };
  }

  /** Adds a state; the invariant that it breaks, if it is new and does. */
  #reach(a: LocalId, b: LocalId, c: LocalId, from: number): Invariant | undefined {
    this.#transitions += 1;
    return this.#set.add(this.#name(a, b, c), from) ? this.#broken(a, b, c) : undefined;
  }

  /** Works out which certificates exist in a state. */
  #observe(a: LocalId, b: LocalId, c: LocalId): void {
    const { votedOf, committedOf } = this.locals;
    const count = this.#roundCount;
    for (let round = 0; round < count; round++) {
      const x = votedOf[a * count + round]!;
      const y = votedOf[b * count + round]!;
      const z = votedOf[c * count + round]!;
      const slow = this.finality.slow(
        committedOf[a * count + round]!,
        committedOf[b * count + round]!,
        committedOf[c * count + round]!,
      );
      this.#certified[round] = this.finality.certified(x, y, z);
      this.#final[round] = this.finality.fast(x, y, z) | slow;
    }
  }

  /** The moves of one replica that depend on what others did; `#observe` comes before. */
  #guardedMoves(id: LocalId, a: LocalId, b: LocalId, c: LocalId, visit: MoveVisitor): void {
    const { locals, tree } = this;
    if (locals.isSilentOf[id] === 1 && !this.#bound.extensions.losses) return;
    const own = locals.roundOf[id]!;
    for (let round = 0; round < this.#roundCount; round++) {
      const certified = this.#certified[round]!;
      const final = this.#final[round]!;
      if (certified === 0 && final === 0) continue;
      for (let block = 1; block < tree.count; block++) {
        if (((certified >> block) & 1) === 1 && round <= own) {
          const next = locals.afterCommit(id, round, block);
          if (next !== -1) visit("commits", round, block, 0, next);
        }
        if (((final >> block) & 1) === 0) continue;
        // A block may have become final in a view that this replica has not reached.
        if (this.#bound.extensions.skips) {
          const next = locals.afterSkip(id, round, block);
          if (next !== -1 && next !== id) visit("skips to", own, block, 0, next);
        }
        if (this.#bound.viewsPerEpoch.length > 1) {
          const next = locals.afterBoundary(id, block);
          if (next !== -1) visit("enters the next epoch on", own, block, 0, next);
        }
      }
    }
    if (this.#bound.extensions.losses && this.#mayLose(id, a, b, c)) {
      const next = locals.afterLoss(id);
      if (next !== -1) visit("loses its disk", own, 0, 0, next);
    }
    if (locals.isAcceptedOf[id] === 1 || locals.isSilentOf[id] === 1) return;
    const outcomes = this.newViews.outcomes(own, a, b, c, this.#final);
    for (let choice = 0; choice < tree.count * 2; choice++) {
      if (((outcomes >> choice) & 1) === 0) continue;
      const next = locals.afterAccept(id, choice >> 1, (choice & 1) === 1);
      visit("accepts", own, choice >> 1, 1 << choice, next);
    }
  }

  /** A broken rule must show with f lost disks; the right one holds with any number. */
  #mayLose(id: LocalId, a: LocalId, b: LocalId, c: LocalId): boolean {
    const { locals } = this;
    return (
      (a === id || !locals.isForgetful(a)) &&
      (b === id || !locals.isForgetful(b)) &&
      (c === id || !locals.isForgetful(c))
    );
  }

  #broken(a: LocalId, b: LocalId, c: LocalId): Invariant | undefined {
    this.#observe(a, b, c);
    for (const invariant of this.#settings.invariants) {
      if (!this.#holds(invariant, a, b, c)) return invariant;
    }
    return undefined;
  }

  #holds(invariant: Invariant, a: LocalId, b: LocalId, c: LocalId): boolean {
    switch (invariant) {
      case "agreement": {
        let union = 0;
        for (const final of this.#final) union |= final;
        return this.finality.isChain[union] === 1;
      }
      case "one-chain-per-view":
        for (const set of this.#certified) if (this.finality.isChain[set] === 0) return false;
        return true;
      case "votes-form-a-chain":
        return this.#votesAChain(a) && this.#votesAChain(b) && this.#votesAChain(c);
      case "ghost-choose":
        return this.#outcomesLack(GHOST_BIT, a, b, c);
      case "choose-is-total":
        return this.#outcomesLack(HALT_BIT, a, b, c);
    }
  }

  #votesAChain(id: LocalId): boolean {
    const first = id * this.#roundCount;
    for (let index = first; index < first + this.#roundCount; index++) {
      if (this.finality.isChain[this.locals.votedOf[index]!] === 0) return false;
    }
    return true;
  }

  /** Looks at every NewView that could be made, not only at those that somebody waits for. */
  #outcomesLack(bit: number, a: LocalId, b: LocalId, c: LocalId): boolean {
    const { rounds, roundOf } = this.locals;
    for (let round = 1; round < this.#roundCount; round++) {
      if (rounds[round]!.view === 0) continue;
      if (roundOf[a]! < round && roundOf[b]! < round && roundOf[c]! < round) continue;
      if ((this.newViews.outcomes(round, a, b, c, this.#final) & bit) !== 0) return false;
    }
    return true;
  }
}

/** One number for a state, the same for every order of the replicas. */
function pack(a: LocalId, b: LocalId, c: LocalId): number {
  const low = Math.min(a, b, c);
  const high = Math.max(a, b, c);
  return ((a + b + c - low - high) * LOCAL_IDS_MAX + low) * LOCAL_IDS_MAX + high;
}

function unpack(state: number): [LocalId, LocalId, LocalId] {
  const high = state % LOCAL_IDS_MAX;
  const rest = (state - high) / LOCAL_IDS_MAX;
  const low = rest % LOCAL_IDS_MAX;
  return [low, (rest - low) / LOCAL_IDS_MAX, high];
}
