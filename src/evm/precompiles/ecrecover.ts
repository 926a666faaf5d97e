import { keccak256 } from "../../crypto/keccak256.ts";
import { recoverPublicKey } from "../../crypto/secp256k1.ts";
import type { Precompile } from "../precompile.ts";
import { inputWindow } from "./input-window.ts";

const NO_ADDRESS = new Uint8Array(0);
const V_OFFSET = 32;
const V_LAST = 63;
const SIGNATURE_OFFSET = 64;

/**
 * 0x01: the address that signed a hash. What cannot be recovered is an empty answer, not a failure.
 */
export const ecrecover: Precompile = {
  name: "ecrecover",
  gasCost: () => 3000,
  run(input) {
    const window = inputWindow(input, 0, 128);
    for (let index = V_OFFSET; index < V_LAST; index++) if (window[index] !== 0) return NO_ADDRESS;
    const recoveryId = (window[V_LAST] ?? 0) - 27;
    if (recoveryId !== 0 && recoveryId !== 1) return NO_ADDRESS;
    const hash = window.subarray(0, 32);
    const signature = window.subarray(SIGNATURE_OFFSET);
    const publicKey = recoverPublicKey(hash, signature, recoveryId);
    if (publicKey === undefined) return NO_ADDRESS;
    const address = keccak256(publicKey).slice();
    address.fill(0, 0, 12);
    return address;
  },
};
