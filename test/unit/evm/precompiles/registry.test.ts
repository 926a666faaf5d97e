import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { precompilesOf } from "../../../../src/evm/precompiles/registry.ts";

describe("precompilesOf", () => {
  it("has 0x01 to 0x0a in Cancun, and up to 0x11 in Prague", () => {
    const addresses = (fork: "cancun" | "prague"): bigint[] => [...precompilesOf(fork).keys()];
    const upTo = (last: number): bigint[] => Array.from({ length: last }, (_, i) => BigInt(i + 1));
    assert.deepEqual(addresses("cancun"), upTo(0x0a));
    assert.deepEqual(addresses("prague"), upTo(0x11));
  });

  it("answers the identity with a copy, not with the caller's memory", () => {
    const input = Uint8Array.of(1, 2, 3);
    const output = precompilesOf("prague").get(4n)?.run(input);
    input[0] = 9;
    assert.deepEqual(output, Uint8Array.of(1, 2, 3));
  });
});
