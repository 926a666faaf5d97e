import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TokenBucket } from "../../../src/base/token-bucket.ts";

describe("token bucket", () => {
  it("says how long to wait for a whole token, and takes none by that", () => {
    const bucket = new TokenBucket(1_000, 0);
    assert.equal(bucket.waitMs(0), 0);
    assert.equal(bucket.waitMs(0), 0, "asking costs nothing");
    bucket.take(1_010, 0);
    assert.equal(bucket.waitMs(0), 11);
    assert.equal(bucket.waitMs(4), 7);
    assert.equal(bucket.waitMs(11), 0);
  });

  it("lets a large helping be paid for afterwards", () => {
    const bucket = new TokenBucket(1_000, 0);
    bucket.take(3_000, 0);
    assert.equal(bucket.waitMs(0), 2_001);
    assert.equal(bucket.waitMs(2_001), 0);
  });
});
