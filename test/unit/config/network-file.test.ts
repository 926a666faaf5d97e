import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parseTimestamp } from "../../../src/chain/genesis-timestamp.ts";
import { problemText } from "../../../src/config/config-problem.ts";
import {
  encodeNetworkFile,
  parseNetworkFile,
  type NetworkFile,
} from "../../../src/config/network-file.ts";
import { timestampToText } from "../../../src/config/timestamp-text.ts";
import { GENESIS } from "../../support/replica-network.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const FILE: NetworkFile = {
  blockchainId: "test",
  genesis: { ...GENESIS, alloc: GENESIS.alloc.slice(0, 2) },
  genesisBlockHash: new Uint8Array(32).fill(7),
  replicas: [1, 2, 3, 4].map((port) => ({ host: "127.0.0.1", port })),
  clients: new Map([[8, new Uint8Array(32).fill(9)]]),
};

/** The problems of a file in which one text is replaced by another. */
function problemsWith(found: string | RegExp, replacement: string): readonly string[] {
  const text = encodeNetworkFile(FILE);
  const changed = text.replace(found, replacement);
  assert.notEqual(changed, text, "the text is there");
  const parsed = parseNetworkFile(changed, NOW_MS);
  return parsed.ok ? [] : parsed.error.map(problemText);
}

describe("network.json", () => {
  it("reads what it writes", () => {
    const parsed = parseNetworkFile(encodeNetworkFile(FILE), NOW_MS);
    assert.deepEqual(parsed.ok ? parsed.value : parsed.error, FILE);
  });

  it("keeps amounts above 2^53 exact", () => {
    const alloc = [{ address: 1n, balance: 2n ** 200n + 1n }];
    const file = { ...FILE, genesis: { ...FILE.genesis, alloc } };
    const parsed = parseNetworkFile(encodeNetworkFile(file), NOW_MS);
    assert.deepEqual(parsed.ok && parsed.value.genesis.alloc, alloc);
  });

  it("client nodes of a network with ten replicas count from 20", () => {
    const replicaPublicKeys = Array.from({ length: 10 }, (_, index) =>
      new Uint8Array(32).fill(index + 1),
    );
    const fileWith = (client: number): NetworkFile => ({
      ...FILE,
      genesis: { ...FILE.genesis, replicaPublicKeys },
      replicas: replicaPublicKeys.map((_, index) => ({ host: "127.0.0.1", port: index + 1 })),
      clients: new Map([[client, new Uint8Array(32).fill(99)]]),
    });
    const good = parseNetworkFile(encodeNetworkFile(fileWith(20)), NOW_MS);
    assert.deepEqual(good.ok ? good.value : good.error, fileWith(20));
    for (const taken of [8, 19]) {
      const bad = parseNetworkFile(encodeNetworkFile(fileWith(taken)), NOW_MS);
      assert.match(bad.ok ? "" : bad.error.map(problemText).join("; "), /clients\[0\]\.principal/);
    }
  });

  const cases: readonly (readonly [string | RegExp, string, RegExp])[] = [
    [/"version": 1/, '"version": 2', /^version must be 1$/],
    [/"chainId": 5000/, '"chainId": 0', /GENESIS_CHAIN_ID_OUT_OF_RANGE/],
    [/"timestamp": "2022/, '"timestamp": "2027', /GENESIS_TIMESTAMP_IN_FUTURE/],
    [/"timestamp": "2022-12/, '"timestamp": "2022-13', /genesis.timestamp must be YYYY-MM-DD/],
    [/"port": 3/, '"port": 0', /^replicas\[2\]\.port must be a whole number, 1 to 65535$/],
    [/"principal": 8/, '"principal": 3', /^clients\[0\]\.principal must be/],
    [/"blockchainId": "test",/, "", /^blockchainId is missing$/],
    [/"blockchainId"/, '"surprise": 1, "blockchainId"', /^surprise is not known$/],
    [/"isReadPermissioned": false/, '"isReadPermissioned": "no"', /must be true or false$/],
    [/"0x0707/, '"0x07', /^genesisBlockHash must be 0x-hex of 32 bytes$/],
  ];
  for (const [found, replacement, words] of cases) {
    it(`refuses ${replacement === "" ? "a missing name" : replacement}`, () => {
      const problems = problemsWith(found, replacement);
      assert.equal(problems.length, 1, problems.join("; "));
      assert.match(problems[0]!, words);
    });
  }

  it("never throws, whatever the text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        assert.equal(parseNetworkFile(text, NOW_MS).ok, false);
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  it("writes timestamps as parseTimestamp reads them", () => {
    const seconds = fc.bigInt({ min: 0n, max: 253_402_300_799n });
    fc.assert(
      fc.property(seconds, (value) => {
        assert.deepEqual(parseTimestamp(timestampToText(value)), { ok: true, value });
      }),
      { seed: 7, numRuns: 2_000 },
    );
  });
});
