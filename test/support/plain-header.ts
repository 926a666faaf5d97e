import type { Header } from "../../src/consensus/block.ts";
import { ZERO_HASH_TEXT } from "../../src/wire/hash-text.ts";

/** A header of consensus that says nothing, for tests that need one of that form. */
export function plainHeader(named: Partial<Header> = {}): Header {
  return {
    epoch: 0,
    height: 0,
    parent: ZERO_HASH_TEXT,
    payloadHash: ZERO_HASH_TEXT,
    txCount: 0,
    payloadSize: 0,
    timestampMs: 0,
    execHeight: 0,
    execResult: ZERO_HASH_TEXT,
    ...named,
  };
}
