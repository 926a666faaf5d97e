import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BlockCache, type CachedBlock } from "../../../src/client/reads/block-cache.ts";

describe("BlockCache", () => {
  const keptOf = (cache: BlockCache<CachedBlock>): number[] =>
    [1, 2, 3, 4, 5].filter((height) => cache.get(height) !== undefined);

  it("large blocks drive out more of the others than small ones", () => {
    const cache = new BlockCache<CachedBlock>({ blocksMax: 4, bytesMax: 100 });
    for (const height of [1, 2, 3]) cache.add(height, { storedSize: 20 });
    assert.deepEqual(keptOf(cache), [1, 2, 3]);
    cache.get(1);
    cache.add(4, { storedSize: 70 });
    assert.deepEqual(keptOf(cache), [1, 4], "the one that was used last stays");
    cache.add(5, { storedSize: 101 });
    assert.deepEqual(keptOf(cache), []);
  });

  it("small blocks are bounded by their number", () => {
    const cache = new BlockCache<CachedBlock>({ blocksMax: 2, bytesMax: 100 });
    for (const height of [1, 2, 3]) cache.add(height, { storedSize: 1 });
    assert.deepEqual(keptOf(cache), [2, 3]);
  });
});
