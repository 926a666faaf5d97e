import { ripemd160 } from "../../crypto/ripemd160.ts";
import type { Precompile } from "../precompile.ts";
import { wordCount } from "./input-window.ts";

/** 0x03: the 20 bytes stand at the right of a word. */
export const ripemd160Hash: Precompile = {
  name: "ripemd160",
  gasCost: (input) => 600 + 120 * wordCount(input),
  run(input) {
    const word = new Uint8Array(32);
    word.set(ripemd160(input), 12);
    return word;
  },
};
