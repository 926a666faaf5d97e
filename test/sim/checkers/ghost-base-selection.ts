/**
 * S9: whatever 2f+1 of the view changes ever sent a new leader could pick, and whatever a Byzantine
 * replica could have reported instead, the choice keeps every block that was final in a lower view.
 * This finds a broken rule long before the messages happen to arrive in the order that forks the
 * chain.
 */
import type { BlockRef, Hash } from "../../../src/consensus/block.ts";
import { selectBase, type Report } from "../../../src/consensus/safety/base-selection.ts";
import type { ViewChange } from "../../../src/consensus/message.ts";
import type { Quorum } from "../../../src/consensus/quorum.ts";
import type { BlockRegistry } from "./block-registry.ts";
import type { FinalityLedger, FinalPoint } from "./finality-ledger.ts";
import { describeMessage } from "../trace.ts";
import { Violation } from "./violation.ts";

type Variant = { readonly report: Report; readonly label: string };
type Target = {
  readonly epoch: number;
  readonly view: number;
  /** By sender: the different things it said, newest last. */
  readonly variants: Map<number, Variant[]>;
  readonly bases: Map<Hash, { readonly base: BlockRef; readonly from: string }>;
};

const FORKS_MAX = 2;

export class GhostChoose {
  readonly #quorum: Quorum;
  readonly #byzantine: ReadonlySet<number>;
  readonly #registry: BlockRegistry;
  readonly #ledger: () => FinalityLedger;
  readonly #reportOf: (message: ViewChange) => Report | undefined;
  readonly #variantsMax: number;
  readonly #targets = new Map<string, Target>();
  readonly #seen = new Set<string>();
  /** How many subsets were tried. */
  choices = 0;

  constructor(
    options: { readonly quorum: Quorum; readonly byzantine: ReadonlySet<number> },
    dependencies: {
      readonly registry: BlockRegistry;
      readonly ledger: () => FinalityLedger;
      /** The report of a valid message, as the replicas work it out. */
      readonly reportOf: (message: ViewChange) => Report | undefined;
    },
  ) {
    this.#quorum = options.quorum;
    this.#byzantine = options.byzantine;
    this.#registry = dependencies.registry;
    this.#ledger = dependencies.ledger;
    this.#reportOf = dependencies.reportOf;
    this.#variantsMax = options.quorum.replicaCount > 4 ? 2 : 4;
  }

  onViewChange(message: ViewChange): void {
    const signature = message.signature.subarray(0, 16).join(".");
    if (this.#seen.has(signature)) return;
    this.#seen.add(signature);
    const report = this.#reportOf(message);
    if (report === undefined) {
      if (this.#byzantine.has(message.sender)) return;
      throw new Violation("S9", `sent an invalid view change: ${describeMessage(message)}`);
    }
    for (const header of message.headersVoted) this.#registry.addHeader(header);
    for (const header of message.headersCert) this.#registry.addHeader(header);
    const target = this.#target(message.epoch, message.newView);
    const variant = { report, label: `${message.sender}` };
    this.#remember(target, message.sender, variant);
    this.#tryAll(target, message.sender, variant);
  }

  /** A block became final: every choice that was possible before must already keep it. */
  onFinal(point: FinalPoint): void {
    for (const target of this.#targets.values()) {
      if (target.epoch !== point.epoch || target.view <= point.view) continue;
      for (const { base, from } of target.bases.values()) this.#check(target, base, from, point);
    }
  }

  #target(epoch: number, view: number): Target {
    const key = `${epoch}/${view}`;
    let target = this.#targets.get(key);
    if (target === undefined) {
      target = { epoch, view, variants: new Map(), bases: new Map() };
      this.#targets.set(key, target);
    }
    return target;
  }

  #remember(target: Target, sender: number, variant: Variant): void {
    const variants = target.variants.get(sender) ?? [];
    variants.push(variant);
    if (variants.length > this.#variantsMax) variants.shift();
    target.variants.set(sender, variants);
  }

  /** Every quorum that contains the new message, one variant per further sender. */
  #tryAll(target: Target, sender: number, variant: Variant): void {
    const others: (readonly Variant[])[] = [];
    for (let other = 0; other < this.#quorum.replicaCount; other++) {
      if (other === sender) continue;
      const said = target.variants.get(other) ?? [];
      const inventions = this.#byzantine.has(other) ? this.#inventions(target, other) : [];
      if (said.length + inventions.length > 0) others.push([...said, ...inventions]);
    }
    const chosen: Variant[] = [variant];
    const extend = (from: number): void => {
      if (chosen.length === this.#quorum.quorum) {
        this.#tryOne(target, chosen);
        return;
      }
      for (let index = from; index < others.length; index++) {
        for (const option of others[index]!) {
          chosen.push(option);
          extend(index + 1);
          chosen.pop();
        }
      }
    };
    extend(0);
  }

