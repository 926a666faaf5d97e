/** What a replica hands to the leader that it seems not to have (PROTOCOL §6.1). */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Hash } from "../../../src/consensus/block.ts";
import {
  blockOn,
  GENESIS_BLOCK,
  LoneReplica,
  proposeOf,
  voteOf,
} from "../../support/lone-replica.ts";

const LEADER = 0;
const WAIT_MS = 100;

describe("what the leader has not proposed", () => {
  it("is handed to it after a while when it does nothing", () => {
    const replica = new LoneReplica(1).start();
    const ids = [1, 2, 3].map((seed) => replica.submit(seed).id);
    replica.pass(WAIT_MS - 1);
    assert.deepEqual(forwarded(replica), []);
    replica.pass(2);
    assert.deepEqual(forwarded(replica), ids);
    replica.pass(WAIT_MS);
    assert.deepEqual(forwarded(replica), [], "once");
  });

  it("is handed over sparingly while it works in order", () => {
    const replica = new LoneReplica(1).start();
    const carried = replica.submit(0);
    const ids = Array.from({ length: 40 }, (_, seed) => replica.submit(seed + 1).id);
    replica.receive(LEADER, proposeOf(LEADER, 0, blockOn(GENESIS_BLOCK, [carried])));
    replica.pass(WAIT_MS + 1);
    assert.deepEqual(forwarded(replica), ids.slice(0, 8));
    replica.pass(WAIT_MS + 1);
    assert.deepEqual(forwarded(replica), ids.slice(8, 16));
  });

  it("is handed over sparingly while it may be gathering for the next block", () => {
    const replica = new LoneReplica(1).start();
    const carried = replica.submit(0);
    const ids = Array.from({ length: 40 }, (_, seed) => replica.submit(seed + 1).id);
    const block = blockOn(GENESIS_BLOCK, [carried]);
    replica.receive(LEADER, proposeOf(LEADER, 0, block));
    for (const voter of [0, 2, 3]) replica.receive(voter, voteOf(voter, 0, block));
    replica.pass(WAIT_MS + 1);
    assert.deepEqual(forwarded(replica), ids.slice(0, 8));
    replica.pass(WAIT_MS + 1);
    assert.deepEqual(forwarded(replica), ids.slice(8), "too long for that");
  });

  it("is handed over at once when it was passed over", () => {
    const replica = new LoneReplica(1).start();
    const ids = Array.from({ length: 40 }, (_, seed) => replica.submit(seed + 1).id);
    replica.pass(WAIT_MS - 1);
    assert.deepEqual(forwarded(replica), []);
    replica.nowMs += 1;
    const younger = replica.submit(0);
    replica.receive(LEADER, proposeOf(LEADER, 0, blockOn(GENESIS_BLOCK, [younger])));
    replica.pass(WAIT_MS);
    assert.deepEqual(forwarded(replica), ids);
  });
});

function forwarded(replica: LoneReplica): Hash[] {
  return replica.sent("forward").map(({ transaction }) => transaction.id);
}
