/**
 * The shortest proof that a network works: the genesis block in its documented shape, then a token
 * that is deployed, minted and transferred, each step final before the next.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { readBigEndian } from "../../base/big-endian.ts";
import { CodedError } from "../../base/coded-error.ts";
import { bytesToHex, hexToBytes, parseHex } from "../../base/hex.ts";
import { addressToHex, parseAddress, publicKeyToAddress } from "../../chain/address.ts";
import { encodeTransaction, signingHash } from "../../chain/transaction-encoder.ts";
import type { UnsignedTransaction } from "../../chain/transaction.ts";
import { isRecord } from "../../base/parse-json.ts";
import { type JsonRecord } from "../../config/json-fields.ts";
import { publicKeyOf, sign } from "../../crypto/secp256k1.ts";
import type { JsonRpcCaller } from "./json-rpc-caller.ts";
import { TOKEN_CREATION_CODE, TOKEN_SELECTORS } from "./token-bytecode.ts";

export type SmokeTestOptions = {
  /** The account that acts; undefined creates a temporary one. Secret. */
  readonly privateKey: Uint8Array | undefined;
  readonly receiptTimeoutMs: number;
};

type Sender = {
  readonly privateKey: Uint8Array;
  readonly address: bigint;
  readonly chainId: bigint;
};

const RECEIPT_POLL_MS = 50;
const GAS_LIMIT = 2_000_000n;
const MINTED = 1_000n;
const MOVED = 400n;
const ZERO_HASH = `0x${"00".repeat(32)}`;
const WORD_SIZE = 32;

/** Reports each step as it passes. Throws on the first that fails. */
export async function runSmokeTest(
  call: JsonRpcCaller,
  { privateKey = new Uint8Array(randomBytes(32)), receiptTimeoutMs }: SmokeTestOptions,
  report: (step: string) => void,
): Promise<void> {
  checkGenesisBlock(await call("eth_getBlockByNumber", ["0x00", true]));
  report("the genesis block has its documented shape");
  const chainId = quantityOf(await call("eth_chainId", []), "eth_chainId");
  const address = publicKeyToAddress(publicKeyOf(privateKey));
  const sender = { privateKey, address, chainId };
  const waitMs = receiptTimeoutMs;
  const deployed = await transact(call, sender, undefined, TOKEN_CREATION_CODE, waitMs);
  const token = parseAddress(String(deployed["contractAddress"]));
  expect(token !== undefined, "the receipt names the new contract", deployed["contractAddress"]);
  report(`a token is deployed at ${addressToHex(token)}`);
  const { mint, transfer } = TOKEN_SELECTORS;
  await transact(call, sender, token, callData(mint, address, MINTED), waitMs);
  const receiver = readBigEndian(new Uint8Array(randomBytes(20)), 0, 20);
  const moved = await transact(call, sender, token, callData(transfer, receiver, MOVED), waitMs);
  const logs = moved["logs"];
  expect(Array.isArray(logs) && logs.length === 1, "a transfer leaves one log", logs);
  const ours = await balanceOf(call, token, address);
  const theirs = await balanceOf(call, token, receiver);
  expect(ours === MINTED - MOVED && theirs === MOVED, "the balances are right", [ours, theirs]);
  report(`${MOVED} tokens were transferred in block ${String(moved["blockNumber"])}`);
}

function checkGenesisBlock(block: unknown): void {
  expect(isRecord(block), "block 0 is a record", block);
  expect(block["number"] === "0x0", "its number is 0x0", block["number"]);
  expect(block["parentHash"] === ZERO_HASH, "it has no parent", block["parentHash"]);
  const transactions = block["transactions"];
  expect(
    Array.isArray(transactions) && transactions.length === 1,
    "it holds one transaction",
    transactions,
  );
  expect(typeof block["size"] === "number", "its size is a number", block["size"]);
}

async function transact(
  call: JsonRpcCaller,
  { privateKey, address, chainId }: Sender,
  to: bigint | undefined,
  data: string,
  waitMs: number,
): Promise<JsonRecord> {
  const count = await call("eth_getTransactionCount", [addressToHex(address), "pending"]);
  const unsigned: UnsignedTransaction = {
    type: 0,
    chainId,
    nonce: quantityOf(count, "eth_getTransactionCount"),
    gasPrice: 0n,
    gasLimit: GAS_LIMIT,
    to,
    value: 0n,
    data: hexToBytes(data),
  };
  const { signature, recoveryId } = sign(signingHash(unsigned), privateKey);
  const raw = encodeTransaction({
    ...unsigned,
    yParity: recoveryId === 0 ? 0 : 1,
    r: readBigEndian(signature, 0, WORD_SIZE),
    s: readBigEndian(signature, WORD_SIZE, WORD_SIZE),
  });
  const hash = await call("eth_sendRawTransaction", [bytesToHex(raw)]);
  return receiptOf(call, hash, waitMs);
}

async function receiptOf(call: JsonRpcCaller, hash: unknown, waitMs: number): Promise<JsonRecord> {
  const deadlineMs = performance.now() + waitMs;
  while (performance.now() < deadlineMs) {
    const receipt = await call("eth_getTransactionReceipt", [hash]);
    if (isRecord(receipt)) {
      expect(receipt["status"] === "0x1", "the transaction succeeds", receipt["status"]);
      return receipt;
    }
    await sleep(RECEIPT_POLL_MS);
  }
  throw new CodedError("SMOKE_TEST_FAILED", {
    expected: `a receipt in ${waitMs} ms`,
    found: "none",
  });
}

async function balanceOf(call: JsonRpcCaller, token: bigint, owner: bigint): Promise<bigint> {
  const data = TOKEN_SELECTORS.balanceOf + word(owner);
  const answer = await call("eth_call", [{ to: addressToHex(token), data }, "latest"]);
  const bytes = parseHex(String(answer));
  expect(bytes?.length === WORD_SIZE, "a balance is one word", answer);
  return readBigEndian(bytes, 0, WORD_SIZE);
}

function callData(selector: string, account: bigint, amount: bigint): string {
  return selector + word(account) + word(amount);
}

function word(value: bigint): string {
  return value.toString(16).padStart(2 * WORD_SIZE, "0");
}

function quantityOf(value: unknown, method: string): bigint {
  const isQuantity = typeof value === "string" && /^0x[0-9a-f]+$/.test(value);
  expect(isQuantity, `${method} answers with a quantity`, value);
  return BigInt(value);
}

function expect(isMet: boolean, expected: string, found: unknown): asserts isMet {
  if (isMet) return;
  const text = JSON.stringify(found, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  throw new CodedError("SMOKE_TEST_FAILED", { expected, found: text });
}
