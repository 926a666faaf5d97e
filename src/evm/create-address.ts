/** The addresses of new contracts. */
import { keccak256 } from "../crypto/keccak256.ts";
import { ADDRESS_MASK, bytesToWord, writeWord } from "./word.ts";

/** CREATE: the hash of the RLP list of the creator and the nonce it used. */
export function createAddress(creator: bigint, nonce: bigint): bigint {
  const nonceBytes = encodeNonce(nonce);
  const bytes = new Uint8Array(22 + nonceBytes.length);
  bytes[0] = 0xc0 + 21 + nonceBytes.length;
  bytes[1] = 0x80 + 20;
  bytes.set(addressToBytes(creator), 2);
  bytes.set(nonceBytes, 22);
  return bytesToWord(keccak256(bytes)) & ADDRESS_MASK;
}

/** EIP-1014. */
export function create2Address(creator: bigint, salt: bigint, initCode: Uint8Array): bigint {
  const bytes = new Uint8Array(85);
  bytes[0] = 0xff;
  bytes.set(addressToBytes(creator), 1);
  writeWord(new DataView(bytes.buffer), 21, salt);
  bytes.set(keccak256(initCode), 53);
  return bytesToWord(keccak256(bytes)) & ADDRESS_MASK;
}

/** RLP of an integer: no leading zeros, and one byte below 0x80 stands for itself. */
function encodeNonce(nonce: bigint): Uint8Array {
  if (nonce === 0n) return Uint8Array.of(0x80);
  if (nonce < 0x80n) return Uint8Array.of(Number(nonce));
  const bytes: number[] = [];
  for (let rest = nonce; rest > 0n; rest >>= 8n) bytes.unshift(Number(rest & 0xffn));
  return Uint8Array.of(0x80 + bytes.length, ...bytes);
}

function addressToBytes(address: bigint): Uint8Array {
  const bytes = new Uint8Array(32);
  writeWord(new DataView(bytes.buffer), 0, address);
  return bytes.subarray(12);
}
