import type { Precompile } from "../precompile.ts";
import { wordCount } from "./input-window.ts";

/** 0x04: a copy, because the input is often a view of memory that changes afterwards. */
export const identity: Precompile = {
  name: "identity",
  gasCost: (input) => 15 + 3 * wordCount(input),
  run: (input) => input.slice(),
};
