/** Hashes of nothing, each written out because headers of every block carry them. */
import { hexToBytes } from "../base/hex.ts";

export const ZERO_HASH: Uint8Array = new Uint8Array(32);

/** The root of a trie without entries: keccak256 of the RLP of an empty string. */
export const EMPTY_TRIE_ROOT: Uint8Array = hexToBytes(
  "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421",
);

/** keccak256 of the RLP of an empty list: no block of this chain has ommers. */
export const EMPTY_OMMERS_HASH: Uint8Array = hexToBytes(
  "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",
);

/** keccak256 of no bytes: the code hash of accounts without code. */
export const EMPTY_CODE_HASH: Uint8Array = hexToBytes(
  "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
);

/** SHA-256 of no bytes: the hash of an empty list of requests (EIP-7685). */
export const EMPTY_REQUESTS_HASH: Uint8Array = hexToBytes(
  "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
);
