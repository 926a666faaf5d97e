/**
 * Which base blocks a NewView can have: for every set of 2f+1 ViewChanges that may exist, whatever
 * the Byzantine replica puts into its own. The results are remembered per triple of histories.
 */
import {
  compareCerts,
  genesisCert,
  viewInEpoch,
  type Certificate,
} from "../../src/consensus/certificate.ts";
import type { Report } from "../../src/consensus/safety/base-selection.ts";
import type { BlockTree } from "./block-tree.ts";
import type { BlockNumber, Bound } from "./bound.ts";
import { ChoiceTable, type ReportSetId } from "./choice-table.ts";
import { BYZANTINE, type Finality } from "./finality.ts";
import type { LocalId, LocalStates } from "./local-state.ts";

/** A bit of a set of outcomes: a base misses a block that is final. */
export const GHOST_BIT = 1 << 17;

const SUMMARIES_MAX = 2 ** 16;

type Summary = { readonly id: LocalId; readonly hasReported: boolean };

/** Everything that one sender may have said. */
type Sent = { readonly sender: number; readonly reports: ReportSetId };

/** A certificate that exists, and where. */
type Proof = { readonly certificate: Certificate; readonly block: BlockNumber };

type Facts = {
  /** What may stand as a finality certificate, the base of the epoch first. */
  readonly finals: readonly Proof[];
  readonly certificates: readonly Proof[];
};

/** A report with its sender: the position of a correct replica, or BYZANTINE. */
export type SentReport = { readonly sender: number; readonly report: Report };

export class NewViews {
  readonly #bound: Bound;
  readonly #tree: BlockTree;
  readonly #finality: Finality;
  readonly #locals: LocalStates;
  readonly #table: ChoiceTable;
  /** The block that each epoch stands on. */
  readonly #bases: readonly BlockNumber[];
  readonly #summaries: Summary[] = [];
  readonly #summaryIds = new Map<string, number>();
  readonly #summaryOf: Int32Array[];
  readonly #outcomes = new Map<number, Map<number, number>>();

  constructor(bound: Bound, tree: BlockTree, finality: Finality, locals: LocalStates) {
    this.#bound = bound;
    this.#tree = tree;
    this.#finality = finality;
    this.#locals = locals;
    this.#table = new ChoiceTable(tree);
    this.#bases = bound.viewsPerEpoch.map((_, epoch) => tree.baseOfEpoch(epoch));
    this.#summaryOf = locals.rounds.map(() => new Int32Array(2 ** 17).fill(-1));
  }

  get choiceCount(): number {
    return this.#table.choiceCount;
  }

  /**
   * Every base with which a NewView of the round can come, as a set of outcomes. `finals` are the
   * final blocks of each round in this state.
   */
  outcomes(round: number, a: LocalId, b: LocalId, c: LocalId, finals: readonly number[]): number {
    const x = this.#summary(round, a);
    const y = this.#summary(round, b);
    const z = this.#summary(round, c);
    const low = Math.min(x, y, z);
    const high = Math.max(x, y, z);
    const middle = x + y + z - low - high;
    const decidedIn = this.#roundsOfBoundary(round, finals);
    const memo = this.#memo(round, decidedIn);
    const key = (low * SUMMARIES_MAX + middle) * SUMMARIES_MAX + high;
    const known = memo.get(key);
    if (known !== undefined) return known;
    const outcomes = this.#explore(round, decidedIn, [low, middle, high]);
    memo.set(key, outcomes);
    return outcomes;
  }

