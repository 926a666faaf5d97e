import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BlockRef } from "../../../src/consensus/block.ts";
import { quorumOf } from "../../../src/consensus/quorum.ts";
import {
  isAcceptedAfterRestart,
  isFast,
  isQuorum,
  mayCommit,
  mayVote,
  mustVoteBase,
  slowFinal,
  tipAfterFinal,
} from "../../../src/consensus/safety/safety-rules.ts";

const FOUR = quorumOf(4);

/** A block named by its path: "ab" stands on "a". */
function ref(name: string): BlockRef {
  return { height: name.length, hash: `0x${Buffer.from(name).toString("hex")}` };
}

function nameOf({ hash }: BlockRef): string {
  return Buffer.from(hash.slice(2), "hex").toString();
}

function isAncestor(a: BlockRef, b: BlockRef): boolean {
  return nameOf(b).startsWith(nameOf(a));
}

describe("voting (PROTOCOL §5.1)", () => {
  const state = { view: 2, isAccepted: true, tip: ref("a") };
  const proposal = { view: 2, height: 2, parent: ref("a").hash };

  it("votes for the next block on its tip", () => {
    assert.equal(mayVote(state, proposal), true);
  });

  for (const [name, broken] of [
    ["another parent: the votes of a view form a chain", { parent: ref("b").hash }],
    ["the tip's own height: one block per height", { height: 1 }],
    ["a height above the next", { height: 3 }],
    ["an earlier view, which it promised to leave alone", { view: 1 }],
    ["a view that it has not entered", { view: 3 }],
  ] as const) {
    it(`does not vote for ${name}`, () => {
      assert.equal(mayVote(state, { ...proposal, ...broken }), false);
    });
  }

  it("does not vote before it accepted the view's base", () => {
    assert.equal(mayVote({ ...state, isAccepted: false }, proposal), false);
  });
});

describe("the base (PROTOCOL §5.2)", () => {
  it("is voted again unless the reports prove it final", () => {
    assert.equal(mustVoteBase(ref("ab"), ref("a")), true);
    assert.equal(mustVoteBase(ref("a"), ref("a")), false);
  });
});

describe("committing (PROTOCOL §5.3)", () => {
  it("takes a certificate of the very view that the replica is in", () => {
    assert.equal(mayCommit(3, { view: 3 }), true);
    assert.equal(mayCommit(3, { view: 2 }), false);
    assert.equal(mayCommit(3, { view: 4 }), false);
  });
});

describe("restarting (PROTOCOL §5.4)", () => {
  it("stays with the base of a view that it voted in", () => {
    assert.equal(isAcceptedAfterRestart(2, 2), true);
  });
  it("waits for a NewView in a view that it did not vote in", () => {
    assert.equal(isAcceptedAfterRestart(2, 1), false);
    assert.equal(isAcceptedAfterRestart(1, -1), false);
  });
  it("needs no NewView in view 0", () => {
    assert.equal(isAcceptedAfterRestart(0, -1), true);
  });
});

describe("skipping to a final block (PROTOCOL §5.5)", () => {
  for (const [tip, final, expected] of [
    ["a", "abc", "abc"],
    ["abc", "a", "abc"],
    ["ab", "ab", "ab"],
    ["a", "bcd", "conflict"],
    ["abc", "b", "conflict"],
    ["ab", "ac", "conflict"],
  ] as const) {
    it(`tip ${tip}, final ${final}: ${expected}`, () => {
      const moved = tipAfterFinal(ref(tip), ref(final), isAncestor);
      assert.equal(moved === "conflict" ? moved : nameOf(moved), expected);
    });
  }
});

describe("finality (PROTOCOL §5.6)", () => {
  for (const [count, quorate, fast] of [
    [2, false, false],
    [3, true, false],
    [4, true, true],
  ] as const) {
    it(`${count} of 4 signatures: ${quorate ? "a" : "no"} quorum, ${fast ? "" : "not "}fast`, () => {
      assert.equal(isQuorum(count, FOUR), quorate);
      assert.equal(isFast(count, FOUR), fast);
    });
  }

  const finalOf = (commits: readonly (readonly [number, string])[]): string | undefined => {
    const final = slowFinal(
      commits.map(([sender, block]) => ({ sender, block: ref(block) })),
      FOUR,
      isAncestor,
    );
    return final === undefined ? undefined : nameOf(final);
  };

  for (const [name, commits, expected] of [
    [
      "three equal commits",
      [
        [0, "a"],
        [1, "a"],
        [2, "a"],
      ],
      "a",
    ],
    [
      "the lowest of three on one chain",
      [
        [0, "abc"],
        [1, "a"],
        [2, "ab"],
      ],
      "a",
    ],
    [
      "the highest that three stand on",
      [
        [0, "abc"],
        [1, "ab"],
        [2, "ab"],
        [3, "a"],
      ],
      "ab",
    ],
    [
      "two are too few",
      [
        [0, "a"],
        [1, "a"],
      ],
      undefined,
    ],
    [
      "one sender twice counts once",
      [
        [0, "a"],
        [0, "ab"],
        [1, "a"],
      ],
      undefined,
    ],
    [
      "a commit beside the chain does not count",
      [
        [0, "a"],
        [1, "a"],
        [2, "b"],
      ],
      undefined,
    ],
    [
      "nothing below the lowest commit is decided",
      [
        [0, "ab"],
        [1, "ac"],
        [2, "ab"],
      ],
      undefined,
    ],
  ] as const) {
    it(`commits: ${name}`, () => assert.equal(finalOf(commits), expected));
  }

  it("counts 2f+1 and n at larger sizes", () => {
    const seven = quorumOf(7);
    assert.deepEqual([isQuorum(4, seven), isQuorum(5, seven)], [false, true]);
    assert.deepEqual([isFast(6, seven), isFast(7, seven)], [false, true]);
  });
});
