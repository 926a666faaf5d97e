import { hash } from "node:crypto";

/** RIPEMD-160 of one message, 20 bytes. */
export function ripemd160(data: Uint8Array): Uint8Array {
  return hash("ripemd160", data, "buffer");
}
