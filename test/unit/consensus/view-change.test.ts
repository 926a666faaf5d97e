import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { genesisCert } from "../../../src/consensus/certificate.ts";
import type { Complaint, NewView, ViewChange } from "../../../src/consensus/message.ts";
import {
  GENESIS_BLOCK,
  GENESIS_HASH,
  LoneReplica,
  NO_SIGNATURE,
  blockOn,
  proposeOf,
  transactionOf,
  voteOf,
} from "../../support/lone-replica.ts";

const LEADER = 0;

describe("leaving a view (PROTOCOL §6)", () => {
  it("one complaint ends no view; f+1 move every replica", () => {
    const replica = new LoneReplica(1).start();
    replica.receive(2, complaintOf(2, 0));
    assert.equal(replica.replica.status().view, 0);
    replica.receive(3, complaintOf(3, 0));
    assert.equal(replica.replica.status().view, 1);
  });

  it("a complaint that is not renewed does not add up with one of half a second later", () => {
    const replica = new LoneReplica(1).start();
    replica.receive(2, complaintOf(2, 0));
    replica.pass(501);
    replica.step({ kind: "link", peer: LEADER, isUp: false });
    replica.pass(51);
    assert.equal(replica.sent("complaint").length, 1);
    assert.equal(replica.replica.status().view, 0, "two unrelated suspicions are not f+1");
  });

  it("a complaint that is renewed stands, although one renewal is lost", () => {
    const replica = new LoneReplica(1).start();
    replica.receive(2, complaintOf(2, 0));
    replica.pass(200);
    replica.receive(2, complaintOf(2, 0));
    replica.pass(450);
    replica.receive(3, complaintOf(3, 0));
    assert.equal(replica.replica.status().view, 1);
  });

  it("a replica renews its complaint while the cause lasts, then withdraws it", () => {
    const replica = new LoneReplica(1).start();
    replica.step({ kind: "link", peer: LEADER, isUp: false });
    replica.pass(51);
    replica.pass(1_000);
    const reasons = replica.sent("complaint").map(({ reason }) => reason);
    assert.deepEqual(
      reasons,
      Array.from({ length: 6 }, () => "leader-disconnected"),
    );
    replica.step({ kind: "link", peer: LEADER, isUp: true });
    assert.deepEqual(
      replica.sent("complaint").map(({ reason }) => reason),
      ["leader-disconnected", "withdrawn"],
    );
    replica.pass(1_000);
    assert.equal(replica.sent("complaint").length, 0);
  });

  it("a withdrawn complaint does not count, and only its sender can withdraw it", () => {
    const replica = new LoneReplica(1).start();
    const withdrawal: Complaint = { ...complaintOf(2, 0), reason: "withdrawn" };
    replica.receive(2, complaintOf(2, 0));
    replica.receive(2, withdrawal);
    replica.receive(3, complaintOf(3, 0));
    assert.equal(replica.replica.status().view, 0);
    replica.receive(2, complaintOf(2, 0));
    assert.equal(replica.replica.status().view, 1);

    const other = new LoneReplica(1).start();
    other.receive(2, complaintOf(2, 0));
    // The leader repeats a withdrawal that replica 2 once signed.
    other.receive(LEADER, withdrawal);
    other.receive(3, complaintOf(3, 0));
    assert.equal(other.replica.status().view, 1);
  });

  it("a view whose NewView came late is not complained about any longer", () => {
    const replica = new LoneReplica(2).start();
    for (const sender of [0, 1, 3]) replica.receive(sender, viewChangeOf(sender, 1));
    replica.pass(2_000);
    assert.equal(replica.sent("complaint")[0]?.reason, "new-view-timeout");
    const reports = [0, 1, 3].map((sender) => viewChangeOf(sender, 1));
    assert.equal(replica.receive(1, newViewOf(1, 1, reports)), undefined);
    assert.deepEqual(
      replica.sent("complaint").map(({ reason }) => reason),
      ["withdrawn"],
    );
    replica.pass(1_000);
    assert.equal(replica.sent("complaint").length, 0);
  });

  it("a closed connection to the leader is complained about after the grace, and not when back", () => {
    const replica = new LoneReplica(1).start();
    replica.step({ kind: "link", peer: LEADER, isUp: false });
    replica.pass(49);
    assert.equal(replica.sent("complaint").length, 0);
    replica.step({ kind: "link", peer: LEADER, isUp: true });
    replica.pass(500);
    assert.equal(replica.sent("complaint").length, 0);
    replica.step({ kind: "link", peer: LEADER, isUp: false });
    replica.pass(51);
    assert.equal(replica.sent("complaint")[0]?.reason, "leader-disconnected");
  });

  it("a silent leader is complained about once there is work, never while idle", () => {
    const replica = new LoneReplica(1).start();
    replica.pass(60_000);
    assert.equal(replica.sent("complaint").length, 0, "silence of an idle network is no fault");
    replica.submit(1);
    replica.pass(360);
    assert.equal(replica.sent("complaint")[0]?.reason, "silent-leader");
  });

  it("a leader may be silent for longer where commits usually take long", () => {
    const replica = new LoneReplica(1).start();
    let parent: Parameters<typeof blockOn>[0] = GENESIS_BLOCK;
    for (let round = 0; round < 8; round++) {
      const block = blockOn(parent, [transactionOf(100 + round)]);
      replica.receive(LEADER, proposeOf(LEADER, 0, block));
      replica.pass(100);
      for (const voter of [LEADER, 2, 3]) replica.receive(voter, voteOf(voter, 0, block));
      parent = block;
    }
    replica.take();
    replica.submit(1);
    replica.pass(850);
    assert.equal(replica.sent("complaint").length, 0, "eight commits last 800 ms");
    replica.pass(100);
    assert.ok(replica.sent("complaint").length > 0);
  });

  it("a leader that equivocates is left at once, with the proof", () => {
    const replica = new LoneReplica(1).start();
    const [one, two] = [1, 2].map((seed) => blockOn(GENESIS_BLOCK, [transactionOf(seed)]));
    assert.ok(one !== undefined && two !== undefined);
    replica.receive(LEADER, proposeOf(LEADER, 0, one));
    replica.take();
    replica.receive(LEADER, proposeOf(LEADER, 0, two));
    assert.equal(replica.replica.status().view, 1);
    assert.ok(replica.sent("evidence").length > 0);
  });

  it("a view change reports what was voted, even a vote that never left", () => {
    const replica = new LoneReplica(1).start();
    const block = blockOn(GENESIS_BLOCK, [transactionOf(1)]);
    replica.isDiskFast = false;
    replica.receive(LEADER, proposeOf(LEADER, 0, block));
    replica.receive(2, complaintOf(2, 0));
    replica.receive(3, complaintOf(3, 0));
    const syncs = replica.take().flatMap((e) => (e.kind === "sync" ? [e.lsn] : []));
    replica.step({ kind: "synced", lsn: Math.max(...syncs) });
    const effects = replica.take();
    const sent = effects.flatMap((effect) => (effect.kind === "send" ? [effect.message] : []));
    assert.ok(!sent.some(({ kind }) => kind === "vote"), "the promise covers the queued vote");
    const change = sent.find((message) => message.kind === "viewChange");
    assert.equal(change?.votedView, 0);
    assert.deepEqual(change.headersVoted, [block.header]);
  });

  it("f+1 view changes carry a replica along, to the view that one correct replica reached", () => {
    const replica = new LoneReplica(1).start();
    replica.receive(2, viewChangeOf(2, 5));
    assert.equal(replica.replica.status().view, 0);
    replica.receive(3, viewChangeOf(3, 3));
    assert.equal(replica.replica.status().view, 3);
  });

  it("without a quorum views do not advance, however long it lasts", () => {
    const replica = new LoneReplica(1).start();
    replica.submit(1);
    replica.receive(2, complaintOf(2, 0));
    replica.receive(3, complaintOf(3, 0));
    const { view } = replica.replica.status();
    replica.pass(600_000);
    assert.equal(replica.replica.status().view, view);
  });

  it("a vote or a complaint shows that its signer is in the view, as a view change does", () => {
    const replica = new LoneReplica(2).start();
    const block = blockOn(GENESIS_BLOCK, [transactionOf(1)]);
    replica.receive(1, complaintOf(1, 0));
    replica.receive(3, complaintOf(3, 0));
    replica.receive(3, viewChangeOf(3, 2));
    assert.equal(replica.replica.status().view, 1);
    replica.take();
    replica.pass(5_000);
    assert.equal(replica.sent("complaint").length, 0, "two of four are no quorum");
    // Replica 0 restarted in view 1 after it had voted there: it has no ViewChange to show.
    replica.receive(0, voteOf(0, 1, block));
    replica.pass(2_000);
    assert.equal(replica.sent("complaint")[0]?.reason, "new-view-timeout");
  });

  it("votes the base again unless the reports themselves prove it final", () => {
    const replica = new LoneReplica(2).start();
    const block = blockOn(GENESIS_BLOCK, [transactionOf(1)]);
    replica.receive(LEADER, proposeOf(LEADER, 0, block));
    replica.take();
    const reports = [0, 1, 3].map((sender) => viewChangeOf(sender, 1, [block.header]));
    assert.equal(replica.receive(1, newViewOf(1, 1, reports)), undefined);
    const votes = replica.sent("vote").filter(({ view }) => view === 1);
    assert.deepEqual(
      votes.map(({ blockHash }) => blockHash),
      [block.hash],
    );
    const fresh = new LoneReplica(2).start();
    const empty = [0, 1, 3].map((sender) => viewChangeOf(sender, 1));
    assert.equal(fresh.receive(1, newViewOf(1, 1, empty)), undefined);
    assert.equal(fresh.replica.status().isAccepted, true);
    assert.deepEqual(fresh.sent("vote"), [], "genesis needs no vote");
  });

  it("accepts the first NewView of a view only", () => {
    const replica = new LoneReplica(2).start();
    const reports = [0, 1, 3].map((sender) => viewChangeOf(sender, 1));
    replica.receive(1, newViewOf(1, 1, reports));
    const block = blockOn(GENESIS_BLOCK, [transactionOf(1)]);
    const others = [0, 1, 3].map((sender) => viewChangeOf(sender, 1, [block.header]));
    assert.equal(replica.receive(1, newViewOf(1, 1, others)), "MESSAGE_VIEW_PAST");
  });

  it("votes of a higher view by f+1 replicas carry a replica into it", () => {
    const replica = new LoneReplica(3).start();
    const block = blockOn(GENESIS_BLOCK, [transactionOf(1)]);
    replica.receive(1, voteOf(1, 2, block));
    replica.receive(2, voteOf(2, 2, block));
    assert.equal(replica.replica.status().view, 2);
  });
});

function complaintOf(sender: number, view: number): Complaint {
  const reason = "no-progress";
  return { kind: "complaint", epoch: 0, sender, signature: NO_SIGNATURE, view, reason };
}

function viewChangeOf(
  sender: number,
  newView: number,
  headersVoted: ViewChange["headersVoted"] = [],
): ViewChange {
  const certificate = genesisCert(GENESIS_HASH);
  return {
    kind: "viewChange",
    epoch: 0,
    sender,
    signature: NO_SIGNATURE,
    newView,
    finalCert: certificate,
    highCert: certificate,
    votedView: headersVoted.length === 0 ? -1 : 0,
    headersVoted,
    headersCert: [],
  };
}

function newViewOf(sender: number, view: number, viewChanges: readonly ViewChange[]): NewView {
  return { kind: "newView", epoch: 0, sender, signature: NO_SIGNATURE, view, viewChanges };
}
