/**
 * What the production `choose` answers to three reports, asked once per triple; and the union of its
 * answers to three sets of reports, worked out once per triple of sets.
 */
import { selectBase, type Report } from "../../src/consensus/safety/base-selection.ts";
import { mustVoteBase } from "../../src/consensus/safety/safety-rules.ts";
import type { BlockTree } from "./block-tree.ts";
import type { BlockNumber } from "./bound.ts";
import { QUORUM } from "./finality.ts";

/** Bits of a set of outcomes: base * 2 + (base is voted), then this: no base was found. */
export const HALT_BIT = 1 << 16;

/** Three of these make one key below 2^48. */
const IDS_MAX = 2 ** 16;

export type ReportId = number;
export type ReportSetId = number;

export type ReportFields = {
  readonly finalView: number;
  readonly final: BlockNumber;
  readonly certifiedView: number;
  readonly certified: BlockNumber;
  readonly votedView: number;
  readonly votedTip: BlockNumber;
};

export class ChoiceTable {
  readonly #tree: BlockTree;
  readonly #reports: Report[] = [];
  readonly #reportIds = new Map<string, ReportId>();
  readonly #sets: (readonly ReportId[])[] = [];
  readonly #setIds = new Map<string, ReportSetId>();
  readonly #choices = new Map<number, number>();
  readonly #outcomes = new Map<number, number>();

  constructor(tree: BlockTree) {
    this.#tree = tree;
  }

  get choiceCount(): number {
    return this.#choices.size;
  }

  reportId(fields: ReportFields): ReportId {
    const { finalView, final, certifiedView, certified, votedView, votedTip } = fields;
    const key = [finalView, final, certifiedView, certified, votedView, votedTip].join();
    const known = this.#reportIds.get(key);
    if (known !== undefined) return known;
    const id = newId(this.#reports.length);
    this.#reports.push({
      final: { view: finalView, block: this.#tree.refs[final]! },
      certified: { view: certifiedView, block: this.#tree.refs[certified]! },
      certifiedChain: this.#tree.path(final, certified),
      votedView,
      votedChain: this.#tree.path(final, votedTip),
    });
    this.#reportIds.set(key, id);
    return id;
  }

  setId(reports: readonly ReportId[]): ReportSetId {
    const sorted = reports.toSorted((x, y) => x - y);
    const key = sorted.join();
    const known = this.#setIds.get(key);
    if (known !== undefined) return known;
    const id = newId(this.#sets.length);
    this.#sets.push(sorted);
    this.#setIds.set(key, id);
    return id;
  }

  /** Every outcome of one report from each set. */
  outcomes(a: ReportSetId, b: ReportSetId, c: ReportSetId): number {
    const key = tripleKey(a, b, c);
    const known = this.#outcomes.get(key);
    if (known !== undefined) return known;
    let outcomes = 0;
    for (const x of this.#sets[a]!) {
      for (const y of this.#sets[b]!) {
        for (const z of this.#sets[c]!) outcomes |= this.#choose(x, y, z);
      }
    }
    this.#outcomes.set(key, outcomes);
    return outcomes;
  }

  /** One report from each set, in this order, that together have one of the wanted outcomes. */
  find(
    a: ReportSetId,
    b: ReportSetId,
    c: ReportSetId,
    wanted: number,
  ): readonly Report[] | undefined {
    for (const x of this.#sets[a]!) {
      for (const y of this.#sets[b]!) {
        for (const z of this.#sets[c]!) {
          if ((this.#choose(x, y, z) & wanted) === 0) continue;
          return [x, y, z].map((id) => this.#reports[id]!);
        }
      }
    }
    return undefined;
  }

  #choose(x: ReportId, y: ReportId, z: ReportId): number {
    const key = tripleKey(x, y, z);
    const known = this.#choices.get(key);
    if (known !== undefined) return known;
    const reports = [this.#reports[x]!, this.#reports[y]!, this.#reports[z]!];
    const choice = selectBase(reports, QUORUM.weak);
    let outcome = HALT_BIT;
    if (choice !== undefined) {
      const isVoted = mustVoteBase(choice.base, choice.final);
      outcome = 1 << (this.#tree.numberOf(choice.base) * 2 + (isVoted ? 1 : 0));
    }
    this.#choices.set(key, outcome);
    return outcome;
  }
}

/** The order of reports does not matter to `choose`; its unit tests say so. */
function tripleKey(a: number, b: number, c: number): number {
  const low = Math.min(a, b, c);
  const high = Math.max(a, b, c);
  return (low * IDS_MAX + (a + b + c - low - high)) * IDS_MAX + high;
}

function newId(id: number): number {
  if (id >= IDS_MAX) throw new Error("too many reports: the bound is too large");
  return id;
}
