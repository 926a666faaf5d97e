import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { findFixtureFolder, isHeavy, listFixtureFiles, loadFixtures } from "./fixture-data.ts";
import { runFixture } from "./run-fixture.ts";

/** A sample that takes seconds; `npm run conformance` runs all. */
const SAMPLE_EVERY = 15;
const BUDGET_MS = 40_000;

describe("official Ethereum tests", () => {
  const folder = findFixtureFolder(process.env["CONFORMANCE_DATA"]);
  const reason = "left out: no official tests on this machine (CONFORMANCE_DATA)";
  it("pass in a sample of all folders", { skip: folder === undefined && reason }, () => {
    const files = listFixtureFiles(folder ?? "", []).filter((file) => !isHeavy(file));
    const endMs = performance.now() + BUDGET_MS;
    let passed = 0;
    for (let index = 0; index < files.length; index += SAMPLE_EVERY) {
      // A slow machine runs less of the sample rather than making the suite too slow to run.
      if (performance.now() > endMs) break;
      for (const outcome of loadFixtures(folder ?? "", files[index] ?? "").flatMap(runFixture)) {
        assert.notEqual(outcome.kind, "failed", `${outcome.name}: ${outcome.detail}`);
        if (outcome.kind === "passed") passed++;
      }
    }
    assert.ok(passed > 100, `only ${passed} cases ran`);
  });
});
