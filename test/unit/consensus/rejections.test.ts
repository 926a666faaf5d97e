import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Message } from "../../../src/consensus/message.ts";
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

const LEADER = 0;
const block = blockOn(GENESIS_BLOCK, [transactionOf(1)]);

describe("refusals are values with a code, never exceptions (PROTOCOL §11)", () => {
  const cases: readonly (readonly [string, number, Message, string])[] = [
    ["our own message sent back", 2, voteOf(1, 0, block), "MESSAGE_FROM_SELF"],
    ["an unknown signer", 2, voteOf(9, 0, block), "MESSAGE_SENDER_UNKNOWN"],
    ["a future epoch", 2, { ...voteOf(2, 0, block), epoch: 1 }, "MESSAGE_EPOCH_FUTURE"],
    ["a view too far ahead", 2, voteOf(2, 99, block), "MESSAGE_VIEW_TOO_FAR"],
    [
      "a height beyond the window",
      2,
      { ...voteOf(2, 0, block), height: 9 },
      "MESSAGE_HEIGHT_OUTSIDE_WINDOW",
    ],
    ["a final height", 2, { ...voteOf(2, 0, block), height: 0 }, "MESSAGE_HEIGHT_OUTSIDE_WINDOW"],
    ["a proposal of one who does not lead", 2, proposeOf(2, 0, block), "MESSAGE_NOT_FROM_LEADER"],
    [
      "a proposal whose body is another's",
      LEADER,
      proposeOf(LEADER, 0, { ...block, body: { transactions: [], rejoin: undefined } }),
      "PROPOSAL_HASH_MISMATCH",
    ],
    [
      "a body that was not requested",
      2,
      { kind: "bodyResponse", blocks: [block] },
      "MESSAGE_UNWANTED",
    ],
    [
      "blocks that do not link",
      2,
      {
        kind: "blockResponse",
        blocks: [blockOn({ ...GENESIS_BLOCK, hash: hashOf(1) }, [transactionOf(1)])],
        certificate: {
          kind: "fast",
          epoch: 0,
          view: 0,
          height: 1,
          blockHash: blockOn({ ...GENESIS_BLOCK, hash: hashOf(1) }, [transactionOf(1)]).hash,
          votes: [],
        },
      },
      "BLOCKS_NOT_LINKED",
    ],
    [
      "evidence that proves nothing",
      2,
      { kind: "evidence", first: voteOf(3, 0, block), second: voteOf(3, 0, block) },
      "EVIDENCE_INVALID",
    ],
    [
      "an answer to a question not asked",
      2,
      {
        kind: "probeAnswer",
        nonce: hashOf(3),
        isUntouched: true,
        vote: undefined,
        commit: undefined,
        viewChange: undefined,
      },
      "MESSAGE_UNWANTED",
    ],
    [
      "a new view without a quorum",
      1,
      { kind: "newView", epoch: 0, sender: 1, signature: NO_SIGNATURE, view: 1, viewChanges: [] },
      "NEW_VIEW_INVALID",
    ],
  ];
  for (const [name, from, message, code] of cases) {
    it(`refuses ${name}: ${code}`, () => {
      const self = name === "a new view without a quorum" ? 2 : 1;
      const replica = new LoneReplica(self).start();
      assert.equal(replica.receive(from, message), code);
    });
  }

  it("a replayed vote is a duplicate, and a second vote never replaces the first", () => {
    const replica = new LoneReplica(1).start();
    const other = blockOn(GENESIS_BLOCK, [transactionOf(2)]);
    assert.equal(replica.receive(2, voteOf(2, 0, block)), undefined);
    assert.equal(replica.receive(3, voteOf(2, 0, block)), "MESSAGE_DUPLICATE");
    replica.take();
    assert.equal(replica.receive(3, voteOf(2, 0, other)), "MESSAGE_EQUIVOCATION");
    const [evidence] = replica.sent("evidence");
    assert.equal(evidence?.first.sender, 2);
    assert.equal(replica.receive(3, voteOf(2, 0, block)), "MESSAGE_DUPLICATE", "the first stays");
  });

  const invalid: readonly (readonly [string, Parameters<typeof blockOn>[2], string])[] = [
    ["a result that is not ours", { execResult: hashOf(9) }, "invalid-proposal"],
    ["a timestamp not after its parent's", { timestampMs: 1 }, "invalid-proposal"],
    ["a result of the future", { execHeight: 1 }, "invalid-proposal"],
    ["another epoch", { epoch: 0, txCount: 2 }, "invalid-proposal"],
  ];
  for (const [name, changes, reason] of invalid) {
    it(`complains about a proposal with ${name}`, () => {
      const replica = new LoneReplica(1).start();
      const bad = blockOn(GENESIS_BLOCK, [transactionOf(1)], changes);
      replica.take();
      replica.receive(LEADER, proposeOf(LEADER, 0, bad));
      assert.equal(replica.sent("complaint")[0]?.reason, reason);
    });
  }

  it("complains about a transaction that a block of the same chain carries already", () => {
    const replica = new LoneReplica(1).start();
    replica.receive(LEADER, proposeOf(LEADER, 0, block));
    replica.take();
    const again = blockOn(block, [transactionOf(1)]);
    replica.receive(LEADER, proposeOf(LEADER, 0, again));
    assert.equal(replica.sent("complaint").length, 1);
  });

  it("a flood from one peer does not grow what is kept", () => {
    const replica = new LoneReplica(1).start();
    for (let round = 0; round < 2_000; round++) {
      const noise = blockOn(GENESIS_BLOCK, [transactionOf(round)]);
      const height = 1 + (round % 40);
      replica.receive(2, { ...voteOf(2, round % 12, noise), height });
      replica.receive(2, { kind: "commit", ...withoutKind(voteOf(2, round % 12, noise)), height });
      replica.receive(2, {
        kind: "execVote",
        epoch: 0,
        sender: 2,
        signature: NO_SIGNATURE,
        height,
        blockHash: noise.hash,
        result: noise.hash,
      });
      replica.receive(2, { kind: "bodyRequest", hashes: [noise.hash] });
      replica.receive(LEADER, proposeOf(LEADER, 0, noise));
      replica.take();
    }
    const { buffered } = replica.replica.status();
    assert.ok(buffered.blocks <= 16 * 4, `blocks ${buffered.blocks}`);
    assert.ok(buffered.ballots <= 8 * 2 + 16, `ballots ${buffered.ballots}`);
    assert.ok(buffered.execVotes <= 64 + 8, `execution votes ${buffered.execVotes}`);
    assert.ok(buffered.outbox <= 4, `outbox ${buffered.outbox}`);
  });

  it("a full queue refuses further transactions", () => {
    const replica = new LoneReplica(1, { pendingMax: 2 }).start();
    replica.submit(1);
    replica.submit(2);
    const transaction = transactionOf(3);
    assert.equal(replica.step({ kind: "submit", transactions: [transaction] }), "POOL_FULL");
    assert.equal(
      replica.step({ kind: "submit", transactions: [transactionOf(1)] }),
      "TRANSACTION_KNOWN",
    );
  });

  it("of transactions that come together, each is taken or refused on its own", () => {
    const { replica } = new LoneReplica(1, { pendingMax: 2 }).start();
    const transactions = [1, 1, 2, 3].map((seed) => transactionOf(seed));
    const step = replica.step({ kind: "submit", transactions }, { nowMs: 0, wallMs: 0 });
    assert.deepEqual(step.refused, [
      { id: transactionOf(1).id, code: "TRANSACTION_KNOWN" },
      { id: transactionOf(3).id, code: "POOL_FULL" },
    ]);
    assert.equal(step.rejection, step.refused[0]);
    assert.equal(replica.status().pendingCount, 2);
  });
});

function withoutKind<Kind extends { readonly kind: string }>({
  kind: _,
  ...rest
}: Kind): Omit<Kind, "kind"> {
  return rest;
}
