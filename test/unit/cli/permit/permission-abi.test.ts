import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bytesToHex, hexToBytes } from "../../../../src/base/hex.ts";
import { addressToHex } from "../../../../src/chain/address.ts";
import {
  decodeChange,
  decodeList,
  decodeRefusal,
  encodeChange,
  encodeList,
} from "../../../../src/cli/permit/permission-abi.ts";
import {
  formatActions,
  formatParty,
  parseActions,
  parseParty,
} from "../../../../src/cli/permit/permission-text.ts";
import { PERMISSIONS } from "../../execution/permissioned-chain.ts";

const FROM = 0x1111111111111111111111111111111111111111n;
const TO = 0x2222222222222222222222222222222222222222n;

describe("the ABI of the permission contract", () => {
  it("encodes calls as another library does from the checked-in ABI", () => {
    for (const method of ["grantPermissions", "revokePermissions", "updatePermissions"] as const) {
      const values = [addressToHex(FROM), addressToHex(TO), 3];
      assert.equal(
        encodeChange(method, { from: FROM, to: TO, rights: 3 }),
        PERMISSIONS.encodeFunctionData(method, values),
      );
    }
    assert.equal(encodeList(7, 200), PERMISSIONS.encodeFunctionData("listPermissions", [7, 200]));
  });

  it("decodes lists, and nothing else as a list", () => {
    for (const count of [0, 1, 3]) {
      const entries = Array.from({ length: count }, (_, index) => ({
        from: FROM + BigInt(index),
        to: TO,
        rights: index + 1,
      }));
      const values = entries.map(({ from, to, rights }) => [
        addressToHex(from),
        addressToHex(to),
        rights,
      ]);
      const output = hexToBytes(PERMISSIONS.encodeFunctionResult("listPermissions", [values]));
      assert.deepEqual(decodeList(output), entries, `${count} entries`);
      assert.equal(decodeList(output.subarray(1)), undefined);
      assert.equal(decodeList(new Uint8Array([...output, ...new Uint8Array(32)])), undefined);
    }
    assert.equal(decodeList(new Uint8Array(0)), undefined);
    assert.equal(decodeList(new Uint8Array(64).fill(255)), undefined);
  });

  it("decodes the event of a change, and no other", () => {
    const values = [addressToHex(FROM), addressToHex(TO), addressToHex(FROM), 1, 3];
    const { topics, data } = PERMISSIONS.encodeEventLog("PermissionsUpdated", values);
    const words = topics.map((topic) => BigInt(topic));
    const bytes = hexToBytes(data);
    assert.deepEqual(decodeChange(words, bytes), { from: FROM, to: TO, previous: 1, current: 3 });
    assert.equal(decodeChange([1n, ...words.slice(1)], bytes), undefined);
    assert.equal(decodeChange(words.slice(0, 2), bytes), undefined);
    assert.equal(decodeChange(words, bytes.subarray(32)), undefined);
  });

  it("knows why the contract reverted", () => {
    const from = addressToHex(FROM);
    assert.equal(decodeRefusal(PERMISSIONS.encodeErrorResult("NotAdmin", [from])), "NotAdmin");
    assert.equal(decodeRefusal(PERMISSIONS.encodeErrorResult("LastAdmin", [])), "LastAdmin");
    const notGrantable = PERMISSIONS.encodeErrorResult("ActionNotGrantable", [from, from, 4]);
    assert.equal(decodeRefusal(notGrantable), "ActionNotGrantable");
    for (const output of ["0x", "0x12345678", "", bytesToHex(new Uint8Array(36))]) {
      assert.equal(decodeRefusal(output), undefined, output);
    }
  });
});

describe("rights as people write them", () => {
  it("are names with commas between them", () => {
    const cases: readonly [string, number][] = [
      ["read", 1],
      ["read,write", 3],
      ["Write, Deploy", 6],
      ["admin", 8],
      ["all", 15],
    ];
    for (const [text, bits] of cases) assert.equal(parseActions(text), bits, text);
    for (const text of ["", "reads", "read,", "1", "read write"]) {
      assert.equal(parseActions(text), undefined, text);
    }
    assert.equal(formatActions(15), "read,write,deploy,admin");
    assert.equal(formatActions(0), "nothing");
  });

  it("belong to an address or to any", () => {
    assert.equal(parseParty("any"), 0n);
    assert.equal(parseParty(addressToHex(FROM)), FROM);
    assert.equal(parseParty("bob"), undefined);
    assert.equal(formatParty(0n), "any");
    assert.equal(formatParty(FROM), addressToHex(FROM));
  });
});
