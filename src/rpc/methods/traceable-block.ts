import { bytesToHex } from "../../base/hex.ts";
import type { TraceOptions } from "../../api/trace-options.ts";
import type {
  BlockRecord,
  CallerNamer,
  TraceReader,
  TransactionFinder,
} from "../../api/chain-reader.ts";
import { jsonList, type JsonText } from "../json-text.ts";
import { callFailureToError } from "../format/failure-error.ts";
import { RpcError, SERVER_ERROR } from "../rpc-error.ts";

/** The transaction of block 0 was never executed. */
export function assertTraceable({ header }: BlockRecord): void {
  if (header.number === 0n) throw new RpcError(SERVER_ERROR, "genesis is not traceable");
}

/** The trace of one final transaction, as JSON. */
export async function traceOne(
  reader: TransactionFinder & TraceReader,
  hash: Uint8Array,
  options: TraceOptions,
  caller?: CallerNamer,
): Promise<string> {
  const found = await reader.findTransaction(hash);
  if (found === undefined) throw new RpcError(SERVER_ERROR, "transaction not found");
  const { block, index } = found;
  assertTraceable(block);
  const places = { first: index, last: index };
  const traced = await reader.traceTransactions(block, places, options, caller);
  if (!traced.ok) throw callFailureToError(traced.error);
  return traced.value[0] ?? "null";
}

/** The traces of all transactions of a block. */
export async function traceBlock(
  reader: TraceReader,
  block: BlockRecord,
  options: TraceOptions,
  caller?: CallerNamer,
): Promise<JsonText> {
  assertTraceable(block);
  const { transactionHashes } = block;
  const places = { first: 0, last: transactionHashes.length - 1 };
  const traced = await reader.traceTransactions(block, places, options, caller);
  if (!traced.ok) throw callFailureToError(traced.error);
  const entries = traced.value.map((text, index) => {
    const hash = bytesToHex(transactionHashes[index] ?? new Uint8Array(0));
    return `{"txHash":"${hash}","result":${text}}`;
  });
  return jsonList(entries);
}
