import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { bytesToHex } from "../../../../src/base/hex.ts";
import type { GenesisAccount } from "../../../../src/chain/genesis.ts";
import { mergeAccounts } from "../../../../src/local-network/alloc-file.ts";
import { dumpToAlloc } from "../../../../src/cli/genesis-alloc/dump-to-alloc.ts";

const HOLDER = "0x1111111111111111111111111111111111111111";
const TOKEN = "0x2222222222222222222222222222222222222222";

const EXPECTED: readonly GenesisAccount[] = [
  {
    address: BigInt(HOLDER),
    balance: 1_000_000_000_000_000_000_000n,
    carried: { isAdmin: false, nonce: 4n, code: new Uint8Array(0), storage: [] },
  },
  {
    address: BigInt(TOKEN),
    balance: 0n,
    carried: {
      isAdmin: false,
      nonce: 1n,
      code: Uint8Array.of(0x60, 0x01),
      storage: [
        [0n, 10n],
        [5n, 2n ** 255n],
      ],
    },
  },
];

/** What geth's debug_dumpBlock answers: decimal balances, storage without 0x. */
const GETH = {
  root: "f00d",
  accounts: {
    [TOKEN]: {
      balance: "0",
      nonce: 1,
      root: "0x00",
      codeHash: "0x00",
      code: "0x6001",
      storage: {
        "0x0000000000000000000000000000000000000000000000000000000000000005": `80${"00".repeat(31)}`,
        "0x0000000000000000000000000000000000000000000000000000000000000000": "0a",
        "0x0000000000000000000000000000000000000000000000000000000000000007": "00",
      },
    },
    [HOLDER]: { balance: "1000000000000000000000", nonce: 4, root: "0x00", codeHash: "0x00" },
  },
};

/** A genesis file of Besu: no 0x before addresses, hex balances. */
const BESU = {
  config: { chainId: 1 },
  alloc: {
    [HOLDER.slice(2)]: { balance: "0x3635c9adc5dea00000", nonce: "0x4", comment: "a holder" },
    [TOKEN.slice(2)]: {
      nonce: "1",
      code: "6001",
      storage: { "0x00": "0x0a", "0x05": `0x80${"00".repeat(31)}` },
    },
  },
};

const ANVIL = {
  block: {},
  accounts: {
    [HOLDER]: { nonce: 4, balance: "0x3635c9adc5dea00000", code: "0x", storage: {} },
    [TOKEN]: {
      nonce: 1,
      balance: "0x0",
      code: "0x6001",
      storage: { "0x0": "0xa", "0x5": `0x80${"00".repeat(31)}` },
    },
  },
};

describe("a dump of another chain's state", () => {
  const forms: readonly (readonly [string, unknown])[] = [
    ["geth's debug_dumpBlock", GETH],
    ["the answer of JSON-RPC that it came in", { jsonrpc: "2.0", id: 1, result: GETH }],
    [
      "what geth dump prints",
      ['{"root":"0xf00d"}', ...Object.entries(GETH.accounts).map(lineOf), ""].join("\n"),
    ],
    ["a genesis file of Besu", BESU],
    ["the alloc of a genesis alone", BESU.alloc],
    ["the state of Anvil", ANVIL],
    [
      "the compressed answer of anvil_dumpState",
      { id: 1, result: bytesToHex(gzipSync(Buffer.from(JSON.stringify(ANVIL)))) },
    ],
  ];
  for (const [name, dump] of forms) {
    it(`${name} becomes the same accounts, none of them an admin`, () => {
      const alloc = dumpToAlloc(typeof dump === "string" ? dump : JSON.stringify(dump));
      assert.ok(alloc.ok);
      assert.deepEqual(alloc.value.accounts, EXPECTED);
    });
  }

  it("leaves out empty accounts and what belongs to its own chain", () => {
    const accounts = {
      "0x0000000000000000000000000000000000000001": { balance: "1" },
      "0x0000f90827f1c53a10cb7a02335b175320002935": { code: "0x60", nonce: 1 },
      "0x0071756f726174652e7065726d697373696f6e73": { code: "0x60", storage: { "0x0": "0x1" } },
      "0x3333333333333333333333333333333333333333": { balance: "0" },
      [HOLDER]: { balance: "7" },
    };
    const alloc = dumpToAlloc(JSON.stringify({ accounts }));
    assert.ok(alloc.ok);
    assert.deepEqual(
      alloc.value.accounts.map(({ address }) => address),
      [BigInt(HOLDER)],
    );
    assert.equal(alloc.value.leftOut.length, 3);
  });

  const refused: readonly (readonly [string, unknown, RegExp])[] = [
    ["no JSON", "{", /no dump that is known/],
    ["JSON of another kind", [1], /no dump that is known/],
    [
      "a dump that geth cut off",
      { result: { ...GETH, next: "0XeJ8lWb" } },
      /ends after 2 accounts/,
    ],
    ["broken compression", { result: "0x1f8b00" }, /no dump that is known/],
    ["an account without its address", { accounts: { "pre(0x12)": {} } }, /--cache\.preimages/],
    ["a balance that is none", { accounts: { [HOLDER]: { balance: "many" } } }, /balance/],
    ["a negative nonce", { accounts: { [HOLDER]: { nonce: -1 } } }, /nonce/],
    ["code that is no hex", { accounts: { [HOLDER]: { code: "0xzz" } } }, /code/],
    ["storage that is no hex", { accounts: { [HOLDER]: { storage: { a: 1 } } } }, /storage\.a/],
    [
      "a balance above 256 bits",
      { accounts: { [HOLDER]: { balance: "9".repeat(78) } } },
      /balance/,
    ],
  ];
  for (const [name, dump, message] of refused) {
    it(`${name} is refused with its place`, () => {
      const alloc = dumpToAlloc(typeof dump === "string" ? dump : JSON.stringify(dump));
      assert.ok(!alloc.ok);
      assert.match(alloc.error.map((problem) => problem.path + problem.message).join(), message);
    });
  }

  it("an account that is an admin already keeps that right and takes the rest along", () => {
    const admin = { address: BigInt(HOLDER), balance: 5n };
    const merged: readonly GenesisAccount[] = mergeAccounts([admin], EXPECTED);
    assert.equal(merged.length, 2);
    assert.equal(merged[0]?.carried?.isAdmin, true);
    assert.equal(merged[0].carried.nonce, 4n);
    assert.equal(merged[1]?.address, BigInt(TOKEN));
  });
});

function lineOf([address, account]: readonly [string, object]): string {
  return JSON.stringify({ ...account, address });
}
