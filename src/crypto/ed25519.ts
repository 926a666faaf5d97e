/**
 * Ed25519 by libsodium only: implementations differ in what they accept at the edges, and replicas
 * that disagree about one signature disagree about a certificate. libsodium checks the equation
 * without the cofactor and refuses a scalar S at or above the group order, public keys and points R
 * of small order, and non-canonical public keys. It is also twice as fast as node:crypto with
 * cached key objects.
 */
import { createRequire } from "node:module";
import { invariant } from "../base/invariant.ts";

export const ED25519_SEED_SIZE = 32;
export const ED25519_PUBLIC_KEY_SIZE = 32;
const ED25519_SIGNATURE_SIZE = 64;
const SECRET_KEY_SIZE = 64;

type Sodium = {
  crypto_sign_seed_keypair(publicKey: Uint8Array, secretKey: Uint8Array, seed: Uint8Array): void;
  crypto_sign_detached(signature: Uint8Array, message: Uint8Array, secretKey: Uint8Array): void;
  crypto_sign_verify_detached(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array,
  ): boolean;
};

const sodium = createRequire(import.meta.url)("sodium-native") as Sodium;

export type Signer = {
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
};

/** The key pair of a seed. The secret stays inside: it can be used, not read or logged. */
export function createSigner(seed: Uint8Array): Signer {
  invariant(seed.length === ED25519_SEED_SIZE, "an Ed25519 seed has 32 bytes");
  const publicKey = new Uint8Array(ED25519_PUBLIC_KEY_SIZE);
  const secretKey = new Uint8Array(SECRET_KEY_SIZE);
  sodium.crypto_sign_seed_keypair(publicKey, secretKey, seed);
  return {
    publicKey,
    sign(message) {
      const signature = new Uint8Array(ED25519_SIGNATURE_SIZE);
      sodium.crypto_sign_detached(signature, message, secretKey);
      return signature;
    },
  };
}

/**
 * Whether the owner of the key signed the message. Sizes are checked here: the addon would throw,
 * and it would read a longer signature as if its tail were not there.
 */
export function verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== ED25519_PUBLIC_KEY_SIZE) return false;
  if (signature.length !== ED25519_SIGNATURE_SIZE) return false;
  return sodium.crypto_sign_verify_detached(signature, message, publicKey);
}
