import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Block, Hash } from "../../../src/consensus/block.ts";
import type { ExecVote } from "../../../src/consensus/message.ts";
import {
  GENESIS_BLOCK,
  LoneReplica,
  NO_SIGNATURE,
  blockOn,
  hashOf,
  proposeOf,
  transactionOf,
  voteOf,
} from "../../support/lone-replica.ts";

describe("execution agreement (PROTOCOL §8)", () => {
  it("signs its own result of every final block", () => {
    const replica = new LoneReplica(1).start();
    const block = finalize(replica, 1);
    const [vote] = replica.sent("execVote");
    assert.equal(vote?.height, 1);
    assert.equal(vote.blockHash, block.hash);
    assert.equal(vote.result, block.hash, "the harness's result of a block is its hash");
  });

  it("stops when f+1 others agree on another result, and does not before", () => {
    const replica = new LoneReplica(1).start();
    const block = finalize(replica, 1);
    replica.receive(2, execVoteOf(2, block, hashOf(1)));
    replica.receive(3, execVoteOf(3, block, hashOf(2)));
    assert.equal(
      replica.replica.status().mode,
      "active",
      "two Byzantine replicas with different results",
    );
    replica.receive(0, execVoteOf(0, block, hashOf(1)));
    assert.equal(replica.replica.status().mode, "diverged");
    replica.take();
    const next = blockOn(block, [transactionOf(2)]);
    replica.receive(0, proposeOf(0, 0, next));
    assert.deepEqual(replica.sent("vote"), [], "a diverged replica votes no more");
  });

  it("a replica that diverged while it waited for a last vote waits for nothing any more", () => {
    const replica = new LoneReplica(1).start();
    let block = finalize(replica, 1);
    // So many decisions in one phase that the last vote is worth waiting for.
    for (let seed = 2; seed <= 20; seed++) block = finalize(replica, seed, block);
    const next = blockOn(block, [transactionOf(21)]);
    replica.receive(0, proposeOf(0, 0, next));
    for (const voter of [0, 2]) replica.receive(voter, voteOf(voter, 0, next));
    const dueMs = replica.replica.wakeAtMs() ?? Infinity;
    assert.ok(dueMs < replica.nowMs + 1, "it waits a moment before it commits");
    for (const sender of [0, 2]) replica.receive(sender, execVoteOf(sender, block, hashOf(1)));
    assert.equal(replica.replica.status().mode, "diverged");
    replica.nowMs = dueMs + 0.001;
    replica.step({ kind: "tick" });
    assert.ok((replica.replica.wakeAtMs() ?? Infinity) > replica.nowMs, "not at once again");
  });

  it("a diverged leader gives its view up", () => {
    const leader = new LoneReplica(0).start();
    leader.submit(1);
    const [proposal] = leader.sent("propose");
    assert.ok(proposal !== undefined);
    const block = { hash: proposal.blockHash, header: proposal.header, body: proposal.body };
    for (const voter of [1, 2, 3]) leader.receive(voter, voteOf(voter, 0, block));
    leader.take();
    for (const sender of [1, 2]) leader.receive(sender, execVoteOf(sender, block, hashOf(1)));
    assert.ok(leader.sent("abdicate").length > 0);
    assert.equal(leader.replica.status().mode, "diverged");
  });

  it("2f+1 equal results make a checkpoint at every interval", () => {
    const replica = new LoneReplica(1, { checkpointInterval: 2 }).start();
    const one = finalize(replica, 1);
    for (const sender of [0, 2, 3]) replica.receive(sender, execVoteOf(sender, one, one.hash));
    assert.ok(!replica.take().some(({ kind }) => kind === "checkpoint"), "not at height 1");
    const two = finalize(replica, 2, one);
    for (const sender of [0, 2, 3]) replica.receive(sender, execVoteOf(sender, two, two.hash));
    const checkpoints = replica.take().filter(({ kind }) => kind === "checkpoint");
    assert.equal(checkpoints.length, 1, "once, however many more votes come");
  });
});

function finalize(
  replica: LoneReplica,
  seed: number,
  parent: Parameters<typeof blockOn>[0] = GENESIS_BLOCK,
): Block {
  const block = blockOn(parent, [transactionOf(seed)]);
  replica.receive(0, proposeOf(0, 0, block));
  for (const voter of [0, 2, 3]) replica.receive(voter, voteOf(voter, 0, block));
  assert.equal(replica.replica.status().finalHeight, block.header.height);
  return block;
}

function execVoteOf(sender: number, block: Block, result: Hash): ExecVote {
  const { height } = block.header;
  const common = { epoch: 0, sender, signature: NO_SIGNATURE, height, blockHash: block.hash };
  return { kind: "execVote", ...common, result };
}
