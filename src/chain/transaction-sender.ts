/** Who signed: the sender of a transaction, the authority of an EIP-7702 authorization. */
import { readBigEndian, writeBigEndian } from "../base/big-endian.ts";
import { invariant } from "../base/invariant.ts";
import { err, ok, type Result } from "../base/result.ts";
import { keccak256 } from "../crypto/keccak256.ts";
import { recoverPublicKey, sign } from "../crypto/secp256k1.ts";
import { addressToBytes, publicKeyToAddress } from "./address.ts";
import { hashRlp } from "./rlp/rlp.ts";
import { decodeTransaction, SECP256K1_HALF_ORDER } from "./transaction-decoder.ts";
import { signingHash } from "./transaction-encoder.ts";
import type { TransactionError } from "./transaction-error.ts";
import type { Authorization, Transaction, UnsignedTransaction } from "./transaction.ts";

/** A transaction with what costs time to find out: pools and blocks carry it in this form. */
export type RecoveredTransaction = {
  readonly transaction: Transaction;
  readonly encoded: Uint8Array;
  readonly hash: Uint8Array;
  readonly sender: bigint;
};

const AUTHORIZATION_MAGIC = 0x05;
const UINT64_MAX = 2n ** 64n - 1n;

/** Filled and read within one synchronous call. */
const signatureBytes = new Uint8Array(64);

/** Decodes, hashes and recovers. The result keeps views into `encoded`: do not change it after. */
export function recoverTransaction(
  encoded: Uint8Array,
): Result<RecoveredTransaction, TransactionError> {
  const decoded = decodeTransaction(encoded);
  if (!decoded.ok) return decoded;
  const sender = recoverSender(decoded.value);
  if (sender === undefined) return err({ code: "TX_SENDER_UNRECOVERABLE" });
  return ok({ transaction: decoded.value, encoded, hash: keccak256(encoded), sender });
}

/** The sender's address, or undefined if the signature belongs to no key. */
export function recoverSender(transaction: Transaction): bigint | undefined {
  return recoverAddress(
    signingHash(transaction),
    transaction.r,
    transaction.s,
    transaction.yParity,
  );
}

/**
 * The account that consents, or undefined where EIP-7702 skips the authorization: another chain, a
 * nonce that can never be reached, a signature that is high, out of range or of no key.
 */
export function recoverAuthority(
  authorization: Authorization,
  chainId: bigint,
): bigint | undefined {
  const { nonce, yParity, r, s } = authorization;
  if (authorization.chainId !== 0n && authorization.chainId !== chainId) return undefined;
  if (nonce >= UINT64_MAX || yParity > 1 || s > SECP256K1_HALF_ORDER) return undefined;
  return recoverAddress(authorizationHash(authorization), r, s, yParity);
}

/** What an account signs to let `address` hold its code (EIP-7702). */
export function authorizationHash(
  authorization: Pick<Authorization, "chainId" | "address" | "nonce">,
): Uint8Array {
  const { chainId, address, nonce } = authorization;
  return hashRlp([chainId, addressToBytes(address), nonce], AUTHORIZATION_MAGIC);
}

/** For accounts the node holds itself, and for tests. */
export function signTransaction(
  transaction: UnsignedTransaction,
  privateKey: Uint8Array,
): Transaction {
  return { ...transaction, ...signHash(signingHash(transaction), privateKey) };
}

export function signAuthorization(
  authorization: Pick<Authorization, "chainId" | "address" | "nonce">,
  privateKey: Uint8Array,
): Authorization {
  return { ...authorization, ...signHash(authorizationHash(authorization), privateKey) };
}

function signHash(
  hash: Uint8Array,
  privateKey: Uint8Array,
): { readonly yParity: 0 | 1; readonly r: bigint; readonly s: bigint } {
  const { signature, recoveryId } = sign(hash, privateKey);
  // Ids 2 and 3 need an r above the order: a chance of 2^-128 that no hash is known to hit.
  invariant(recoveryId === 0 || recoveryId === 1, "the signature has a plain parity");
  const r = readBigEndian(signature, 0, 32);
  return { yParity: recoveryId, r, s: readBigEndian(signature, 32, 32) };
}

function recoverAddress(
  hash: Uint8Array,
  r: bigint,
  s: bigint,
  yParity: number,
): bigint | undefined {
  writeBigEndian(r, signatureBytes, 0, 32);
  writeBigEndian(s, signatureBytes, 32, 32);
  const publicKey = recoverPublicKey(hash, signatureBytes, yParity);
  return publicKey === undefined ? undefined : publicKeyToAddress(publicKey);
}
