import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { bytesToHex, hexToBytes } from "../../../src/base/hex.ts";
import { isNative, publicKeyOf, recoverPublicKey, sign } from "../../../src/crypto/secp256k1.ts";
import { loadNativeSecp256k1 } from "../../../src/crypto/secp256k1/secp256k1-native.ts";
import { loadNobleSecp256k1 } from "../../../src/crypto/secp256k1/secp256k1-noble.ts";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const native = loadNativeSecp256k1();
const noble = loadNobleSecp256k1();

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const privateKey = fc.bigInt({ min: 1n, max: ORDER - 1n }).map(word);

function word(value: bigint): Uint8Array {
  return hexToBytes(`0x${value.toString(16).padStart(64, "0")}`);
}

function signatureOf(r: bigint, s: bigint): Uint8Array {
  return new Uint8Array([...word(r), ...word(s)]);
}

describe("secp256k1", () => {
  it("uses the native binding on this machine", () => {
    assert.equal(isNative, native !== undefined);
  });

  it("gives the generator for the private key 1", () => {
    assert.equal(
      bytesToHex(publicKeyOf(word(1n))),
      "0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" +
        "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8",
    );
  });

  it("recovers the signer and signs with low s", () => {
    fc.assert(
      fc.property(hash, privateKey, (message, key) => {
        const { signature, recoveryId } = sign(message, key);
        assert.deepEqual(recoverPublicKey(message, signature, recoveryId), publicKeyOf(key));
        assert.ok(BigInt(bytesToHex(signature.subarray(32))) <= ORDER / 2n);
      }),
      { numRuns: 50 },
    );
  });

  it("native and fallback sign alike and recover alike, whatever the bytes", () => {
    if (native === undefined) return;
    const signature = fc.uint8Array({ minLength: 64, maxLength: 64 });
    const recoveryId = fc.integer({ min: 0, max: 3 });
    fc.assert(
      fc.property(hash, signature, recoveryId, privateKey, (message, random, id, key) => {
        assert.deepEqual(
          native.recoverPublicKey(message, random, id),
          noble.recoverPublicKey(message, random, id),
        );
        assert.deepEqual(native.sign(message, key), noble.sign(message, key));
        assert.deepEqual(native.publicKeyOf(key), noble.publicKeyOf(key));
      }),
      { numRuns: 30 },
    );
  });

  it("native and fallback agree at the edges of r and s", () => {
    if (native === undefined) return;
    const edges = [0n, 1n, ORDER / 2n, ORDER / 2n + 1n, ORDER - 1n, ORDER, ORDER + 1n, 2n ** 255n];
    const message = word(0x1234n);
    for (const r of edges) {
      for (const s of edges) {
        for (const id of [0, 1, 2, 3]) {
          const signature = signatureOf(r, s);
          const got = native.recoverPublicKey(message, signature, id);
          assert.deepEqual(got, noble.recoverPublicKey(message, signature, id), `${r} ${s} ${id}`);
          if (r === 0n || s === 0n || r >= ORDER || s >= ORDER) assert.equal(got, undefined);
        }
      }
    }
  });

  it("accepts high s, because the ecrecover precompile does", () => {
    const key = word(99n);
    const message = word(7n);
    const { signature, recoveryId } = sign(message, key);
    const s = BigInt(bytesToHex(signature.subarray(32)));
    const high = new Uint8Array([...signature.subarray(0, 32), ...word(ORDER - s)]);
    assert.deepEqual(recoverPublicKey(message, high, 1 - recoveryId), publicKeyOf(key));
  });

  it("answers undefined for wrong sizes and recovery ids instead of throwing", () => {
    const { signature } = sign(word(7n), word(5n));
    assert.equal(recoverPublicKey(word(7n).subarray(1), signature, 0), undefined);
    assert.equal(recoverPublicKey(word(7n), signature.subarray(1), 0), undefined);
    for (const id of [-1, 4, 0.5, Number.NaN]) {
      assert.equal(recoverPublicKey(word(7n), signature, id), undefined, String(id));
    }
  });
});
