/** Codes of checks as errors: the texts are those that wallets and libraries look for. */
import { bytesToHex } from "../../base/hex.ts";
import type { CallFailure } from "../../api/call-request.ts";
import type { SubmitRefusal } from "../../api/transaction-status.ts";
import type { MethodContext } from "../method.ts";
import { quantity } from "./quantity.ts";
import { revertReason } from "../../chain/revert-reason.ts";
import {
  EXECUTION_REVERTED,
  HISTORY_PRUNED,
  LIMIT_EXCEEDED,
  PERMISSION_DENIED,
  RESPONSE_TOO_LARGE,
  RpcError,
  SERVER_ERROR,
  TIMED_OUT,
} from "../rpc-error.ts";

/** A method that needs READ at every target. */
const READ_ALL_METHOD = "eth_getTransactionReceipt";

type Texts = ReadonlyMap<string, string>;

const TEXTS: Texts = new Map([
  ["TX_NONCE_TOO_LOW", "nonce too low"],
  ["TX_NONCE_TOO_HIGH", "nonce too high"],
  ["TX_NONCE_EXHAUSTED", "nonce has max value"],
  ["TX_NONCE_GAP_TOO_LARGE", "nonce too high: too far after the last accepted one"],
  [
    "TX_NONCE_TAKEN",
    "replacement transaction underpriced: another has this nonce, and gas is free",
  ],
  ["TX_REPLACEMENT_UNDERPRICED", "replacement transaction underpriced"],
  ["TX_PRICE_TOO_LOW", "transaction underpriced"],
  ["TX_INSUFFICIENT_BALANCE", "insufficient funds for gas * price + value"],
  ["TX_INTRINSIC_GAS_TOO_LOW", "intrinsic gas too low"],
  ["TX_FLOOR_GAS_TOO_LOW", "intrinsic gas too low: insufficient for the floor data gas cost"],
  ["TX_GAS_LIMIT_ABOVE_MAXIMUM", "exceeds block gas limit: more gas than one transaction may have"],
  ["TX_GAS_LIMIT_EXCEEDED", "exceeds block gas limit"],
  ["TX_CHAIN_ID_WRONG", "invalid chain id for signer"],
  ["TX_SENDER_UNRECOVERABLE", "invalid sender: the signature belongs to no key"],
  ["TX_SENDER_HAS_CODE", "sender not an eoa"],
  ["TX_INITCODE_TOO_LARGE", "max initcode size exceeded"],
  ["TX_FEE_BELOW_BASE_FEE", "max fee per gas less than block base fee"],
  ["TX_PRIORITY_FEE_ABOVE_MAX_FEE", "max priority fee per gas higher than max fee per gas"],
  ["TX_TYPE_UNKNOWN", "transaction type not valid"],
  ["TX_TYPE_BLOB_REFUSED", "transaction type not valid: this chain has no blobs"],
  ["TX_TYPE_NOT_ACTIVE", "transaction type not valid on this chain yet"],
  ["TX_SIZE_TOO_LARGE", "oversized data"],
  ["SIMULATION_NUMBER_INVALID", "block numbers must grow from block to block"],
  ["SIMULATION_TIME_INVALID", "the time of a block must not be before that of its parent"],
  ["SIMULATION_TOO_LONG", "too many blocks to simulate"],
]);

/** Nothing is wrong with the transaction: it may be sent again later. */
const LIMIT_TEXTS: Texts = new Map([
  ["TX_SENDER_LIMIT", "too many transactions of this sender wait; send it again later"],
  ["TX_SOURCE_LIMIT", "too many transactions of this client wait; send it again later"],
  ["TX_QUEUE_FULL", "too many transactions wait for an earlier nonce; send it again later"],
  ["TX_EVICTED", "it waited for an earlier nonce and gave way to others; send that nonce first"],
  ["TX_POOL_FULL", "the transaction pool is full; send it again later"],
]);

/** The stable code goes along as data, with the number that would have been right. */
export function refusalToError({ code, limit }: SubmitRefusal): RpcError {
  const data = limit === undefined ? { reason: code } : { reason: code, limit: quantity(limit) };
  if (code === "TX_PERMISSION_DENIED") {
    return new RpcError(PERMISSION_DENIED, "Permission denied", data);
  }
  const busy = LIMIT_TEXTS.get(code);
  if (busy !== undefined) return new RpcError(LIMIT_EXCEEDED, busy, data);
  const text = TEXTS.get(code) ?? `invalid transaction: ${codeToWords(code)}`;
  const expected = limit === undefined ? "" : expectation(code, limit);
  return new RpcError(SERVER_ERROR, `${text}${expected}`, data);
}

/**
 * For the caller of this request. The number is of the signer's account (its nonce, its balance),
 * which a transaction that read something can have set: so only callers who may read the chain
 * receive it.
 */
export async function refusalTo(
  refused: SubmitRefusal,
  { check }: Pick<MethodContext, "check">,
): Promise<RpcError> {
  if (check === undefined || refused.limit === undefined) return refusalToError(refused);
  try {
    await check(READ_ALL_METHOD, []);
    return refusalToError(refused);
  } catch {
    return refusalToError({ code: refused.code });
  }
}

export function callFailureToError(failure: CallFailure): RpcError {
  switch (failure.kind) {
    case "reverted": {
      const reason = revertReason(failure.output);
      const message = reason === undefined ? "execution reverted" : `execution reverted: ${reason}`;
      return new RpcError(EXECUTION_REVERTED, message, bytesToHex(failure.output));
    }
    case "failed":
      return new RpcError(SERVER_ERROR, codeToWords(failure.reason));
    case "refused":
      return refusalToError(failure);
    case "stopped":
      return new RpcError(TIMED_OUT, "execution took too long and was stopped; ask for less");
    case "pruned":
      return new RpcError(HISTORY_PRUNED, "the state of that block is no longer kept");
    case "busy":
      return new RpcError(LIMIT_EXCEEDED, "too many calls wait; try again in a moment");
    case "tooLarge": {
      const message = `the result has more than ${failure.limit} bytes; ask for less at a time`;
      return new RpcError(RESPONSE_TOO_LARGE, message);
    }
  }
}

/** The next nonce is given in the words of geth, because some clients parse it. */
function expectation(code: string, limit: bigint): string {
  return code === "TX_NONCE_TOO_LOW" ? `: next nonce ${limit}` : ` (limit ${limit})`;
}

function codeToWords(code: string): string {
  return code.replace(/^TX_/, "").toLowerCase().replaceAll("_", " ");
}
