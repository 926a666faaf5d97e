import { sha256 } from "../../crypto/sha256.ts";
import type { Precompile } from "../precompile.ts";
import { wordCount } from "./input-window.ts";

/** 0x02. */
export const sha256Hash: Precompile = {
  name: "sha256",
  gasCost: (input) => 60 + 12 * wordCount(input),
  run: (input) => sha256(input),
};
