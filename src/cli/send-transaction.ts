/** Signs a transaction with a key of the user, sends it and waits until it is final. */
import { setTimeout as sleep } from "node:timers/promises";
import { CodedError } from "../base/coded-error.ts";
import { bytesToHex, hexToBytes } from "../base/hex.ts";
import { addressToHex, publicKeyToAddress } from "../chain/address.ts";
import { encodeTransaction } from "../chain/transaction-encoder.ts";
import { signTransaction } from "../chain/transaction-sender.ts";
import { isRecord } from "../base/parse-json.ts";
import { type JsonRecord } from "../config/json-fields.ts";
import { publicKeyOf } from "../crypto/secp256k1.ts";
import type { JsonRpcCaller } from "./smoke-test/json-rpc-caller.ts";

export type SentTransaction = {
  /** Secret. */
  readonly privateKey: Uint8Array;
  readonly to: bigint;
  readonly data: string;
  readonly gasLimit: bigint;
};

const RECEIPT_POLL_MS = 50;

/** The receipt, whether it succeeded or not. Throws TX_NOT_FINAL_YET after the time. */
export async function sendTransaction(
  call: JsonRpcCaller,
  { privateKey, to, data, gasLimit }: SentTransaction,
  timeoutMs: number,
): Promise<JsonRecord> {
  const sender = addressToHex(publicKeyToAddress(publicKeyOf(privateKey)));
  const chainId = await askQuantity(call, "eth_chainId", []);
  const nonce = await askQuantity(call, "eth_getTransactionCount", [sender, "pending"]);
  const signed = signTransaction(
    { type: 0, chainId, nonce, gasPrice: 0n, gasLimit, to, value: 0n, data: hexToBytes(data) },
    privateKey,
  );
  const hash = await call("eth_sendRawTransaction", [bytesToHex(encodeTransaction(signed))]);
  const deadlineMs = performance.now() + timeoutMs;
  while (performance.now() < deadlineMs) {
    const receipt = await call("eth_getTransactionReceipt", [hash]);
    if (isRecord(receipt)) return receipt;
    await sleep(RECEIPT_POLL_MS);
  }
  throw new CodedError("TX_NOT_FINAL_YET", { hash, seconds: timeoutMs / 1_000 });
}

async function askQuantity(
  call: JsonRpcCaller,
  method: string,
  params: readonly unknown[],
): Promise<bigint> {
  const value = await call(method, params);
  if (typeof value === "string" && /^0x[0-9a-f]{1,64}$/.test(value)) return BigInt(value);
  throw new CodedError("NETWORK_CALL_FAILED", { method, message: "the answer is no quantity" });
}
