import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Block } from "../../../src/consensus/block.ts";
import {
  GENESIS_BLOCK,
  LoneReplica,
  blockOn,
  proposeOf,
  transactionOf,
  voteOf,
} from "../../support/lone-replica.ts";

const LEADER = 0;
const EXEC_LAG_MAX = 2;

describe("ordering that waits for execution (PROTOCOL §6.1 a, §8.2)", () => {
  it("a leader is not complained about while the next block needs a result of ours", () => {
    const { replica, blocks } = waitingReplica();
    hearLeader(replica, 5_000, 0);
    assert.deepEqual(replica.sent("complaint"), [], "no leader could propose");
    executeFirst(replica, blocks);
    hearLeader(replica, 200, 1);
    assert.deepEqual(replica.sent("complaint"), []);
    hearLeader(replica, 100, 1);
    assert.equal(replica.sent("complaint")[0]?.reason, "no-progress");
  });

  it("a leader that still executes gets as long again as we needed, and no longer", () => {
    const { replica, blocks } = waitingReplica();
    hearLeader(replica, 1_000, 0);
    executeFirst(replica, blocks);
    hearLeader(replica, 1_200, 0);
    assert.deepEqual(replica.sent("complaint"), []);
    hearLeader(replica, 100, 0);
    assert.equal(replica.sent("complaint")[0]?.reason, "no-progress");
  });

  it("a backlog of execution that ordering need not wait for excuses no leader", () => {
    const replica = new LoneReplica(1, { execLagMax: 64 }).start();
    replica.isExecutionFast = false;
    decide(replica, blockOn(GENESIS_BLOCK, [transactionOf(1)]));
    replica.submit(2);
    hearLeader(replica, 500, 0);
    assert.equal(replica.sent("complaint")[0]?.reason, "no-progress");
  });

  it("a result that only a block ahead of finality could have excuses no leader", () => {
    const replica = new LoneReplica(1).start();
    const block = blockOn(GENESIS_BLOCK, [transactionOf(1)], { execHeight: 0 });
    const next = blockOn(block, [transactionOf(2)], { execHeight: 1 });
    replica.receive(LEADER, proposeOf(LEADER, 0, block));
    replica.receive(LEADER, proposeOf(LEADER, 0, next));
    hearLeader(replica, 500, 0);
    assert.equal(replica.sent("complaint")[0]?.reason, "no-progress");
  });
});

/** Two blocks are final and none is executed: at L = 2 a third one cannot be proposed. */
function waitingReplica(): { readonly replica: LoneReplica; readonly blocks: readonly Block[] } {
  const replica = new LoneReplica(1, { execLagMax: EXEC_LAG_MAX }).start();
  replica.isExecutionFast = false;
  const first = blockOn(GENESIS_BLOCK, [transactionOf(1)]);
  const second = blockOn(first, [transactionOf(2)]);
  for (const block of [first, second]) decide(replica, block);
  assert.equal(replica.replica.status().finalHeight, 2);
  replica.submit(3);
  return { replica, blocks: [first, second] };
}

function decide(replica: LoneReplica, block: Block): void {
  replica.receive(LEADER, proposeOf(LEADER, 0, block));
  for (const voter of [LEADER, 2, 3]) replica.receive(voter, voteOf(voter, 0, block));
}

function executeFirst(replica: LoneReplica, [first]: readonly Block[]): void {
  assert.ok(first !== undefined);
  replica.step({ kind: "executed", height: 1, result: first.hash });
}

/** Time passes while the leader sends its heartbeats, and the others too. */
function hearLeader(replica: LoneReplica, forMs: number, execHeight: number): void {
  const status = { kind: "status", epoch: 0, view: 0, finalHeight: 0 } as const;
  for (const voter of [2, 3]) replica.receive(voter, { ...status, execHeight: 1 });
  for (let passedMs = 0; passedMs < forMs; passedMs += 50) {
    replica.receive(LEADER, { ...status, execHeight });
    replica.pass(50);
  }
}
