/**
 * Addresses are 160-bit unsigned bigints throughout the node: they are Map keys, they are on the
 * EVM's stack, and comparing them is one instruction. Bytes exist only at the edges.
 */
import { readBigEndian, writeBigEndian } from "../base/big-endian.ts";
import { bytesToHex, parseHex, type Hex } from "../base/hex.ts";
import { invariant } from "../base/invariant.ts";
import { keccak256, keccak256Word } from "../crypto/keccak256.ts";
import { encodeRlp } from "./rlp/rlp.ts";

export const ADDRESS_SIZE = 20;
export const ZERO_ADDRESS = 0n;

export function addressToBytes(address: bigint): Uint8Array {
  const bytes = new Uint8Array(ADDRESS_SIZE);
  writeBigEndian(address, bytes, 0, ADDRESS_SIZE);
  return bytes;
}

export function bytesToAddress(bytes: Uint8Array): bigint {
  invariant(bytes.length === ADDRESS_SIZE, "an address has 20 bytes");
  return readBigEndian(bytes, 0, ADDRESS_SIZE);
}

export function addressToHex(address: bigint): Hex {
  return `0x${address.toString(16).padStart(2 * ADDRESS_SIZE, "0")}`;
}

/** The address in `0x`-prefixed text of either case, or undefined if it is anything else. */
export function parseAddress(text: string): bigint | undefined {
  const bytes = parseHex(text);
  return bytes?.length === ADDRESS_SIZE ? bytesToAddress(bytes) : undefined;
}

/** Mixed-case text whose capitals are a checksum (EIP-55): what wallets show. */
export function addressToChecksumHex(address: bigint): Hex {
  const digits = addressToHex(address).slice(2);
  const ascii = Uint8Array.from(digits, (digit) => digit.charCodeAt(0));
  const hash = bytesToHex(keccak256(ascii)).slice(2);
  let text: Hex = "0x";
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charAt(index);
    text += hash.charAt(index) >= "8" ? digit.toUpperCase() : digit;
  }
  return text;
}

/** The account of a 64-byte public key: the last 20 bytes of its hash. */
export function publicKeyToAddress(publicKey: Uint8Array): bigint {
  return BigInt.asUintN(160, keccak256Word(publicKey, 0, publicKey.length));
}

/** The address of a contract created by a transaction of this sender and nonce. */
export function createdAddress(sender: bigint, nonce: bigint): bigint {
  const encoded = encodeRlp([addressToBytes(sender), nonce]);
  return BigInt.asUintN(160, keccak256Word(encoded, 0, encoded.length));
}
