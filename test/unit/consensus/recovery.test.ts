import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Block } from "../../../src/consensus/block.ts";
import type { LogRecord } from "../../../src/consensus/log-record.ts";
import type { ProbeAnswer, Vote } from "../../../src/consensus/message.ts";
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

const NONCE = hashOf(42);
const SECOND_NONCE = hashOf(43);
const block = blockOn(GENESIS_BLOCK, [transactionOf(1)]);

describe("starting (PROTOCOL §5.4, §9)", () => {
  it("says nothing signed before its log is written again and 2f peers vouch for it", () => {
    const replica = new LoneReplica(0).start({ kind: "resume", records: voted(0), nonce: NONCE });
    assert.equal(replica.replica.status().mode, "probing");
    replica.receive(1, answer());
    replica.receive(1, answer());
    assert.equal(replica.replica.status().mode, "probing", "one peer is not two");
    replica.receive(2, answer());
    assert.equal(replica.replica.status().mode, "active");
  });

  it("a restarted leader abdicates and does not propose in the view it restarted in", () => {
    const replica = resumed(0, voted(0));
    const sent = replica.take().flatMap((e) => (e.kind === "send" ? [e.message.kind] : []));
    assert.ok(sent.includes("abdicate"), sent.join());
    replica.submit(7);
    assert.deepEqual(replica.sent("propose"), []);
  });

  it("a leader that is about to be stopped abdicates and proposes nothing more", () => {
    const leader = new LoneReplica(0).start();
    leader.take();
    leader.step({ kind: "retire" });
    assert.ok(leader.sent("abdicate").length > 0);
    leader.submit(7);
    assert.deepEqual(leader.sent("propose"), []);
    const other = new LoneReplica(1).start();
    other.take();
    other.step({ kind: "retire" });
    assert.deepEqual(other.sent("abdicate"), []);
  });

  it("stays with what it voted in the view it restarts in", () => {
    const replica = resumed(1, voted(1));
    const other = blockOn(GENESIS_BLOCK, [transactionOf(2)]);
    replica.take();
    replica.receive(0, proposeOf(0, 0, other));
    const votes = replica.sent("vote");
    assert.ok(!votes.some(({ blockHash }) => blockHash === other.hash), "one vote per height");
  });

  it("says its votes again after a restart", () => {
    const replica = resumed(1, voted(1));
    replica.pass(500);
    assert.ok(replica.sent("vote").some(({ blockHash }) => blockHash === block.hash));
  });

  it("keeps its promise of a view over a restart", () => {
    const replica = resumed(1, [...voted(1), { kind: "view", view: 3 }]);
    assert.equal(replica.replica.status().view, 3);
    assert.equal(replica.replica.status().isAccepted, false);
    replica.take();
    replica.receive(0, proposeOf(0, 0, blockOn(block, [transactionOf(2)])));
    assert.deepEqual(replica.sent("vote"), [], "nothing in a view that it left");
  });

  it("a peer that holds a vote which the log has forgotten proves a rollback", () => {
    const replica = new LoneReplica(1).start({ kind: "resume", records: booted(1), nonce: NONCE });
    replica.receive(2, answer({ vote: voteOf(1, 0, block) }));
    assert.equal(replica.replica.status().mode, "observer");
    assert.ok(replica.records.some((record) => record.kind === "rejoin"));
    replica.take();
    replica.receive(0, proposeOf(0, 0, block));
    replica.pass(5_000);
    const sent = replica.take().flatMap((e) => (e.kind === "send" ? [e.message] : []));
    const kinds = ["vote", "commit", "viewChange", "complaint", "execVote", "newView"];
    assert.ok(!sent.some(({ kind }) => kinds.includes(kind)), "an observer signs nothing");
    assert.ok(sent.some(({ kind }) => kind === "forwardRejoin"));
  });

  it("remembers what a peer signed after finality has emptied the tallies", () => {
    const replica = new LoneReplica(1).start();
    replica.receive(0, proposeOf(0, 0, block));
    for (const voter of [0, 2, 3]) replica.receive(voter, voteOf(voter, 0, block));
    assert.equal(replica.replica.status().finalHeight, 1);
    replica.take();
    replica.receive(3, { kind: "probe", nonce: NONCE });
    const [said] = replica.sent("probeAnswer");
    assert.equal(said?.vote?.height, 1);
    assert.equal(said.isUntouched, false);
  });

  it("a replica that has voted is not untouched, whatever it holds of the asker", () => {
    const replica = new LoneReplica(1).start();
    replica.receive(0, proposeOf(0, 0, block));
    replica.take();
    replica.receive(3, { kind: "probe", nonce: NONCE });
    assert.equal(replica.sent("probeAnswer")[0]?.isUntouched, false);
  });

  it("an empty log founds only when every peer is as new", () => {
    const replica = new LoneReplica(1).start({ kind: "empty", nonce: NONCE });
    replica.receive(0, answer({ isUntouched: true }));
    replica.receive(2, answer({ isUntouched: true }));
    assert.equal(replica.replica.status().mode, "probing");
    replica.receive(3, answer({ isUntouched: true }));
    assert.equal(replica.replica.status().mode, "active");
  });

  it("an empty log in a network that has a past becomes an observer", () => {
    const replica = new LoneReplica(1).start({ kind: "empty", nonce: NONCE });
    replica.receive(0, answer({ isUntouched: false }));
    assert.equal(replica.replica.status().mode, "observer");
  });

  it("takes part again from the epoch whose boundary carries its own nonce", () => {
    const replica = new LoneReplica(1).start({ kind: "empty", nonce: NONCE });
    replica.receive(0, answer({ isUntouched: false }));
    const boundary = rejoinBlock(NONCE);
    replica.receive(0, finalBlocks(boundary));
    const { mode, epoch, view } = replica.replica.status();
    assert.deepEqual({ mode, epoch, view }, { mode: "active", epoch: 1, view: 0 });
  });

  it("a rejoin of the same member with another nonce does not let an observer in", () => {
    const replica = new LoneReplica(1).start({ kind: "empty", nonce: NONCE });
    replica.receive(0, answer({ isUntouched: false }));
    replica.receive(0, finalBlocks(rejoinBlock(hashOf(9))));
    assert.equal(replica.replica.status().mode, "observer");
    assert.equal(replica.replica.status().epoch, 1);
  });

  it("an observer that restarts does not join by the nonce in its log, which a copy has too", () => {
    const replica = new LoneReplica(1).start({ kind: "empty", nonce: NONCE });
    replica.receive(0, answer({ isUntouched: false }));
    const copied = [...replica.records];
    assert.ok(copied.some((record) => record.kind === "rejoin" && record.nonce === NONCE));
    const restored = restoredFrom(copied);
    restored.receive(0, finalBlocks(rejoinBlock(NONCE)));
    assert.deepEqual(modeOf(restored), { mode: "observer", epoch: 1 }, "it may have joined before");
    restored.pass(2_000);
    const asked = restored.sent("forwardRejoin").map(({ rejoin }) => rejoin.nonce);
    assert.ok(asked.length > 0);
    assert.deepEqual([...new Set(asked)], [SECOND_NONCE]);
    restored.receive(0, finalBlocks(rejoinBlock(SECOND_NONCE, 1, rejoinBlock(NONCE))));
    assert.deepEqual(modeOf(restored), { mode: "active", epoch: 2 });
  });

  it("an observer whose log ends with its boundary does not join by it after a restart", () => {
    const replica = new LoneReplica(1).start({ kind: "empty", nonce: NONCE });
    replica.receive(0, answer({ isUntouched: false }));
    replica.receive(0, finalBlocks(rejoinBlock(NONCE)));
    const cut = replica.records.findIndex(({ kind }) => kind === "epoch");
    assert.ok(cut > 0);
    const restored = restoredFrom(replica.records.slice(0, cut));
    assert.deepEqual(modeOf(restored), { mode: "observer", epoch: 1 });
  });

  it("an active replica whose key rejoins elsewhere stops for good", () => {
    const replica = new LoneReplica(1).start();
    replica.receive(0, finalBlocks(rejoinBlock(hashOf(9))));
    assert.equal(replica.replica.status().mode, "stopped");
  });

  it("nothing of a new epoch leaves before the epoch is durable", () => {
    const replica = new LoneReplica(0).start();
    replica.isDiskFast = false;
    replica.take();
    replica.receive(2, finalBlocks(rejoinBlock(hashOf(9), 3)));
    assert.equal(replica.replica.status().epoch, 1);
    replica.submit(5);
    assert.deepEqual(replica.sent("propose"), []);
  });
});

