import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { hexToBytes } from "../../../src/base/hex.ts";
import {
  addressToBytes,
  addressToChecksumHex,
  addressToHex,
  bytesToAddress,
  createdAddress,
  parseAddress,
  publicKeyToAddress,
} from "../../../src/chain/address.ts";
import { publicKeyOf } from "../../../src/crypto/secp256k1.ts";

describe("address", () => {
  it("is the same as number, bytes and text", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 160n - 1n }), (address) => {
        assert.equal(bytesToAddress(addressToBytes(address)), address);
        assert.equal(parseAddress(addressToHex(address)), address);
        assert.equal(parseAddress(addressToChecksumHex(address)), address);
        assert.deepEqual(addressToBytes(address), hexToBytes(addressToHex(address)));
      }),
    );
  });

  it("refuses text of another length or alphabet", () => {
    for (const text of [
      "0x",
      "0x00",
      `0x${"00".repeat(21)}`,
      "00".repeat(20),
      "0x" + "zz".repeat(20),
    ]) {
      assert.equal(parseAddress(text), undefined, text);
    }
  });

  it("has the checksum of EIP-55's examples", () => {
    for (const text of [
      "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
      "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
      "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ]) {
      assert.equal(addressToChecksumHex(BigInt(text)), text);
    }
  });

  it("of a private key is the last 20 bytes of its public key's hash", () => {
    const key = new Uint8Array(32);
    key[31] = 1;
    assert.equal(publicKeyToAddress(publicKeyOf(key)), 0x7e5f4552091a69125d5dfcb7b8c2659029395bdfn);
  });

  it("of a created contract depends on the creator and its nonce", () => {
    const creator = 0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0n;
    assert.equal(createdAddress(creator, 0n), 0xcd234a471b72ba2f1ccf0a70fcaba648a5eecd8dn);
    assert.equal(createdAddress(creator, 1n), 0x343c43a37d37dff08ae8c4a11544c718abb4fcf8n);
  });
});
