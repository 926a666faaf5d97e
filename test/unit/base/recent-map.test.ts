import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RecentMap } from "../../../src/base/recent-map.ts";

const GENERATION = 10;

describe("RecentMap", () => {
  it("knows at least the last generation, and never more than two", () => {
    const recent = new RecentMap<number, string>(GENERATION);
    for (let value = 0; value < 10 * GENERATION; value++) {
      recent.set(value, `${value}`);
      const known = Array.from({ length: value + 1 }, (_, at) => at).filter((at) => recent.has(at));
      assert.ok(known.length >= Math.min(value + 1, GENERATION), `${known.length} of ${value + 1}`);
      assert.ok(known.length <= 2 * GENERATION);
      assert.ok(recent.size <= 2 * GENERATION);
      assert.equal(known.at(-1), value);
      for (const at of known) assert.equal(recent.get(at), `${at}`);
      assert.equal(known[0], value + 1 - known.length, "none in between is missing");
    }
  });
});
