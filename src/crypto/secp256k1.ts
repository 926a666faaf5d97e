import { invariant } from "../base/invariant.ts";
import type { RecoverableSignature } from "./secp256k1/secp256k1-curve.ts";
import { loadNativeSecp256k1 } from "./secp256k1/secp256k1-native.ts";
import { loadNobleSecp256k1 } from "./secp256k1/secp256k1-noble.ts";

const HASH_SIZE = 32;
const PRIVATE_KEY_SIZE = 32;
const SIGNATURE_SIZE = 64;

const curve = loadNativeSecp256k1() ?? loadNobleSecp256k1();

/**
 * False when the slow fallback is in use: 2-3 ms a recovery instead of 0.08. The caller must warn.
 */
export const isNative: boolean = curve.isNative;

/**
 * The 64-byte public key (x and y, no prefix) whose owner signed the hash, or undefined when no
 * key could have. Both halves of s are accepted here: the EVM's ecrecover needs that, and
 * transactions check the half themselves.
 */
export function recoverPublicKey(
  hash: Uint8Array,
  signature: Uint8Array,
  recoveryId: number,
): Uint8Array | undefined {
  if (hash.length !== HASH_SIZE || signature.length !== SIGNATURE_SIZE) return undefined;
  if (!Number.isInteger(recoveryId) || recoveryId < 0 || recoveryId > 3) return undefined;
  return curve.recoverPublicKey(hash, signature, recoveryId);
}

/** Deterministic (RFC 6979), low s. For accounts the node holds itself: dev accounts and tests. */
export function sign(hash: Uint8Array, privateKey: Uint8Array): RecoverableSignature {
  invariant(hash.length === HASH_SIZE, "a signed hash has 32 bytes");
  invariant(privateKey.length === PRIVATE_KEY_SIZE, "a private key has 32 bytes");
  return curve.sign(hash, privateKey);
}

/** The 64-byte public key of a private key that is in 1 .. order-1. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  invariant(privateKey.length === PRIVATE_KEY_SIZE, "a private key has 32 bytes");
  return curve.publicKeyOf(privateKey);
}
