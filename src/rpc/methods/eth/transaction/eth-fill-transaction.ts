import { bytesToHex } from "../../../../base/hex.ts";
import { encodeTransaction } from "../../../../chain/transaction-encoder.ts";
import type { UnsignedTransaction } from "../../../../chain/transaction.ts";
import { requireBlock } from "../../../params/block-tag.ts";
import { callToRequest, parseCall, type CallParameters } from "../../../params/call-parameters.ts";
import type {
  BlockReader,
  GasEstimator,
  NetworkReader,
  PendingNonceReader,
  PriorityFeeReader,
} from "../../../../api/chain-reader.ts";
import { formatTransaction } from "../../../format/format-transaction.ts";
import type { Method } from "../../../method.ts";
import { callFailureToError } from "../../../format/failure-error.ts";

type FillReader = BlockReader &
  NetworkReader &
  PendingNonceReader &
  GasEstimator &
  PriorityFeeReader & { readonly transactionGasMax: bigint | undefined };

/** A transaction with all that its caller left out, ready to be signed. */
export const ethFillTransaction: Method<FillReader, CallParameters> = {
  name: "eth_fillTransaction",
  paramsMax: 1,
  parse: ([call], context) => parseCall(call, 0, context),
  async handle(chain, call, { limits, caller }) {
    const block = await requireBlock(chain, { kind: "name", name: "latest" });
    const { transactionGasMax = limits.callGasMax } = chain;
    const nonce = call.nonce ?? (await chain.pendingNonce(call.from));
    const priced = await withPrice(chain, call, block.header.baseFeePerGas);
    const defaults = { chainId: chain.chainId, nonce, gasMax: transactionGasMax };
    const request = callToRequest(priced, defaults);
    let { transaction } = request;
    if (call.gas === undefined) {
      const estimated = await chain.estimateGas(request, block, caller);
      if (!estimated.ok) throw callFailureToError(estimated.error);
      transaction = { ...transaction, gasLimit: estimated.value };
    }
    return formatFilled(transaction, call.from);
  },
};

/** Where the caller named no price, the one that is enough. */
async function withPrice(
  reader: PriorityFeeReader,
  call: CallParameters,
  baseFee: bigint,
): Promise<CallParameters> {
  if (call.gasPrice !== undefined) return call;
  const maxPriorityFeePerGas = call.maxPriorityFeePerGas ?? (await reader.priorityFee());
  const maxFeePerGas = call.maxFeePerGas ?? 2n * baseFee + maxPriorityFeePerGas;
  return { ...call, maxPriorityFeePerGas, maxFeePerGas };
}

/** What only a signed transaction has is left out of the record. */
function formatFilled(transaction: UnsignedTransaction, sender: bigint): object {
  const signed = { ...transaction, yParity: 0, r: 0n, s: 0n } as const;
  const encoded = encodeTransaction(signed);
  const record = { transaction: signed, encoded, hash: new Uint8Array(32), sender };
  const unsigned: Record<string, unknown> = { ...formatTransaction(record, undefined) };
  for (const name of SIGNED_FIELDS) Reflect.deleteProperty(unsigned, name);
  return { raw: bytesToHex(encoded), tx: unsigned };
}

const SIGNED_FIELDS = [
  ...["hash", "v", "r", "s", "yParity"],
  ...["blockHash", "blockNumber", "blockTimestamp", "transactionIndex"],
] as const;
