/** Tells how a state was reached, in words: who did what, and on which reports a NewView stood. */
import type { Report } from "../../src/consensus/safety/base-selection.ts";
import type { Explorer, Move } from "./explorer.ts";
import type { LocalId } from "./local-state.ts";

const NAMES = ["A", "B", "C", "the Byzantine replica"];

/** The steps to a state and what is final there, one line each. */
export function traceTo(explorer: Explorer, position: number): readonly string[] {
  const path = explorer.pathTo(position);
  let state = path[0]!;
  const lines: string[] = [];
  for (const wanted of path.slice(1)) {
    const target = explorer.nameOf(wanted);
    const move = explorer
      .moves(state)
      .find(({ actor, next }) => explorer.nameOf(state.with(actor, next)) === target);
    if (move === undefined) throw new Error("a state has no way to it");
    lines.push(`${lines.length + 1}. ${tellMove(explorer, state, move)}`);
    state = state.with(move.actor, move.next);
  }
  return [...lines, ...tellFinality(explorer, state)];
}

function tellMove(explorer: Explorer, state: readonly LocalId[], move: Move): string {
  const name = NAMES[move.actor]!;
  const where = tellRound(explorer, move.round);
  switch (move.kind) {
    case "votes":
    case "commits":
      return `${name} ${move.kind} ${tellBlock(explorer, move.block)} in ${where}`;
    case "accepts":
      return `${name} accepts a NewView of ${where}: ${tellReports(explorer, state, move)}`;
    case "skips to":
    case "enters the next epoch on":
      return `${name} ${move.kind} ${tellBlock(explorer, move.block)}, which is final`;
    case "leaves":
      return `${name} leaves ${where}`;
    case "leaves with its last vote still queued":
    case "restarts":
    case "loses its disk":
      return `${name} ${move.kind} in ${where}`;
  }
}

function tellReports(explorer: Explorer, state: readonly LocalId[], move: Move): string {
  const reports = explorer.newViews.explain(move.round, state, move.outcome);
  const told = reports.map(({ sender, report }) => {
    return `${NAMES[sender]!}: ${tellReport(explorer, report)}`;
  });
  return `reports {${told.join("; ")}} give base ${tellBlock(explorer, move.block)}`;
}

function tellReport(explorer: Explorer, report: Report): string {
  const name = (block: Report["final"]["block"]): string =>
    tellBlock(explorer, explorer.tree.numberOf(block));
  const { final, certified, votedView, votedChain } = report;
  const parts: string[] = [];
  if (final.block.height > 0) parts.push(`final ${name(final.block)}`);
  if (certified.block.height > 0) {
    parts.push(`certificate ${name(certified.block)} of view ${certified.view}`);
  }
  const tip = votedChain.at(-1);
  parts.push(tip === undefined ? "no vote above" : `voted ${name(tip)} in view ${votedView}`);
  return parts.join(", ");
}

function tellFinality(explorer: Explorer, state: readonly LocalId[]): readonly string[] {
  const lines: string[] = [];
  const locals = state.map((id) => explorer.locals.get(id));
  explorer.locals.rounds.forEach((_, round) => {
    const [a, b, c] = locals.map(({ voted }) => voted[round]!) as [number, number, number];
    const [d, e, f] = locals.map((l) => l.committed[round]!) as [number, number, number];
    const fast = explorer.finality.fast(a, b, c);
    const slow = explorer.finality.slow(d, e, f);
    for (let block = 1; block < explorer.tree.count; block++) {
      const how: string[] = [];
      if (((fast >> block) & 1) === 1)
        how.push(`votes of ${who([a, b, c], block)} and the Byzantine replica`);
      if (((slow >> block) & 1) === 1) {
        const committers = [d, e, f].flatMap((committed, index) =>
          explorer.tree.isBelow(block, committed) ? [NAMES[index]!] : [],
        );
        how.push(`commits of ${committers.join(", ")} and the Byzantine replica`);
      }
      if (how.length === 0) continue;
      const where = tellRound(explorer, round);
      lines.push(
        `=> ${tellBlock(explorer, block)} is final in ${where} by ${how.join(" and by ")}`,
      );
    }
  });
  return lines;
}

function who(voted: readonly number[], block: number): string {
  return voted.flatMap((set, i) => (((set >> block) & 1) === 1 ? [NAMES[i]!] : [])).join(", ");
}

/** A block by its number, with the number of its parent: `3<1`. */
function tellBlock(explorer: Explorer, block: number): string {
  return block === 0 ? "genesis" : `${block}<${explorer.tree.shapes[block]!.parent}`;
}

function tellRound(explorer: Explorer, round: number): string {
  const { epoch, view } = explorer.locals.rounds[round]!;
  const isOnlyEpoch = explorer.locals.rounds.at(-1)!.epoch === 0;
  return isOnlyEpoch ? `view ${view}` : `view ${view} of epoch ${epoch}`;
}
