/**
 * Ten funded accounts for development. Their keys come from a phrase that every Ethereum developer
 * knows, so wallets and tools have them already, and so has everyone else: they protect nothing.
 */
import { createHmac, pbkdf2Sync } from "node:crypto";
import { readBigEndian, writeBigEndian } from "../base/big-endian.ts";
import { concatBytes } from "../base/bytes.ts";
import { publicKeyToAddress } from "../chain/address.ts";
import { publicKeyOf } from "../crypto/secp256k1.ts";

export const DEV_MNEMONIC = "test test test test test test test test test test test junk";
export const DEV_ACCOUNT_COUNT = 10;

export type DevAccount = { readonly address: bigint; readonly privateKey: Uint8Array };

/** A private key and what its children are made with (BIP-32). */
type ExtendedKey = { readonly key: Uint8Array; readonly chainCode: Uint8Array };

const HARDENED = 0x8000_0000;
/** m/44'/60'/0'/0 (BIP-44): where every Ethereum wallet looks. */
const PARENT_PATH = [HARDENED + 44, HARDENED + 60, HARDENED, 0];
const KEY_SIZE = 32;
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

export function createDevAccounts(): readonly DevAccount[] {
  const parent = PARENT_PATH.reduce(childKey, masterKey(DEV_MNEMONIC));
  return Array.from({ length: DEV_ACCOUNT_COUNT }, (_, index) => {
    const { key: privateKey } = childKey(parent, index);
    return { address: publicKeyToAddress(publicKeyOf(privateKey)), privateKey };
  });
}

/** BIP-39 without a password, then BIP-32. */
function masterKey(mnemonic: string): ExtendedKey {
  const seed = pbkdf2Sync(mnemonic, "mnemonic", 2_048, 64, "sha512");
  return split(
    hmac(
      Uint8Array.from("Bitcoin seed", (char) => char.charCodeAt(0)),
      seed,
    ),
  );
}

function childKey({ key, chainCode }: ExtendedKey, index: number): ExtendedKey {
  const place = new Uint8Array(4);
  new DataView(place.buffer).setUint32(0, index);
  const parent = index >= HARDENED ? concatBytes(Uint8Array.of(0), key) : compressedPoint(key);
  const derived = split(hmac(chainCode, concatBytes(parent, place)));
  const sum = (toNumber(derived.key) + toNumber(key)) % CURVE_ORDER;
  const child = new Uint8Array(KEY_SIZE);
  writeBigEndian(sum, child, 0, KEY_SIZE);
  return { key: child, chainCode: derived.chainCode };
}

function compressedPoint(privateKey: Uint8Array): Uint8Array {
  const point = publicKeyOf(privateKey);
  const isOdd = ((point[2 * KEY_SIZE - 1] ?? 0) & 1) === 1;
  return concatBytes(Uint8Array.of(isOdd ? 3 : 2), point.subarray(0, KEY_SIZE));
}

function hmac(key: Uint8Array, data: Uint8Array): Uint8Array {
  return createHmac("sha512", key).update(data).digest();
}

function split(bytes: Uint8Array): ExtendedKey {
  return { key: bytes.slice(0, KEY_SIZE), chainCode: bytes.slice(KEY_SIZE) };
}

function toNumber(bytes: Uint8Array): bigint {
  return readBigEndian(bytes, 0, KEY_SIZE);
}
