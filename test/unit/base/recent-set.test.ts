import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RecentSet } from "../../../src/base/recent-set.ts";

const GENERATION = 10;

describe("RecentSet", () => {
  it("knows at least the last generation, and never more than two", () => {
    const recent = new RecentSet<number>(GENERATION);
    for (let value = 0; value < 10 * GENERATION; value++) {
      recent.add(value);
      const known = Array.from({ length: value + 1 }, (_, at) => at).filter((at) => recent.has(at));
      assert.ok(known.length >= Math.min(value + 1, GENERATION), `${known.length} of ${value + 1}`);
      assert.ok(known.length <= 2 * GENERATION);
      assert.equal(known.at(-1), value);
      assert.equal(known[0], value + 1 - known.length, "none in between is missing");
    }
  });
});
