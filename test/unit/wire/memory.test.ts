import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { getHeapStatistics } from "node:v8";
import { concatBytes } from "../../../src/base/bytes.ts";
import { createTransaction } from "../../../src/wire/block-codec.ts";
import { ZERO_HASH_TEXT } from "../../../src/wire/hash-text.ts";
import { decodeMessage, encodeMessage } from "../../../src/wire/message-codec.ts";
import { plainHeader } from "../../support/plain-header.ts";

/** The heap counts in pages: enough bytes that a page more or less does not matter. */
const BYTES_TOTAL = 1_000_000;
const REPEATS_MAX = 20_000;
/**
 * Objects are larger than the bytes they were made of: a transaction of 12 bytes costs some 700.
 */
const FACTOR_MAX = 100;
const OVERHEAD_MAX = 4_096;

describe("memory that a message can cost", () => {
  const header = plainHeader({ height: 1 });
  const empty = createTransaction(new Uint8Array(0), 0);
  const body = {
    transactions: Array.from({ length: 4_000 }, () => empty),
    rejoin: undefined,
  };
  const dense = encodeMessage({
    kind: "bodyResponse",
    blocks: [{ hash: ZERO_HASH_TEXT, header, body }],
  });
  const bombs: readonly (readonly [string, Uint8Array])[] = [
    ["a request that claims 64 hashes", withCount([1, 12], 64, 0)],
    ["a request that claims 2^32-1 hashes", withCount([1, 12], 0xffff_ffff, 0)],
    ["a response that claims 64 blocks", withCount([1, 13], 64, 200)],
    ["a transaction that claims 2 MiB", withCount([1, 17, 0, 0, 0, 0, 0, 0, 0, 0], 0x20_0000, 10)],
    ["a body that claims 4096 transactions", bodyBomb(4_096, 100)],
    ["a body whose transactions claim 2 MiB", bodyBomb(1, 12)],
    ["a body of the smallest transactions there are", dense],
  ];
  for (const [name, bytes] of bombs) {
    it(`is in proportion to its size: ${name}`, () => {
      const repeats = Math.min(REPEATS_MAX, Math.ceil(BYTES_TOTAL / bytes.length));
      decodeMessage(bytes);
      const before = allocated();
      for (let count = 0; count < repeats; count++) decodeMessage(bytes);
      const perMessage = (allocated() - before) / repeats;
      const limit = OVERHEAD_MAX + FACTOR_MAX * bytes.length;
      assert.ok(perMessage <= limit, `${perMessage} bytes for ${bytes.length}`);
    });
  }

  function withCount(start: readonly number[], count: number, rest: number): Uint8Array {
    const bytes = concatBytes(Uint8Array.from(start), new Uint8Array(4 + rest));
    new DataView(bytes.buffer).setUint32(start.length, count);
    return bytes;
  }

  /** A body response whose one block has a table that promises more than there is. */
  function bodyBomb(count: number, rest: number): Uint8Array {
    const block = new Uint8Array(32 + 132 + 1);
    const table = new Uint8Array(4 + rest);
    const view = new DataView(table.buffer);
    view.setUint32(0, count);
    if (count === 1) view.setUint32(12, 0x20_0000);
    return concatBytes(Uint8Array.of(1, 13, 0, 0, 0, 1), block, table);
  }
});

/** Everything ever allocated on the heap, and what is held outside of it. */
function allocated(): number {
  const statistics = getHeapStatistics() as unknown as { total_allocated_bytes: number };
  return statistics.total_allocated_bytes + process.memoryUsage().arrayBuffers;
}
