/**
 * When ordering waits for execution (PROTOCOL §6.1 a, §8.2): then nothing becomes final because the
 * machines are busy and not because the leader is faulty, and another leader would not be faster.
 */
import type { Core } from "../core.ts";

const EXECUTION_SAMPLES_MAX = 64;

/** Notes when a wait for our own execution begins and ends. Called after every input. */
export function noteExecutionWait(core: Core): void {
  const { execution, clock } = core;
  if (isWaitingForExecution(core)) {
    execution.isAwaited = true;
  } else if (execution.isAwaited) {
    execution.isAwaited = false;
    execution.awaitedUntilMs = clock.nowMs;
  }
}

/** Measures how long blocks take here. Called when one is executed, before the height moves. */
export function noteExecutionTime({ execution, final, clock }: Core, height: number): void {
  if (height <= execution.height) return;
  if (execution.startedMs !== undefined) {
    execution.durationsMs.push(clock.nowMs - execution.startedMs);
    if (execution.durationsMs.length > EXECUTION_SAMPLES_MAX) execution.durationsMs.shift();
    execution.slowestMs = Math.max(...execution.durationsMs);
  }
  execution.startedMs = final.link.height > height ? clock.nowMs : undefined;
}

/**
 * Whether the next block, proposed already or not, needs a result of ours that is still to come.
 * Only results of final blocks count: our own execution is sure to reach them, whatever the leader
 * does, so a leader gains no more than the time that execution needs anyway.
 */
function isWaitingForExecution(core: Core): boolean {
  const { tip, execution, final } = core;
  const parentExecHeight = core.tree.link(tip)?.header.execHeight ?? 0;
  const proposedExecHeight = core.proposals.get(tip.height + 1)?.header.execHeight ?? 0;
  return [parentExecHeight, proposedExecHeight, lagLimit(core)].some(
    (height) => height > execution.height && height <= final.link.height,
  );
}

/** The result that a block on the tip needs at least. */
function lagLimit({ tip, parameters }: Core): number {
  return tip.height + 1 - parameters.execLagMax;
}

/**
 * What the view timer allows beyond its period while others execute: as long as our own slowest
 * block took, when the leader or too many voters say that they lack a result. Their claim is not
 * proved, so it is worth one block's execution and no more.
 */
export function othersExecutionMs(core: Core, leader: number): number {
  const { tree, tip, final, proposals, peers, execution, quorum } = core;
  const lowestHeight = final.link.height + 1;
  const inFlight = tree.pathTo(tip.hash)?.[0]?.block ?? proposals.get(lowestHeight);
  const needed = Math.max(lagLimit(core), inFlight?.header.execHeight ?? 0);
  const heights = peers.map((peer, index) =>
    index === core.self ? execution.height : peer.execHeight,
  );
  const readyCount = heights.filter((height) => height >= needed).length;
  const isReady = readyCount >= quorum.quorum && (heights[leader] ?? 0) >= needed;
  return isReady ? 0 : Math.min(execution.slowestMs, core.parameters.timing.progressMaxMs);
}
