import { bytesToHex } from "../../../../base/hex.ts";
import type { TransactionStatus } from "../../../../api/transaction-status.ts";
import { prunedBlock } from "../../../params/block-tag.ts";
import type {
  FinalityWaiter,
  ReceiptsReader,
  Submitter,
  TransactionFinder,
} from "../../../../api/chain-reader.ts";
import { formatReceipt } from "../../../format/format-receipt.ts";
import type { Method } from "../../../method.ts";
import { invalidParameter, isAbsent, parseData } from "../../../params/parameters.ts";
import { refusalToError } from "../../../format/failure-error.ts";
import { RpcError, SYNC_TIMED_OUT } from "../../../rpc-error.ts";
import { requirePlace } from "../../../server/waiting-room.ts";

/** The transaction goes to the one, the receipt comes from the other. */
type SubmitAndRead = {
  readonly submitter: Submitter;
  readonly chain: FinalityWaiter & TransactionFinder & ReceiptsReader;
};

type Params = { readonly transaction: Uint8Array; readonly timeoutMs: number };

/** EIP-7966: answers with the receipt. What is not final in time is still promised (SPEC E13). */
export const ethSendRawTransactionSync: Method<SubmitAndRead, Params> = {
  name: "eth_sendRawTransactionSync",
  paramsMax: 2,
  parse: ([transaction, timeout], { limits }) => ({
    transaction: parseData(transaction, 0),
    timeoutMs: parseTimeout(timeout, limits.syncTimeoutMs, limits.syncTimeoutMaxMs),
  }),
  async handle({ submitter, chain }, { transaction, timeoutMs }, { caller, waits }) {
    // Before it is submitted: a caller that is refused here knows that nothing was promised.
    const place = requirePlace(waits);
    let hash: Uint8Array;
    let status: TransactionStatus | undefined;
    try {
      const submitted = await submitter.submitRaw(transaction, await caller?.());
      if (!submitted.ok) throw refusalToError(submitted.error);
      hash = submitted.value;
      status = await chain.whenSettled(hash, timeoutMs, place.gone);
    } finally {
      place.leave();
    }
    if (status?.kind === "refused") throw refusalToError(status);
    const found = await chain.findTransaction(hash);
    if (found === undefined) {
      const message = `the transaction was accepted and is not final after ${timeoutMs} ms; ask for its receipt`;
      throw new RpcError(SYNC_TIMED_OUT, message, bytesToHex(hash));
    }
    const receipts = await chain.receiptsOf(found.block);
    if (receipts === undefined) throw prunedBlock(found.block);
    return formatReceipt(found, receipts);
  },
};

/** Milliseconds, as an integer. */
function parseTimeout(value: unknown, defaultMs: number, maxMs: number): number {
  if (isAbsent(value)) return defaultMs;
  const isCount = typeof value === "number" && Number.isSafeInteger(value) && value > 0;
  if (!isCount) throw invalidParameter(1, "a positive number of milliseconds", value);
  return Math.min(value, maxMs);
}
