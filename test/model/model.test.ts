/** The small bounds, the mutants that are found quickly, and the lemma. `npm run model` does all. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { applyPatch } from "../support/mutation.ts";
import { BlockTree } from "./block-tree.ts";
import { BOUNDS, type BoundName } from "./bound.ts";
import { checkBound, refute } from "./check.ts";
import { LEMMA_CASES, provedAnswer } from "./lemma/lemma.ts";
import { MODEL_MUTANTS } from "./mutants.ts";
import { StateSet } from "./state-set.ts";

const ROOT = path.join(import.meta.dirname, "..", "..");
const MAIN = path.join(import.meta.dirname, "main.ts");

/**
 * How many states each small bound has: a change of a rule shows here before it shows as a fork.
 */
const SMALL_BOUNDS: readonly (readonly [BoundName, number])[] = [
  ["smallViews", 2_080],
  ["smallEpochs", 4_928],
  ["bareViews", 67_941],
  ["smallBlocks", 107_958],
];

/** One of `choose`, one of the vote rules, one of the model's own. */
const QUICK_MUTANTS = ["support-of-one", "fast-quorum-too-small", "rejoin-at-once"];

describe("model", () => {
  for (const [name, states] of SMALL_BOUNDS) {
    it(`no reachable state breaks an invariant: ${BOUNDS[name].name}`, () => {
      const verdict = checkBound(name);
      assert.equal(verdict.broken, undefined, verdict.trace.join("\n"));
      assert.equal(verdict.states, states);
    });
  }

  it("finds the fork when a rule of the model is broken, and tells it step by step", () => {
    const verdict = refute("smallBlocks", "queued-vote-unreported");
    assert.equal(verdict.broken, "agreement");
    assert.equal(verdict.depth, 11);
    assert.equal(verdict.trace.filter((line) => line.startsWith("=>")).length, 2);
    assert.match(verdict.trace[0] ?? "", /^1\. [ABC] votes \d<0 in view 0$/);
  });

  for (const name of QUICK_MUTANTS) {
    it(`refutes a mutant in a process of its own: ${name}`, () => {
      const { status, stdout, stderr } = runMain("--mutant", name, "--json");
      assert.equal(status, 0, stderr);
      assert.match(stdout, /"broken":"agreement"/);
    });
  }

  it("knows a mutant that does nothing: the unbroken rules are not refuted", () => {
    assert.equal(refute("smallViews", "none").broken, undefined);
  });

  it("has exactly one place in the product for each patch", () => {
    for (const { name, rule, change } of MODEL_MUTANTS) {
      if (typeof change === "string") continue;
      const text = readFileSync(path.join(ROOT, change.file), "utf8");
      assert.notEqual(applyPatch({ name, rule, ...change }, text), text, name);
    }
  });

  it("refuses a patch whose snippet is missing or ambiguous", () => {
    const mutant = { name: "m", rule: "r", file: "f", find: "a", replace: "b" };
    assert.throws(() => applyPatch(mutant, "xyz"), /found 0 times/);
    assert.throws(() => applyPatch(mutant, "aa"), /found 2 times/);
    assert.equal(applyPatch(mutant, "xay"), "xby");
  });

  for (const lemma of LEMMA_CASES) {
    it(`the lemma holds for every n: ${lemma} case`, () => {
      const { status, stdout, stderr } = runMain("--lemma", lemma);
      assert.equal(stdout.trim(), provedAnswer(lemma), stderr);
      assert.equal(status, 0, stderr);
    });
  }
});

describe("model parts", () => {
  it("every renaming of blocks is its own inverse and keeps the tree", () => {
    for (const { name, blocks, renaming } of Object.values(BOUNDS)) {
      if (renaming === undefined) continue;
      blocks.forEach((shape, block) => {
        const other = renaming[block] ?? -1;
        assert.equal(renaming[other], block, name);
        const renamed = { ...shape, parent: renaming[shape.parent] ?? -1 };
        assert.deepEqual(blocks[other], renamed, name);
      });
    }
  });

  it("a block tree knows ancestry, paths and chains", () => {
    const tree = new BlockTree(BOUNDS.wholeBlocks.blocks);
    assert.ok(tree.isAncestor(0, 5) && tree.isAncestor(1, 5) && !tree.isAncestor(2, 5));
    assert.deepEqual(tree.path(0, 5), [tree.refs[1], tree.refs[5]]);
    assert.deepEqual(tree.path(2, 5), []);
    assert.ok(tree.isChain(0b101010 & ~0b1000), "1 and 5");
    assert.ok(!tree.isChain(0b101000), "3 and 5 are siblings");
    assert.equal(tree.highest(0b1010), 3);
  });

  it("a set of states keeps each once, in order, with its parent, while it grows", () => {
    const set = new StateSet();
    const count = 200_000;
    for (let index = 0; index < count; index++) {
      assert.ok(set.add(index * 2 ** 20 + (index % 7), index - 1));
    }
    for (let index = 0; index < count; index++) {
      assert.ok(!set.add(index * 2 ** 20 + (index % 7), 0), String(index));
    }
    assert.equal(set.count, count);
    assert.equal(set.at(123_456), 123_456 * 2 ** 20 + (123_456 % 7));
    assert.equal(set.parentOf(123_456), 123_455);
  });
});

function runMain(...args: readonly string[]): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  return spawnSync(process.execPath, [MAIN, ...args], { encoding: "utf8" });
}
