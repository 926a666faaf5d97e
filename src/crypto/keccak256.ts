import { createKeccak } from "hash-wasm";

const hasher = await createKeccak(256);

/** Keccak-256, Ethereum's hash. */
export function keccak256(data: Uint8Array): Uint8Array {
  hasher.init();
  hasher.update(data);
  return hasher.digest("binary");
}
