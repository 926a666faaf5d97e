/**
 * secp256k1 by libsecp256k1 compiled to a native addon. The binding is imported by its own path:
 * the package's main entry silently falls back to a JavaScript curve that is 30 times slower.
 */
import { createRequire } from "node:module";
import type { Secp256k1 } from "./secp256k1-curve.ts";

type Binding = {
  ecdsaRecover(
    signature: Uint8Array,
    recoveryId: number,
    hash: Uint8Array,
    compressed: boolean,
    output: Uint8Array,
  ): Uint8Array;
  ecdsaSign(hash: Uint8Array, key: Uint8Array): { signature: Uint8Array; recid: number };
  publicKeyCreate(key: Uint8Array, compressed: boolean): Uint8Array;
};

/**
 * Filled and read within one synchronous call. The arguments of a binding must be outside the
 * engine's heap: small arrays would be moved there, one allocation for each.
 */
const hashBytes = Buffer.alloc(32);
const publicKeyBytes = new Uint8Array(65);

/** The native implementation, or undefined on a platform without a binary of it. */
export function loadNativeSecp256k1(): Secp256k1 | undefined {
  let binding: Binding;
  try {
    binding = createRequire(import.meta.url)("secp256k1/bindings") as Binding;
  } catch {
    return undefined;
  }
  return {
    isNative: true,
    recoverPublicKey(hash, signature, recoveryId) {
      hashBytes.set(hash);
      try {
        binding.ecdsaRecover(signature, recoveryId, hashBytes, false, publicKeyBytes);
      } catch {
        return undefined; // the binding reports bad r, s and unrecoverable points by throwing
      }
      return publicKeyBytes.slice(1);
    },
    sign(hash, privateKey) {
      const { signature, recid } = binding.ecdsaSign(hash, privateKey);
      return { signature, recoveryId: recid };
    },
    publicKeyOf: (privateKey) => binding.publicKeyCreate(privateKey, false).subarray(1),
  };
}
