import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stallProblemOf } from "../../../src/node/client-status.ts";
import type { ClientStatus } from "../../../src/client/client-node.ts";
import { PoolProgress } from "../../../src/client/transactions/pool-progress.ts";

function statusOf(stalledMs: number, executable: number, isFull: boolean): ClientStatus {
  const pool = { executable, queued: 9, bytes: 0, senders: 1, isFull };
  return {
    ...{ isReady: true, finalHeight: 1, publishedHeight: 1, blockNumber: 1n, lag: 0 },
    ...{ replicas: [], upCount: 4, quorum: 3, pool, openTransactions: executable + 9, stalledMs },
    ...{ isDiskFull: false, journalFailure: undefined, failure: undefined },
  };
}

describe("progress of the mempool", () => {
  it("is missed from when the first executable transaction waits until a block comes", () => {
    const progress = new PoolProgress();
    progress.note(0, 5, 0);
    assert.equal(progress.stalledMs(60_000), 0, "an idle network is not stalled");
    progress.note(60_000, 5, 3);
    progress.note(70_000, 5, 4);
    assert.equal(progress.stalledMs(72_000), 12_000);
    progress.note(73_000, 6, 4);
    assert.equal(progress.stalledMs(74_000), 1_000);
    progress.note(75_000, 7, 0);
    assert.equal(progress.stalledMs(200_000), 0);
  });

  it("is a problem that the status names, and a full mempool with it", () => {
    assert.equal(stallProblemOf(statusOf(9_000, 3, false)), undefined);
    assert.equal(
      stallProblemOf(statusOf(12_300, 3, false)),
      "no progress: 3 executable transactions wait and nothing became final for 12 s; " +
        "read the replicas' logs",
    );
    assert.equal(
      stallProblemOf(statusOf(12_300, 65_536, true)),
      "no progress: the mempool is full (65536 executable transactions) " +
        "and nothing became final for 12 s; read the replicas' logs",
    );
  });
});