  #tryOne(target: Target, variants: readonly Variant[]): void {
    this.choices++;
    const from = variants.map(({ label }) => label).join(",");
    const choice = selectBase(
      variants.map(({ report }) => report),
      this.#quorum.weak,
    );
    if (choice === undefined) {
      throw new Violation("S9", `no choice for view ${target.view} from reports of ${from}`);
    }
    if (target.bases.has(choice.base.hash)) return;
    target.bases.set(choice.base.hash, { base: choice.base, from });
    for (const point of this.#ledger().points()) this.#check(target, choice.base, from, point);
  }

  #check(target: Target, base: BlockRef, from: string, point: FinalPoint): void {
    if (point.epoch !== target.epoch || point.view >= target.view) return;
    if (this.#registry.isAncestor(point.block, base.hash)) return;
    throw new Violation(
      "S9",
      `reports of ${from} for view ${target.epoch}/${target.view} choose height ${base.height} ` +
        `${base.hash.slice(0, 12)}, which drops height ${point.block.height} ` +
        `${point.block.hash.slice(0, 12)}, final (${point.path}) in view ${point.view}`,
    );
  }

  /**
   * What a Byzantine replica could report without owning a certificate: nothing, or votes for any
   * fork.
   */
  #inventions(target: Target, byzantine: number): readonly Variant[] {
    const genesis = this.#genesisReport(target);
    if (genesis === undefined) return [];
    const inventions: Variant[] = [{ report: genesis, label: `${byzantine}(empty)` }];
    const ledger = this.#ledger();
    const finalHash = ledger.finalHash(ledger.finalHeight());
    if (finalHash === undefined) return inventions;
    const { height: bottom } = genesis.final.block;
    for (const fork of this.#registry.forksAbove(bottom, finalHash, FORKS_MAX)) {
      const chain = this.#chainAbove(genesis.final.block, fork);
      if (chain === undefined || chain.length > 16) continue;
      const report = { ...genesis, votedView: target.view - 1, votedChain: chain };
      inventions.push({ report, label: `${byzantine}(fork)` });
    }
    return inventions;
  }

  /** The emptiest report on the highest final block that some report of the target stands on. */
  #genesisReport(target: Target): Report | undefined {
    let lowest: Report | undefined;
    for (const variants of target.variants.values()) {
      for (const { report } of variants) {
        if (lowest === undefined || report.final.block.height < lowest.final.block.height) {
          lowest = report;
        }
      }
    }
    if (lowest === undefined) return undefined;
    const { final } = lowest;
    return { final, certified: final, certifiedChain: [], votedView: -1, votedChain: [] };
  }

  #chainAbove(final: BlockRef, tip: Hash): readonly BlockRef[] | undefined {
    const chain: BlockRef[] = [];
    let hash = tip;
    for (;;) {
      const header = this.#registry.header(hash);
      if (header === undefined || header.height < final.height) return undefined;
      if (header.height === final.height) return hash === final.hash ? chain.reverse() : undefined;
      chain.push({ height: header.height, hash });
      hash = header.parent;
    }
  }
}
