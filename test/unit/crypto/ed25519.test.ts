import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { bytesToHex, hexToBytes } from "../../../src/base/hex.ts";
import { createSigner, verify } from "../../../src/crypto/ed25519.ts";

/** RFC 8032, section 7.1: tests 1, 2 and 3. */
const RFC_8032 = [
  {
    seed: "0x9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    publicKey: "0xd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    message: "0x",
    signature:
      "0xe5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  },
  {
    seed: "0x4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    publicKey: "0x3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    message: "0x72",
    signature:
      "0x92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  },
] as const;

const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

describe("ed25519", () => {
  for (const vector of RFC_8032) {
    it(`signs and verifies the RFC 8032 vector of ${vector.message.length / 2 - 1} bytes`, () => {
      const signer = createSigner(hexToBytes(vector.seed));
      const message = hexToBytes(vector.message);
      assert.equal(bytesToHex(signer.publicKey), vector.publicKey);
      assert.equal(bytesToHex(signer.sign(message)), vector.signature);
      assert.ok(verify(signer.publicKey, message, hexToBytes(vector.signature)));
    });
  }

  it("refuses every signature with one flipped bit", () => {
    const signer = createSigner(new Uint8Array(32).fill(3));
    const message = new Uint8Array(40).fill(9);
    const signature = signer.sign(message);
    for (let bit = 0; bit < 512; bit++) {
      const changed = signature.slice();
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.equal(verify(signer.publicKey, message, changed), false, `bit ${bit}`);
    }
  });

  it("refuses the malleated signature whose S is larger by the group order", () => {
    const signer = createSigner(new Uint8Array(32).fill(4));
    const message = new Uint8Array([1, 2, 3]);
    const signature = signer.sign(message);
    const malleated = signature.slice();
    let s = 0n;
    for (let index = 63; index >= 32; index--) s = s * 256n + BigInt(signature[index] ?? 0);
    s += GROUP_ORDER;
    for (let index = 32; index < 64; index++, s >>= 8n) malleated[index] = Number(s & 0xffn);
    assert.ok(verify(signer.publicKey, message, signature));
    assert.equal(verify(signer.publicKey, message, malleated), false);
  });

  it("refuses a key of small order, under which one signature fits every message", () => {
    // The neutral point as key and as R with S = 0 satisfies the bare equation for any message.
    const neutral = new Uint8Array(32);
    neutral[0] = 1;
    const signature = new Uint8Array(64);
    signature[0] = 1;
    assert.equal(verify(neutral, new Uint8Array([5]), signature), false);
  });

  it("answers false for any sizes and bytes, and never throws", () => {
    const bytes = fc.uint8Array({ maxLength: 70 });
    fc.assert(
      fc.property(bytes, bytes, bytes, (publicKey, message, signature) => {
        assert.equal(verify(publicKey, message, signature), false);
      }),
      { numRuns: 300 },
    );
    const signer = createSigner(new Uint8Array(32));
    const signature = signer.sign(new Uint8Array(0));
    const longer = new Uint8Array([...signature, 0]);
    assert.equal(verify(signer.publicKey, new Uint8Array(0), longer), false);
  });

  it("reads views into larger buffers", () => {
    const signer = createSigner(new Uint8Array(32).fill(8));
    const backing = new Uint8Array(100).fill(7);
    const message = backing.subarray(30, 50);
    const signature = signer.sign(message);
    assert.ok(verify(signer.publicKey, new Uint8Array(20).fill(7), signature));
  });
});
