/**
 * secp256k1 in JavaScript (@noble/curves): the fallback where the native binding is missing, and
 * the reference in tests. It accepts and recovers exactly what the native one does.
 */
import { createRequire } from "node:module";
import type * as Curves from "@noble/curves/secp256k1.js";
import type { Secp256k1 } from "./secp256k1-curve.ts";

/** Loaded on demand: it costs 30 ms of start-up that a node with the native binding never needs. */
export function loadNobleSecp256k1(): Secp256k1 {
  const { secp256k1 } = createRequire(import.meta.url)(
    "@noble/curves/secp256k1.js",
  ) as typeof Curves;
  const options = { prehash: false, lowS: true, format: "recovered" } as const;
  return {
    isNative: false,
    recoverPublicKey(hash, signature, recoveryId) {
      try {
        const parsed = secp256k1.Signature.fromBytes(signature, "compact");
        return parsed.addRecoveryBit(recoveryId).recoverPublicKey(hash).toBytes(false).subarray(1);
      } catch {
        return undefined;
      }
    },
    sign(hash, privateKey) {
      const recovered = secp256k1.sign(hash, privateKey, options);
      return { signature: recovered.slice(1), recoveryId: recovered[0] ?? 0 };
    },
    publicKeyOf: (privateKey) => secp256k1.getPublicKey(privateKey, false).subarray(1),
  };
}
