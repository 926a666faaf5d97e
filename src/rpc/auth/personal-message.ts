/** Text that a wallet signs for its owner (EIP-191, `personal_sign`). */
import { readBigEndian } from "../../base/big-endian.ts";
import { concatBytes } from "../../base/bytes.ts";
import { publicKeyToAddress } from "../../chain/address.ts";
import { keccak256 } from "../../crypto/keccak256.ts";
import { recoverPublicKey } from "../../crypto/secp256k1.ts";

const SIGNATURE_SIZE = 65;
/** Half of the curve's order: each signature has a twin above it, which no wallet produces. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

export function personalMessageHash(text: string): Uint8Array {
  const message = new TextEncoder().encode(text);
  const prefix = `\u0019Ethereum Signed Message:\n${message.length}`;
  return keccak256(concatBytes(new TextEncoder().encode(prefix), message));
}

/** The account that signed the text, or undefined if no account can have. */
export function recoverPersonalSigner(text: string, signature: Uint8Array): bigint | undefined {
  if (signature.length !== SIGNATURE_SIZE) return undefined;
  if (readBigEndian(signature, 32, 32) > HALF_ORDER) return undefined;
  const v = signature[SIGNATURE_SIZE - 1] ?? 0;
  // Wallets say 27 or 28; some hardware says 0 or 1.
  const recoveryId = v >= 27 ? v - 27 : v;
  if (recoveryId > 1) return undefined;
  const publicKey = recoverPublicKey(
    personalMessageHash(text),
    signature.subarray(0, SIGNATURE_SIZE - 1),
    recoveryId,
  );
  return publicKey === undefined ? undefined : publicKeyToAddress(publicKey);
}
