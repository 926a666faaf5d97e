import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseWantedNetwork } from "../../../../src/cli/cluster-init/wanted-network.ts";
import { problemText } from "../../../../src/config/config-problem.ts";

const TEXT = JSON.stringify({
  release: "demo",
  blockchainId: "demo",
  genesis: {
    chainId: 5000,
    timestamp: "2022-12-02 00:01:00",
    gasLimit: 60_000_000,
    alloc: [{ address: `0x${"11".repeat(20)}`, balance: "9007199254740993" }],
    isWritePermissioned: true,
    isReadPermissioned: false,
  },
  replicas: [{ host: "demo-replica-0", port: 3501 }],
  secrets: { keys: "demo-keys", admin: "demo-admin", network: "demo-network" },
  makesKeys: true,
});

describe("what the chart asks for", () => {
  it("is read, with amounts above 2^53 exact", () => {
    const parsed = parseWantedNetwork(TEXT);
    assert.ok(parsed.ok);
    assert.deepEqual(parsed.value.genesis, {
      chainId: 5000n,
      timestamp: 1_669_939_260n,
      gasLimit: 60_000_000n,
      alloc: [{ address: BigInt(`0x${"11".repeat(20)}`), balance: 9_007_199_254_740_993n }],
      isWritePermissioned: true,
      isReadPermissioned: false,
    });
    assert.deepEqual(parsed.value.replicas, [{ host: "demo-replica-0", port: 3501 }]);
  });

  const cases: readonly (readonly [string, string, RegExp])[] = [
    ["2022-12", "2022-13", /^genesis\.timestamp must be YYYY-MM-DD/],
    ['"balance"', '"ballance"', /^genesis\.alloc\[0\]\.balance is missing$/],
    ['"0x11', '"0x', /^genesis\.alloc\[0\]\.address must be 0x-hex of 20 bytes$/],
    ['"chainId"', '"transactionGasMax":1,"chainId"', /^genesis\.transactionGasMax is not known$/],
    ["3501", "65536", /^replicas\[0\]\.port must be a whole number, 1 to 65535$/],
    ['"host"', '"name":"x","host"', /^replicas\[0\]\.name is not known$/],
    ['"makesKeys":true', '"makesKeys":"yes"', /^makesKeys must be true or false$/],
  ];
  for (const [found, replacement, words] of cases) {
    it(`is refused with ${replacement} for ${found}, by its path`, () => {
      const changed = TEXT.replace(found, replacement);
      assert.notEqual(changed, TEXT, "the text is there");
      const parsed = parseWantedNetwork(changed);
      const problems = parsed.ok ? [] : parsed.error.map(problemText);
      assert.match(problems[0] ?? "no problem", words, problems.join("; "));
    });
  }
});
