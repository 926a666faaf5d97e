import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { compareBytes } from "../../../src/base/bytes.ts";
import { bytesToHex, hexToBytes } from "../../../src/base/hex.ts";
import { Prng } from "../../../src/base/prng.ts";
import { MemoryStore } from "../../../src/state/memory-store.ts";

describe("MemoryStore", () => {
  it("finds and seeks like a sorted list, over many splits of its runs", () => {
    const prng = new Prng(9);
    const store = new MemoryStore();
    const model = new Map<string, Uint8Array>();
    const draw = (): Uint8Array => prng.bytes(prng.between(1, 3));
    for (let batch = 0; batch < 60; batch++) {
      const changes = Array.from({ length: 200 }, () => {
        const value = prng.chance(batch > 40 ? 0.9 : 0.2) ? undefined : prng.bytes(4);
        return { key: draw(), value };
      });
      store.write(changes);
      for (const { key, value } of changes) {
        if (value === undefined) model.delete(bytesToHex(key));
        else model.set(bytesToHex(key), value);
      }
      assert.equal(store.size, model.size);
      const sorted = [...model.keys()].map(hexToBytes).sort(compareBytes);
      for (let probe = 0; probe < 20; probe++) {
        const from = draw();
        assert.deepEqual(store.get(from), model.get(bytesToHex(from)));
        const expected = sorted.find((key) => compareBytes(key, from) >= 0);
        const label = `batch ${batch} from ${bytesToHex(from)}`;
        assert.deepEqual(store.seek(from)?.key, expected, label);
      }
      assert.deepEqual(
        [...store.entries()].map(({ key }) => key),
        sorted,
      );
    }
  });
});
