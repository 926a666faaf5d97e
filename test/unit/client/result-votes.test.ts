import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { err, ok } from "../../../src/base/result.ts";
import type { ExecVote } from "../../../src/consensus/message.ts";
import { ResultVotes } from "../../../src/client/sync/result-votes.ts";
import { ZERO_HASH_TEXT } from "../../../src/wire/hash-text.ts";

const OWN = { height: 1, blockHash: ZERO_HASH_TEXT, result: `0x${"11".repeat(32)}` } as const;

function vote(sender: number, isSigned = true): ExecVote {
  const signature = new Uint8Array(64).fill(isSigned ? 1 : 0);
  return { kind: "execVote", epoch: 0, sender, ...OWN, signature };
}

describe("signed results", () => {
  it("a replica cannot take the place of another one's vote", () => {
    const lies: (readonly [number, string])[] = [];
    const votes = new ResultVotes(
      { needed: 2, heightsMax: 10 },
      {
        authenticator: {
          authenticate: (message) =>
            "signature" in message && message.signature[0] === 1
              ? ok(message)
              : err({ code: "AUTH_SIGNATURE_INVALID" }),
        },
        replicas: { distrust: (replica, reason) => void lies.push([replica, reason]) },
      },
    );
    votes.add(vote(1, false), 3);
    votes.add(vote(2, false), 3);
    votes.add(vote(1), 1);
    votes.add(vote(2), 2);
    assert.deepEqual(lies, [
      [3, "VOTE_NOT_ITS_OWN"],
      [3, "VOTE_NOT_ITS_OWN"],
    ]);
    const verdict = votes.judge(OWN);
    assert.equal(verdict.kind, "matched");
    assert.equal(lies.length, 2, "the others are not blamed");
  });
});
