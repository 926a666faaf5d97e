import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fuzzCodecs } from "../../fuzz/wire.ts";

/** Fixed, so that a failure here is a failure everywhere. `npm run fuzz -- wire` draws new ones. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
const INPUTS = 15_000;

describe("the codec under damaged input", () => {
  for (const seed of SEEDS) {
    it(`never throws and accepts only canonical bytes (seed ${seed})`, () => {
      const report = fuzzCodecs(seed, INPUTS);
      assert.deepEqual(report.failures, []);
      // The damage must reach every kind of refusal, and leave something to accept.
      assert.ok(report.accepted > INPUTS / 20, `accepted ${report.accepted}`);
      for (const code of [
        "WIRE_TRUNCATED",
        "WIRE_TRAILING_BYTES",
        "WIRE_UNKNOWN_VERSION",
        "WIRE_UNKNOWN_TYPE",
        "WIRE_LIMIT_EXCEEDED",
        "WIRE_INTEGER_UNSAFE",
        "WIRE_REPLICA_OUT_OF_RANGE",
        "WIRE_VALUE_UNKNOWN",
      ]) {
        assert.ok((report.refused.get(code) ?? 0) > 0, `no input was refused as ${code}`);
      }
    });
  }
});
