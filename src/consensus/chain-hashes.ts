/** Which blocks carry what waits: the unfinalized chain of the current view. */
import type { Hash } from "./block.ts";
import type { Core } from "./core.ts";

/** The unfinalized blocks of the current view's chain: proposed ones and those below the tip. */
export function chainHashes(core: Core): ReadonlySet<Hash> {
  const hashes = new Set<Hash>();
  for (const { block } of core.tree.pathTo(core.tip.hash) ?? []) hashes.add(block.hash);
  for (const { blockHash } of core.proposals.values()) hashes.add(blockHash);
  return hashes;
}
