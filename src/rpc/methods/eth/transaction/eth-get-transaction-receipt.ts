import { prunedBlock } from "../../../params/block-tag.ts";
import type {
  FinalityWaiter,
  ReceiptsReader,
  TransactionFinder,
} from "../../../../api/chain-reader.ts";
import { formatReceipt } from "../../../format/format-receipt.ts";
import type { Method } from "../../../method.ts";
import { parseHash } from "../../../params/parameters.ts";
import { FREE_PLACE } from "../../../server/waiting-room.ts";

/**
 * A transaction that was accepted is final within milliseconds, so the answer waits for it a
 * little. Libraries that look once and then only at every new block would wait for ever on an idle
 * chain: the block may come between their first look and their subscription, and without
 * transactions there is no further one.
 */
export const ethGetTransactionReceipt: Method<
  TransactionFinder & ReceiptsReader & FinalityWaiter,
  Uint8Array
> = {
  name: "eth_getTransactionReceipt",
  paramsMax: 1,
  parse: ([hash]) => parseHash(hash, 0),
  async handle(chain, hash, { limits, waits }) {
    let found = await chain.findTransaction(hash);
    if (found === undefined) {
      // A caller that may not wait gets the answer at once.
      const place = waits === undefined ? FREE_PLACE : waits.enter();
      if (place === undefined) return null;
      try {
        // Final since the look before: then this returns at once, and the second look finds it.
        await chain.whenSettled(hash, limits.receiptWaitMs, place.gone);
      } finally {
        place.leave();
      }
      found = await chain.findTransaction(hash);
    }
    if (found === undefined) return null;
    const receipts = await chain.receiptsOf(found.block);
    if (receipts === undefined) throw prunedBlock(found.block);
    return formatReceipt(found, receipts);
  },
};
