/** Signs for the senders of fuzz cases, and computes the nonces their texts leave open. */
import { bytesToHex, type Hex, hexToBytes } from "../../../src/base/hex.ts";
import { addressToHex, publicKeyToAddress } from "../../../src/chain/address.ts";
import { encodeRlp } from "../../../src/chain/rlp/rlp.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { publicKeyOf, sign } from "../../../src/crypto/secp256k1.ts";
import { type FuzzAuthorization, SENDER_KEYS } from "./fuzz-case.ts";

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** An EIP-7702 authorization as it stands in a transaction. */
export type SignedAuthorization = {
  readonly chainId: bigint;
  readonly address: Hex;
  readonly nonce: bigint;
  readonly yParity: number;
  readonly r: bigint;
  readonly s: bigint;
};

export function senderKey(index: number): Uint8Array {
  return hexToBytes(SENDER_KEYS[index] ?? "0x");
}

export function senderAddress(index: number): Hex {
  return ADDRESSES[index] ?? "0x";
}

const ADDRESSES: readonly Hex[] = SENDER_KEYS.map((key) =>
  addressToHex(publicKeyToAddress(publicKeyOf(hexToBytes(key)))),
);

export function signAuthorization(
  authorization: FuzzAuthorization,
  nonce: bigint,
): SignedAuthorization {
  const { address, spoilt } = authorization;
  const chainId = BigInt(authorization.chainId);
  const body = encodeRlp([chainId, hexToBytes(address), nonce]);
  const message = new Uint8Array(1 + body.length);
  message[0] = 5;
  message.set(body, 1);
  const { signature, recoveryId } = sign(keccak256(message), senderKey(authorization.signer));
  const r = BigInt(bytesToHex(signature.subarray(0, 32)));
  const s = BigInt(bytesToHex(signature.subarray(32)));
  return {
    chainId,
    address,
    nonce,
    yParity: spoilt === "bad-parity" ? 2 : recoveryId,
    r: spoilt === "bad-r" ? CURVE_ORDER + 5n : r,
    s: spoilt === "high-s" ? CURVE_ORDER - s : s,
  };
}
