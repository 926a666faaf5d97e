import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { finalBlockHeight } from "../../../src/client/sync/final-block-height.ts";
import { encodeClientMessage } from "../../../src/wire/client-codec.ts";
import { FinalChain } from "./final-chain.ts";

describe("the height of an encoded final block", () => {
  it("is that of the block, and of nothing else or too short", () => {
    const chain = new FinalChain();
    chain.append([]);
    const bytes = encodeClientMessage({ kind: "finalBlock", ...chain.append([]) });
    assert.equal(finalBlockHeight(bytes), 2);
    assert.equal(finalBlockHeight(bytes.subarray(0, 45)), undefined);
    assert.equal(finalBlockHeight(new Uint8Array(0)), undefined);
    assert.equal(
      finalBlockHeight(encodeClientMessage({ kind: "follow", fromHeight: 2 })),
      undefined,
    );
  });
});
