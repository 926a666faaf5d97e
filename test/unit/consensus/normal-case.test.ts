import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DEFAULT_TIMING } from "../../../src/consensus/parameters.ts";
import {
  GENESIS_BLOCK,
  LoneReplica,
  blockOn,
  commitOf,
  proposeOf,
  transactionOf,
  voteOf,
} from "../../support/lone-replica.ts";

const LEADER = 0;

describe("the normal case (PROTOCOL §5)", () => {
  it("an idle leader proposes the first transaction at once, and nothing without one", () => {
    const leader = new LoneReplica(LEADER).start();
    leader.pass(5_000);
    assert.deepEqual(leader.sent("propose"), [], "an idle network writes no block");
    const transaction = leader.submit(1);
    const [proposal, ...more] = leader.sent("propose");
    assert.deepEqual(proposal?.body.transactions, [transaction]);
    assert.equal(more.length, 0);
  });

  it("a leader keeps at most a window of blocks in flight and batches what gathers meanwhile", () => {
    const leader = new LoneReplica(LEADER, { window: 2, gatherPerBlock: 0 }).start();
    for (let seed = 0; seed < 10; seed++) leader.submit(seed);
    const proposals = leader.sent("propose");
    assert.equal(proposals.length, 2);
    const [first] = proposals;
    assert.ok(first !== undefined);
    const block = { hash: first.blockHash, header: first.header, body: first.body };
    for (const voter of [1, 2, 3]) leader.receive(voter, voteOf(voter, 0, block));
    const [third] = leader.sent("propose");
    assert.equal(third?.body.transactions.length, 8, "all that waited goes into the next block");
  });

  it("a vote leaves only after its block and its record are durable", () => {
    const voter = new LoneReplica(1).start();
    voter.take();
    voter.isDiskFast = false;
    const block = blockOn(GENESIS_BLOCK, [transactionOf(1)]);
    voter.receive(LEADER, proposeOf(LEADER, 0, block));
    const effects = voter.take();
    assert.deepEqual(
      effects.flatMap((effect) => (effect.kind === "append" ? effect.record.kind : [])),
      ["block", "vote"],
    );
    assert.ok(!effects.some((effect) => effect.kind === "send" && effect.message.kind === "vote"));
    const sync = effects.find((effect) => effect.kind === "sync");
    assert.ok(sync !== undefined);
    voter.step({ kind: "synced", lsn: sync.lsn });
    assert.equal(voter.sent("vote").length, 1);
  });

  it("all n votes make a block final in one phase, without a certificate in the log", () => {
    const voter = new LoneReplica(1).start();
    const block = blockOn(GENESIS_BLOCK, [transactionOf(1)]);
    voter.receive(LEADER, proposeOf(LEADER, 0, block));
    voter.receive(LEADER, voteOf(LEADER, 0, block));
    voter.take();
    voter.receive(2, voteOf(2, 0, block));
    voter.receive(3, voteOf(3, 0, block));
    const final = voter.take().find((effect) => effect.kind === "finalize");
    assert.equal(final?.certificate.kind, "fast");
    assert.equal(voter.replica.status().finalHeight, 1);
  });

  it("2f+1 votes make a Commit, after the certificate is durable; 2f+1 Commits make it final", () => {
    const voter = new LoneReplica(1).start();
    const block = blockOn(GENESIS_BLOCK, [transactionOf(1)]);
    voter.receive(LEADER, proposeOf(LEADER, 0, block));
    voter.isDiskFast = false;
    voter.receive(LEADER, voteOf(LEADER, 0, block));
    voter.take();
    voter.receive(2, voteOf(2, 0, block));
    const effects = voter.take();
    const appended = effects.flatMap((e) => (e.kind === "append" ? [e.record.kind] : []));
    assert.deepEqual(appended, ["certificate"]);
    assert.ok(!effects.some((e) => e.kind === "send" && e.message.kind === "commit"));
    const sync = effects.find((effect) => effect.kind === "sync");
    assert.ok(sync !== undefined);
    voter.step({ kind: "synced", lsn: sync.lsn });
    assert.equal(voter.sent("commit").length, 1);
    voter.receive(LEADER, commitOf(LEADER, 0, block));
    assert.equal(voter.replica.status().finalHeight, 0, "two commits are not enough");
    voter.receive(2, commitOf(2, 0, block));
    const final = voter.take().find((effect) => effect.kind === "finalize");
    assert.equal(final?.certificate.kind, "slow");
  });

  it("Commits on one chain make their lowest block final", () => {
    const voter = new LoneReplica(1).start();
    const one = blockOn(GENESIS_BLOCK, [transactionOf(1)]);
    const two = blockOn(one, [transactionOf(2)]);
    for (const block of [one, two]) voter.receive(LEADER, proposeOf(LEADER, 0, block));
    for (const block of [one, two]) {
      for (const sender of [LEADER, 2]) voter.receive(sender, voteOf(sender, 0, block));
    }
    voter.take();
    voter.receive(LEADER, commitOf(LEADER, 0, one));
    voter.receive(2, commitOf(2, 0, two));
    const final = voter.take().find((effect) => effect.kind === "finalize");
    assert.equal(final?.certificate.height, 1, "no Commit covers more than block 1");
    assert.equal(final.certificate.kind === "slow" && final.certificate.links.length, 1);
  });

  it("with blocks in flight a leader waits until a further one is worth its messages", () => {
    const leader = new LoneReplica(LEADER, { gatherPerBlock: 2 }).start();
    const proposed = (): number[] => leader.sent("propose").map(({ header }) => header.txCount);
    leader.submit(0);
    assert.deepEqual(proposed(), [1], "at once when idle");
    leader.submit(1);
    assert.deepEqual(proposed(), []);
    leader.submit(2);
    assert.deepEqual(proposed(), [2], "two for the one block in flight");
    for (const seed of [3, 4, 5]) leader.submit(seed);
    assert.deepEqual(proposed(), []);
    leader.submit(6);
    assert.deepEqual(proposed(), [4], "four for two");
  });

  it("a full block waits for nothing", () => {
    const options = { gatherPerBlock: 10, blockTransactionsMax: 2 };
    const leader = new LoneReplica(LEADER, options).start();
    for (let seed = 0; seed < 4; seed++) leader.submit(seed);
    const counts = leader.sent("propose").map(({ header }) => header.txCount);
    assert.deepEqual(counts, [1, 2], "the last one waits");
  });

  describe("a leader whose blocks take long to agree on", () => {
    const COMMIT_MS = 20;
    const DISTANCE_MS = 4 * COMMIT_MS;

    /** It has just decided a block of `count` transactions, so long after proposing it. */
    function busyLeader(
      count: number,
      commitMs = COMMIT_MS,
      blockTransactionsMax = 8,
    ): LoneReplica {
      const options = { gatherFrom: 2, gatherPerBlock: 4, blockTransactionsMax };
      const leader = new LoneReplica(LEADER, options).start();
      const transactions = Array.from({ length: count }, (_, seed) => transactionOf(seed));
      leader.step({ kind: "submit", transactions });
      const [proposal] = leader.sent("propose");
      assert.ok(proposal !== undefined);
      leader.pass(commitMs);
      const { blockHash: hash, header, body } = proposal;
      for (const voter of [1, 2, 3]) {
        leader.receive(voter, voteOf(voter, 0, { hash, header, body }));
      }
      return leader;
    }

    const counts = (leader: LoneReplica): number[] =>
      leader.sent("propose").map(({ header }) => header.txCount);

    it("gathers for longer before the next one", () => {
      const leader = busyLeader(2);
      leader.submit(10);
      leader.pass(DISTANCE_MS - COMMIT_MS - 1);
      leader.submit(11);
      assert.deepEqual(counts(leader), []);
      leader.pass(2);
      assert.deepEqual(counts(leader), [2], "both, four times as long after the last");
    });

    it("does so for a wave of transactions after a lone one too", () => {
      const leader = busyLeader(1);
      leader.step({ kind: "submit", transactions: [10, 11, 12].map(transactionOf) });
      assert.deepEqual(counts(leader), []);
      leader.pass(DISTANCE_MS - COMMIT_MS + 1);
      assert.deepEqual(counts(leader), [3]);
    });

    it("does not let one transaction after another wait", () => {
      const leader = busyLeader(1);
      leader.submit(10);
      assert.deepEqual(counts(leader), [1]);
    });

    it("waits no longer once enough have gathered", () => {
      const leader = busyLeader(2);
      leader.step({ kind: "submit", transactions: [10, 11, 12].map(transactionOf) });
      assert.deepEqual(counts(leader), []);
      leader.submit(13);
      assert.deepEqual(counts(leader), [4]);
    });

    it("does not wait when more has gathered than a block can hold", () => {
      const leader = busyLeader(2, COMMIT_MS, 2);
      leader.step({ kind: "submit", transactions: [10, 11].map(transactionOf) });
      assert.deepEqual(counts(leader), []);
      leader.submit(12);
      assert.deepEqual(counts(leader), [2], "fewer than are worth a block otherwise");
    });

    it("has waited enough when the last block is long past", () => {
      const leader = busyLeader(2);
      leader.pass(DISTANCE_MS - COMMIT_MS);
      leader.submit(10);
      assert.deepEqual(counts(leader), [1], "at once");
    });

    it("never waits longer than its limit", () => {
      const commitMs = DEFAULT_TIMING.gatherMaxMs - 20;
      const leader = busyLeader(2, commitMs);
      leader.submit(10);
      assert.deepEqual(counts(leader), []);
      leader.pass(21);
      assert.deepEqual(counts(leader), [1]);
    });
  });

  it("a block that f+1 voters vouch for is fetched from them and voted for", () => {
    const voter = new LoneReplica(1).start();
    const block = blockOn(GENESIS_BLOCK, [transactionOf(1)]);
    voter.receive(2, voteOf(2, 0, block));
    voter.take();
    voter.receive(3, voteOf(3, 0, block));
    const [request] = voter.sent("bodyRequest");
    assert.deepEqual(request?.hashes, [block.hash]);
    assert.equal(voter.receive(2, { kind: "bodyResponse", blocks: [block] }), undefined);
    assert.equal(voter.sent("vote").length, 1);
  });

  it("a proposal from the future is held until it is due, and the leader is not blamed", () => {
    const voter = new LoneReplica(1).start();
    const timestampMs = voter.wallOffsetMs + voter.nowMs + 600;
    const block = blockOn(GENESIS_BLOCK, [transactionOf(1)], { timestampMs });
    voter.receive(LEADER, proposeOf(LEADER, 0, block));
    const early = voter.take();
    const kinds = early.flatMap((effect) => (effect.kind === "send" ? effect.message.kind : []));
    assert.ok(!kinds.includes("vote") && !kinds.includes("complaint"), kinds.join());
    voter.pass(101);
    assert.equal(voter.sent("vote").length, 1);
  });

  it("a leader does not let the chain's time run far ahead of its clock", () => {
    const leader = new LoneReplica(LEADER, { blockTransactionsMax: 1 }).start();
    for (let seed = 0; seed < 600; seed++) leader.submit(seed);
    let proposals = leader.sent("propose");
    let last = proposals.at(-1);
    for (let round = 0; round < 600 && proposals.length > 0; round++) {
      for (const { blockHash: hash, header, body } of proposals) {
        const block = { hash, header, body };
        for (const voter of [1, 2, 3]) leader.receive(voter, voteOf(voter, 0, block));
      }
      last = proposals.at(-1);
      proposals = leader.sent("propose");
    }
    const wallMs = leader.wallOffsetMs + leader.nowMs;
    assert.equal((last?.header.timestampMs ?? 0) - wallMs, 250, "a quarter of a second, no more");
    leader.pass(2);
    assert.equal(leader.sent("propose").length, 2, "a block a millisecond from then on");
  });

  it("execution that lags too far makes ordering wait", () => {
    const leader = new LoneReplica(LEADER, { execLagMax: 2, window: 4, gatherPerBlock: 0 }).start();
    for (let seed = 0; seed < 4; seed++) leader.submit(seed);
    assert.equal(leader.sent("propose").length, 2, "heights 1 and 2 may rest on result 0");
  });
});