  /** One set of reports that leads to the outcome, for a trace. */
  explain(round: number, locals: readonly LocalId[], wanted: number): readonly SentReport[] {
    const summaries = locals.map((id) => this.#summary(round, id));
    const finals = this.#locals.rounds.map((_, index) => this.#final(index, locals));
    const facts = this.#facts(round, this.#roundsOfBoundary(round, finals), summaries);
    for (const trio of trios(this.#sent(round, summaries, facts))) {
      const found = this.#table.find(trio[0].reports, trio[1].reports, trio[2].reports, wanted);
      if (found !== undefined) {
        return found.map((report, index) => ({ sender: trio[index]!.sender, report }));
      }
    }
    return [];
  }

  /** Goes through all sets of 2f+1 senders and all that they may have sent. */
  #explore(round: number, decidedIn: number, summaries: readonly number[]): number {
    const facts = this.#facts(round, decidedIn, summaries);
    let outcomes = 0;
    for (const [x, y, z] of trios(this.#sent(round, summaries, facts))) {
      outcomes |= this.#table.outcomes(x.reports, y.reports, z.reports);
    }
    for (let base = 0; base < this.#tree.count; base++) {
      const isPossible = ((outcomes >> (base * 2)) & 0b11) !== 0;
      const isAbove = facts.finals.every(({ block }) => this.#tree.isAncestor(block, base));
      if (isPossible && !isAbove) outcomes |= GHOST_BIT;
    }
    return outcomes;
  }

  #sent(round: number, summaries: readonly number[], facts: Facts): readonly Sent[] {
    const sent: Sent[] = [];
    summaries.forEach((summary, sender) => {
      const { id, hasReported } = this.#summaries[summary]!;
      if (!hasReported) return;
      sent.push({ sender, reports: this.#table.setId(this.#correctReports(round, id, facts)) });
    });
    sent.push({
      sender: BYZANTINE,
      reports: this.#table.setId(this.#byzantineReports(round, facts)),
    });
    return sent;
  }

  /**
   * The certificates of the epoch below the round, with the finality of what the epoch stands on.
   */
  #facts(round: number, decidedIn: number, summaries: readonly number[]): Facts {
    const { rounds } = this.#locals;
    const { epoch } = rounds[round]!;
    const ids = summaries.map((summary) => this.#summaries[summary]!.id);
    const locals = ids.map((id) => this.#locals.get(id));
    const finals = this.#baseProofs(epoch, decidedIn);
    const certificates: Proof[] = [];
    for (let index = 0; index < round; index++) {
      if (rounds[index]!.epoch !== epoch) continue;
      const [a, b, c] = locals.map(({ voted }) => voted[index]!) as [number, number, number];
      const certified = this.#finality.certified(a, b, c);
      const final = this.#final(index, ids);
      for (let block = 1; block < this.#tree.count; block++) {
        if (((certified >> block) & 1) === 1) certificates.push(this.#proof(index, block));
        if (((final >> block) & 1) === 1) finals.push(this.#proof(index, block));
      }
    }
    return { finals, certificates };
  }

  #baseProofs(epoch: number, decidedIn: number): Proof[] {
    const block = this.#tree.baseOfEpoch(epoch);
    if (epoch === 0) return [{ certificate: genesisCert(this.#tree.refs[0]!.hash), block }];
    return this.#locals.rounds.flatMap((_, round) =>
      ((decidedIn >> round) & 1) === 1 ? [this.#proof(round, block)] : [],
    );
  }

  /**
   * The rounds of the earlier epoch in which the boundary that this epoch stands on was decided.
   */
  #roundsOfBoundary(round: number, finals: readonly number[]): number {
    const { rounds } = this.#locals;
    const { epoch } = rounds[round]!;
    if (epoch === 0) return 0;
    const boundary = this.#bases[epoch]!;
    let set = 0;
    for (let index = 0; index < round; index++) {
      const isBefore = rounds[index]!.epoch === epoch - 1;
      if (isBefore && ((finals[index]! >> boundary) & 1) === 1) set |= 1 << index;
    }
    return set;
  }

  #final(round: number, ids: readonly LocalId[]): number {
    const locals = ids.map((id) => this.#locals.get(id));
    const [a, b, c] = locals.map(({ voted }) => voted[round]!) as [number, number, number];
    const [d, e, f] = locals.map((l) => l.committed[round]!) as [number, number, number];
    return this.#finality.fast(a, b, c) | this.#finality.slow(d, e, f);
  }

  #proof(round: number, block: BlockNumber): Proof {
    const { epoch, view } = this.#locals.rounds[round]!;
    const { height, hash: blockHash } = this.#tree.refs[block]!;
    return { certificate: { kind: "quorum", epoch, view, height, blockHash, votes: [] }, block };
  }

  /** What a correct replica may have sent: it knows its own votes, and certificates by chance. */
  #correctReports(round: number, id: LocalId, facts: Facts): readonly number[] {
    const [votedView, votedTip] = this.#lastVote(round, id);
    const own = this.#ownCertificate(round, id);
    const ids = new Set<number>();
    const { extensions } = this.#bound;
    for (const final of extensions.finalCerts ? facts.finals : facts.finals.slice(0, 1)) {
      const least = own === undefined ? final : higher(final, own);
      const adopted = extensions.adoption ? facts.certificates : [];
      for (const certified of [least, ...adopted]) {
        if (certified !== least && higher(least, certified) === least) continue;
        ids.add(this.#report(round, final, certified, votedView, votedTip));
      }
    }
    return [...ids];
  }

  /** What the Byzantine replica may send: certificates that exist, and any vote. */
  #byzantineReports(round: number, facts: Facts): readonly number[] {
    const ids = new Set<number>();
    const { view } = this.#locals.rounds[round]!;
    const { extensions } = this.#bound;
    for (const final of extensions.finalCerts ? facts.finals : facts.finals.slice(0, 1)) {
      for (const certified of [final, ...facts.certificates]) {
        ids.add(this.#report(round, final, certified, -1, 0));
        for (let votedView = 0; votedView < view; votedView++) {
          for (let tip = 0; tip < this.#tree.count; tip++) {
            ids.add(this.#report(round, final, certified, votedView, tip));
          }
        }
      }
    }
    return [...ids];
  }

  #lastVote(round: number, id: LocalId): readonly [number, BlockNumber] {
    const local = this.#locals.get(id);
    const { rounds } = this.#locals;
    for (let index = round - 1; index >= 0; index--) {
      if (rounds[index]!.epoch !== rounds[round]!.epoch) break;
      let voted = local.voted[index]!;
      if (((local.forgotten >> index) & 1) === 1) continue;
      const isQueued = ((local.queuedVotes >> index) & 1) === 1 && index === round - 1;
      if (isQueued) voted &= ~(1 << this.#tree.highest(voted));
      if (voted !== 0) return [rounds[index]!.view, this.#tree.highest(voted)];
    }
    return [-1, 0];
  }

  #ownCertificate(round: number, id: LocalId): Proof | undefined {
    const local = this.#locals.get(id);
    const { rounds } = this.#locals;
    const lost = local.forgotten | local.lostCertificates;
    for (let index = round - 1; index >= 0; index--) {
      if (rounds[index]!.epoch !== rounds[round]!.epoch) break;
      if (((lost >> index) & 1) === 1) continue;
      const committed = local.committed[index]!;
      if (committed !== 0) return this.#proof(index, this.#tree.highest(committed));
    }
    return undefined;
  }

  #report(
    round: number,
    final: Proof,
    certified: Proof,
    votedView: number,
    votedTip: BlockNumber,
  ): number {
    const { epoch } = this.#locals.rounds[round]!;
    return this.#table.reportId({
      finalView: viewInEpoch(final.certificate, epoch),
      final: final.block,
      certifiedView: viewInEpoch(certified.certificate, epoch),
      certified: certified.block,
      votedView,
      votedTip,
    });
  }

  #memo(round: number, decidedIn: number): Map<number, number> {
    const key = round * 256 + decidedIn;
    let memo = this.#outcomes.get(key);
    if (memo === undefined) {
      memo = new Map<number, number>();
      this.#outcomes.set(key, memo);
    }
    return memo;
  }

  /** Replicas that look the same from a later view share one summary. */
  #summary(round: number, id: LocalId): number {
    const known = this.#summaryOf[round]![id]!;
    if (known !== -1) return known;
    const local = this.#locals.get(id);
    const hasReported = this.#locals.hasReported(id, round);
    const { lostCertificates, queuedVotes, forgotten } = local;
    const { epoch } = this.#locals.rounds[round]!;
    const first = this.#locals.rounds.findIndex((other) => other.epoch === epoch);
    const below = [local.voted.slice(first, round), local.committed.slice(first, round)];
    const flaws = [lostCertificates, queuedVotes, forgotten];
    const key = JSON.stringify([round, hasReported, below, flaws]);
    let summary = this.#summaryIds.get(key);
    if (summary === undefined) {
      summary = this.#summaries.length;
      if (summary >= SUMMARIES_MAX) throw new Error("too many summaries: the bound is too large");
      this.#summaries.push({ id, hasReported });
      this.#summaryIds.set(key, summary);
    }
    this.#summaryOf[round]![id] = summary;
    return summary;
  }
}

function higher(a: Proof, b: Proof): Proof {
  return compareCerts(b.certificate, a.certificate) > 0 ? b : a;
}

/** Every choice of three among three or four senders. */
function* trios<Item>(items: readonly Item[]): Generator<[Item, Item, Item]> {
  for (let i = 0; i < items.length; i++) {
    for (let j = i + 1; j < items.length; j++) {
      for (let k = j + 1; k < items.length; k++) yield [items[i]!, items[j]!, items[k]!];
    }
  }
}
