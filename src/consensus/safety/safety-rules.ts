/**
 * The rules that keep a replica's signatures consistent (PROTOCOL §5), as predicates over the least
 * state they need. The replica and the model checker call the same functions.
 */
import type { BlockRef, Hash } from "../block.ts";
import type { Quorum } from "../quorum.ts";

/** Where a replica stands in its current view. */
export type VotingState = {
  readonly view: number;
  /** Whether the NewView of `view` was accepted (view 0 of an epoch needs none). */
  readonly isAccepted: boolean;
  /** The last block voted in this view, or its base, or a final block that was skipped to. */
  readonly tip: BlockRef;
};

/** §5.1: one block per height, and the votes of one view form one chain. */
export function mayVote(
  state: VotingState,
  proposal: { readonly view: number; readonly height: number; readonly parent: Hash },
): boolean {
  return (
    state.isAccepted &&
    proposal.view === state.view &&
    proposal.parent === state.tip.hash &&
    proposal.height === state.tip.height + 1
  );
}

/** §5.2: the base is voted again unless it is final by the reports themselves. */
export function mustVoteBase(base: BlockRef, finalOfReports: BlockRef): boolean {
  return base.hash !== finalOfReports.hash;
}

/** §5.3: a certificate of the view that the replica is still in; accepted or not. */
export function mayCommit(view: number, certificate: { readonly view: number }): boolean {
  return certificate.view === view;
}

/** §5.4: a replica that restarts in a view it voted in stays with what it voted. */
export function isAcceptedAfterRestart(view: number, votedView: number): boolean {
  return view === 0 || votedView === view;
}

/**
 * §5.5: catching up moves the tip to a final descendant; a replica whose tip conflicts with what
 * became final casts no further vote in the view. `isAncestor(a, b)` includes a = b.
 */
export function tipAfterFinal(
  tip: BlockRef,
  final: BlockRef,
  isAncestor: (a: BlockRef, b: BlockRef) => boolean,
): BlockRef | "conflict" {
  if (isAncestor(tip, final)) return final;
  return isAncestor(final, tip) ? tip : "conflict";
}

export function isQuorum(count: number, quorum: Quorum): boolean {
  return count >= quorum.quorum;
}

export function isFast(count: number, quorum: Quorum): boolean {
  return count >= quorum.replicaCount;
}

/**
 * §5.6: the highest block for which 2f+1 senders committed it or a descendant, among the committed
 * blocks themselves. `isAncestor(a, b)` includes a = b.
 */
export function slowFinal(
  commits: readonly { readonly sender: number; readonly block: BlockRef }[],
  quorum: Quorum,
  isAncestor: (a: BlockRef, b: BlockRef) => boolean,
): BlockRef | undefined {
  let best: BlockRef | undefined;
  for (const { block: candidate } of commits) {
    if (best !== undefined && candidate.height <= best.height) continue;
    const supporters = new Set<number>();
    for (const { sender, block } of commits) {
      if (isAncestor(candidate, block)) supporters.add(sender);
    }
    if (isQuorum(supporters.size, quorum)) best = candidate;
  }
  return best;
}
