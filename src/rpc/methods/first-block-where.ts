import type { BlockReader, BlockRecord } from "../../api/chain-reader.ts";

/** For something that stays true from some block on; undefined if it is not true yet. */
export async function firstBlockWhere(
  reader: BlockReader,
  isTrueAfter: (number: bigint) => Promise<boolean>,
): Promise<BlockRecord | undefined> {
  const { header } = await reader.latestBlock();
  if (!(await isTrueAfter(header.number))) return undefined;
  let low = 0n;
  let high = header.number;
  while (low < high) {
    const middle = (low + high) / 2n;
    if (await isTrueAfter(middle)) high = middle;
    else low = middle + 1n;
  }
  return reader.blockByNumber(high);
}