/** The log of a replica that booted and voted for `block` in view 0. */
function voted(self: number): readonly LogRecord[] {
  const replica = new LoneReplica(self).start();
  if (self === 0) replica.submit(1);
  else replica.receive(0, proposeOf(0, 0, block));
  return replica.records;
}

function booted(self: number): readonly LogRecord[] {
  return new LoneReplica(self).start().records;
}

function resumed(self: number, records: readonly LogRecord[]): LoneReplica {
  const replica = new LoneReplica(self).start({ kind: "resume", records, nonce: NONCE });
  const peers = [0, 1, 2, 3].filter((peer) => peer !== self);
  for (const peer of peers.slice(0, 2)) replica.receive(peer, answer());
  return replica;
}

function restoredFrom(records: readonly LogRecord[]): LoneReplica {
  return new LoneReplica(1).start({ kind: "resume", records, nonce: SECOND_NONCE });
}

function modeOf({ replica }: LoneReplica): { readonly mode: string; readonly epoch: number } {
  const { mode, epoch } = replica.status();
  return { mode, epoch };
}

function answer(
  changes: { readonly vote?: Vote; readonly isUntouched?: boolean } = {},
): ProbeAnswer {
  return {
    kind: "probeAnswer",
    nonce: NONCE,
    isUntouched: false,
    vote: undefined,
    commit: undefined,
    viewChange: undefined,
    ...changes,
  };
}

function rejoinBlock(
  nonce: ReturnType<typeof hashOf>,
  member = 1,
  parent: Pick<Block, "hash" | "header"> = GENESIS_BLOCK,
): Block {
  const signature = NO_SIGNATURE;
  const epoch = parent === GENESIS_BLOCK ? 0 : parent.header.epoch + 1;
  return blockOn(parent, [], {
    epoch,
    rejoin: { kind: "rejoin", member, epoch, nonce, signature },
  });
}

function finalBlocks(last: Block): Parameters<LoneReplica["receive"]>[1] {
  const { hash: blockHash, header } = last;
  const { epoch, height } = header;
  const certificate = { kind: "fast", epoch, view: 0, height, blockHash, votes: [] } as const;
  return { kind: "blockResponse", blocks: [last], certificate };
}
