/**
 * The base block of a new view, from what 2f+1 replicas report (PROTOCOL §6.3).
 *
 * One pure function on which safety rests: whatever was final in a lower view is an ancestor of
 * what it returns, for every choice of 2f+1 reports of which at most f are false. Every replica
 * computes it itself, so the new leader need not be correct. `test/model` explores it exhaustively.
 */
import { invariant } from "../../base/invariant.ts";
import type { BlockRef, Hash } from "../block.ts";

/** What one ViewChange says, reduced to what the choice depends on. */
export type Report = {
  /** The block of the sender's finality certificate and the view it was certified in. */
  readonly final: CertifiedBlock;
  /** The sender's highest certificate; may be the final one. */
  readonly certified: CertifiedBlock;
  /** The blocks above `final` up to and including `certified.block`, lowest first. */
  readonly certifiedChain: readonly BlockRef[];
  /** The last view the sender voted in, or -1. */
  readonly votedView: number;
  /** The blocks above `final` up to the last one voted in `votedView`, lowest first. */
  readonly votedChain: readonly BlockRef[];
};

/** View -1 stands for genesis and for the boundary of an earlier epoch. */
export type CertifiedBlock = { readonly view: number; readonly block: BlockRef };

export type BaseSelection = {
  readonly base: BlockRef;
  /** The highest final block among the reports. Everyone syncs up to it before anything else. */
  readonly final: BlockRef;
  /** The blocks above `final` up to and including `base`, lowest first. */
  readonly path: readonly BlockRef[];
};

/**
 * `weak` is f+1; `reports` are those of 2f+1 distinct senders. Undefined means that the highest
 * certificate conflicts with a final block, which takes more than f Byzantine replicas: the caller
 * halts.
 */
export function selectBase(reports: readonly Report[], weak: number): BaseSelection | undefined {
  const final = highestFinal(reports);
  const certified = highestCertificate(reports);
  const certifiedPath = pathAbove(final, certified.report.final.block, certified.chain);
  if (certifiedPath === undefined) return undefined;

  const eligible: (readonly BlockRef[])[] = [];
  for (const report of reports) {
    const chain = pathAbove(final, report.final.block, report.votedChain);
    if (chain !== undefined && isEligible(report, chain, certified.point, certifiedPath)) {
      eligible.push(chain);
    }
  }
  const supported = highestSupported(eligible, weak);
  if (supported === undefined || contains(certifiedPath, supported.tip)) {
    return { base: certifiedPath.at(-1) ?? final, final, path: certifiedPath };
  }
  return { base: supported.tip, final, path: supported.path };
}

/**
 * Votes count only if they are younger than the highest certificate, or of its view and on its
 * chain: older votes were overruled, and votes must never beat a certificate of their own view.
 */
export function isEligible(
  report: Report,
  chain: readonly BlockRef[],
  certified: CertifiedBlock,
  certifiedPath: readonly BlockRef[],
): boolean {
  if (report.votedView > certified.view) return true;
  const isBelowEveryChain = certifiedPath.length === 0;
  return (
    report.votedView === certified.view && (isBelowEveryChain || contains(chain, certified.block))
  );
}

function highestFinal(reports: readonly Report[]): BlockRef {
  let highest: BlockRef | undefined;
  for (const { final } of reports) {
    if (highest === undefined || final.block.height > highest.height) highest = final.block;
  }
  invariant(highest !== undefined, "a choice needs reports");
  return highest;
}

function highestCertificate(reports: readonly Report[]): {
  readonly point: CertifiedBlock;
  readonly report: Report;
  readonly chain: readonly BlockRef[];
} {
  let best: { point: CertifiedBlock; report: Report; chain: readonly BlockRef[] } | undefined;
  for (const report of reports) {
    for (const [point, chain] of [
      [report.final, []],
      [report.certified, report.certifiedChain],
    ] as const) {
      if (best === undefined || ranksHigher(point, best.point)) best = { point, report, chain };
    }
  }
  invariant(best !== undefined, "a choice needs reports");
  return best;
}

function ranksHigher(a: CertifiedBlock, b: CertifiedBlock): boolean {
  return a.view !== b.view ? a.view > b.view : a.block.height > b.block.height;
}

/**
 * The part of a chain above `final`, or undefined when the chain does not reach `final` or passes it
 * by: such a report supports nothing. `start` is the block the chain stands on.
 */
function pathAbove(
  final: BlockRef,
  start: BlockRef,
  chain: readonly BlockRef[],
): readonly BlockRef[] | undefined {
  if (start.height === final.height) return start.hash === final.hash ? chain : undefined;
  const index = chain.findIndex(({ height }) => height === final.height);
  if (index === -1 || chain[index]?.hash !== final.hash) return undefined;
  return chain.slice(index + 1);
}

/** The highest block that is on at least `weak` chains, with the path to it. */
function highestSupported(
  chains: readonly (readonly BlockRef[])[],
  weak: number,
): { readonly tip: BlockRef; readonly path: readonly BlockRef[] } | undefined {
  const support = new Map<Hash, number>();
  let best: { tip: BlockRef; path: readonly BlockRef[] } | undefined;
  for (const chain of chains) {
    chain.forEach((block, index) => {
      const count = (support.get(block.hash) ?? 0) + 1;
      support.set(block.hash, count);
      if (count >= weak && (best === undefined || block.height > best.tip.height)) {
        best = { tip: block, path: chain.slice(0, index + 1) };
      }
    });
  }
  return best;
}

function contains(chain: readonly BlockRef[], block: BlockRef): boolean {
  return chain.some(({ hash }) => hash === block.hash);
}
