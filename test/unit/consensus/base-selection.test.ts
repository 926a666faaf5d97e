import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { BlockRef } from "../../../src/consensus/block.ts";
import {
  selectBase,
  type CertifiedBlock,
  type Report,
} from "../../../src/consensus/safety/base-selection.ts";

/**
 * Blocks are named by the path of forks that leads to them: "a" stands on genesis, "ab" on "a".
 * So ancestry can be read off the name.
 */
function ref(name: string): BlockRef {
  return { height: name.length, hash: `0x${Buffer.from(name).toString("hex").padEnd(64, "0")}` };
}

function pathBetween(from: string, to: string): readonly BlockRef[] {
  if (!to.startsWith(from)) return [];
  const length = to.length - from.length;
  return Array.from({ length }, (_, index) => ref(to.slice(0, from.length + index + 1)));
}

type Said = {
  readonly final?: readonly [view: number, block: string];
  readonly certified?: readonly [view: number, block: string];
  readonly voted?: readonly [view: number, block: string];
};

function report({ final = [-1, ""], certified = final, voted = [-1, ""] }: Said): Report {
  const point = ([view, block]: readonly [number, string]): CertifiedBlock => ({
    view,
    block: ref(block),
  });
  return {
    final: point(final),
    certified: point(certified),
    certifiedChain: pathBetween(final[1], certified[1]),
    votedView: voted[0],
    votedChain: pathBetween(final[1], voted[1]),
  };
}

function baseOf(said: readonly Said[], weak = 2): string | undefined {
  const hash = selectBase(said.map(report), weak)?.base.hash.slice(2);
  return hash === undefined ? undefined : Buffer.from(hash, "hex").toString().replace(/\0+$/, "");
}

const CASES: readonly {
  readonly name: string;
  readonly said: readonly Said[];
  readonly base: string | undefined;
}[] = [
  { name: "nothing happened: the base is genesis", said: [{}, {}, {}], base: "" },
  {
    name: "votes of f+1 reports are kept, because all n may have voted",
    said: [{ voted: [0, "a"] }, { voted: [0, "a"] }, {}],
    base: "a",
  },
  {
    name: "a vote of one report is not: it may be that of a Byzantine replica",
    said: [{ voted: [0, "a"] }, {}, {}],
    base: "",
  },
  {
    name: "votes for a descendant support its ancestors",
    said: [{ voted: [0, "ab"] }, { voted: [0, "ac"] }, {}],
    base: "a",
  },
  {
    name: "the highest certificate wins over older votes",
    said: [{ certified: [1, "b"] }, { voted: [0, "a"] }, { voted: [0, "a"] }],
    base: "b",
  },
  {
    name: "the higher view ranks before the greater height",
    said: [{ certified: [0, "abc"] }, { certified: [1, "b"] }, {}],
    base: "b",
  },
  {
    name: "votes of the certificate's view count when they are on its chain",
    said: [{ certified: [0, "a"] }, { voted: [0, "ab"] }, { voted: [0, "ab"] }],
    base: "ab",
  },
  {
    name: "votes of the certificate's view do not count beside its chain",
    said: [{ certified: [0, "a"] }, { voted: [0, "b"] }, { voted: [0, "b"] }],
    base: "a",
  },
  {
    name: "younger votes of different views add up",
    said: [{ voted: [0, "a"] }, { voted: [1, "a"] }, { voted: [-1, ""] }],
    base: "a",
  },
  {
    name: "votes below the certificate do not pull the base down",
    said: [{ certified: [0, "abc"] }, { voted: [0, "ab"] }, { voted: [0, "ab"] }],
    base: "abc",
  },
  {
    name: "younger votes beat an older certificate",
    said: [{ certified: [0, "a"] }, { voted: [1, "b"] }, { voted: [1, "b"] }],
    base: "b",
  },
  {
    name: "chains are compared above the highest final block only",
    said: [{ final: [0, "ab"] }, { voted: [0, "abc"] }, { voted: [0, "abc"] }],
    base: "abc",
  },
  {
    name: "a report that passes the final block by supports nothing",
    said: [{ final: [0, "a"] }, { voted: [1, "b"] }, { voted: [1, "b"] }],
    base: "a",
  },
  {
    name: "a report that does not reach the final block supports nothing",
    said: [{ final: [0, "ab"] }, { voted: [0, "a"] }, { voted: [0, "a"] }],
    base: "ab",
  },
  {
    name: "a certificate of the final block in a later view makes older votes void",
    said: [
      { final: [0, "a"], certified: [2, "a"] },
      { final: [0, "a"], voted: [1, "ab"] },
      { final: [0, "a"], voted: [1, "ab"] },
    ],
    base: "a",
  },
  {
    name: "a higher certificate in conflict with a final block proves too many Byzantine replicas",
    said: [{ final: [0, "a"] }, { certified: [1, "b"] }, {}],
    base: undefined,
  },
];

