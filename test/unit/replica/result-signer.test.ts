import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ReplicaStatus } from "../../../src/consensus/replica.ts";
import { createResultSigner } from "../../../src/replica/result-signer.ts";
import { ZERO_HASH_TEXT } from "../../../src/wire/hash-text.ts";

describe("the signer of results", () => {
  it("a replica that diverged or does not take part signs nothing for anybody", () => {
    let mode: ReplicaStatus["mode"] = "active";
    const signature = new Uint8Array(64).fill(5);
    const sign = createResultSigner({ self: 2, mode: () => mode, sign: () => signature });
    const result = { kind: "execVote", epoch: 0, height: 7, blockHash: ZERO_HASH_TEXT } as const;
    const vote = { ...result, result: ZERO_HASH_TEXT };
    assert.deepEqual(sign(vote), { ...vote, sender: 2, signature });
    mode = "diverged";
    assert.equal(sign(vote), undefined);
  });
});
