import { hash } from "node:crypto";

/** SHA-256 of one message. `hash` is the one-shot form: no stream object per call. */
export function sha256(data: Uint8Array): Uint8Array {
  return hash("sha256", data, "buffer");
}