describe("choose (PROTOCOL §6.3)", () => {
  for (const { name, said, base } of CASES) {
    it(name, () => assert.equal(baseOf(said), base));
  }

  it("counts f+1 at larger n", () => {
    const voters: readonly Said[] = Array.from({ length: 2 }, () => ({ voted: [0, "a"] }));
    const silent: readonly Said[] = Array.from({ length: 3 }, () => ({}));
    assert.equal(baseOf([...voters, ...silent], 3), "");
    assert.equal(baseOf([...voters, { voted: [0, "ab"] }, {}, {}], 3), "a");
  });

  it("names the final block of the reports and the path from it to the base", () => {
    const choice = selectBase(
      [
        report({ final: [0, "a"] }),
        report({ voted: [0, "abc"] }),
        report({ final: [0, "a"], voted: [0, "abc"] }),
      ],
      2,
    );
    assert.deepEqual(choice, { base: ref("abc"), final: ref("a"), path: pathBetween("a", "abc") });
  });

  it("answers the same for every order of the reports", () => {
    fc.assert(
      fc.property(arbitraryReports(), (said) => {
        const orders = [
          [0, 1, 2],
          [0, 2, 1],
          [1, 0, 2],
          [1, 2, 0],
          [2, 0, 1],
          [2, 1, 0],
        ];
        const bases = orders.map((order) => baseOf(order.map((index) => said[index] ?? {})));
        assert.equal(new Set(bases).size, 1, bases.join());
      }),
    );
  });

  it("returns the last block of its path, which stands on the final block", () => {
    fc.assert(
      fc.property(arbitraryReports(), (said) => {
        const choice = selectBase(said.map(report), 2);
        if (choice === undefined) return;
        assert.deepEqual(choice.base, choice.path.at(-1) ?? choice.final);
        choice.path.forEach(({ height }, index) => {
          assert.equal(height, choice.final.height + index + 1);
        });
      }),
    );
  });
});

/**
 * Reports that can occur together: what is certified in one view lies on one chain, and final
 * blocks lie on one chain that certificates of later views extend.
 */
function arbitraryReports(): fc.Arbitrary<readonly Said[]> {
  const blocks = ["", "a", "b", "ab", "ac", "abc", "abd", "bc"];
  const chainOfView = fc.array(fc.constantFrom("abc", "abd", "bc"), { minLength: 3, maxLength: 3 });
  return chainOfView.chain((chains) => {
    const voted = fc.tuple(fc.integer({ min: -1, max: 2 }), fc.constantFrom(...blocks));
    const certified = fc
      .tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 1, max: 3 }))
      .map(([view, height]): [number, string] => [view, (chains[view] ?? "").slice(0, height)]);
    const said = fc.record({
      voted,
      certified: fc.oneof(fc.constant([-1, ""] as const), certified),
    });
    return fc.array(said, { minLength: 3, maxLength: 3 });
  });
}
