/**
 * Transactions at a steady pace. Each account has one under way at a time and sends it again until
 * the network takes it, as a wallet would; what was taken once must be final in the end.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { readBigEndian } from "../../src/base/big-endian.ts";
import { bytesToHex } from "../../src/base/hex.ts";
import { DEFAULT_CHAIN_ID } from "../../src/chain/genesis.ts";
import { encodeTransaction, signingHash } from "../../src/chain/transaction-encoder.ts";
import type { UnsignedTransaction } from "../../src/chain/transaction.ts";
import { sign } from "../../src/crypto/secp256k1.ts";
import {
  createJsonRpcCaller,
  type JsonRpcCaller,
} from "../../src/cli/smoke-test/json-rpc-caller.ts";

type LoadOptions = {
  readonly url: string;
  readonly accountCount: number;
  readonly intervalMs: number;
};

const RETRY_MS = 200;
const RECEIPT_POLL_MS = 20;

/** In a thread of its own: helm and kubectl are waited for in the other one. */
export class SteadyLoad {
  readonly #worker: Worker;

  constructor(url: string, accountCount: number, intervalMs: number) {
    const workerData: LoadOptions = { url, accountCount, intervalMs };
    this.#worker = new Worker(new URL(import.meta.url), { workerData });
  }

  /** Ends the load; the last transaction of each account is still brought through. */
  async stop(): Promise<readonly string[]> {
    const taken = new Promise<readonly string[]>((resolve, reject) => {
      this.#worker.once("message", resolve).once("error", reject);
    });
    this.#worker.postMessage("stop");
    return taken;
  }
}

async function runLoad({ url, accountCount, intervalMs }: LoadOptions): Promise<void> {
  const call = createJsonRpcCaller(url);
  const taken: string[] = [];
  let isStopping = false;
  parentPort?.once("message", () => {
    isStopping = true;
  });
  const run = async (): Promise<void> => {
    const account = new Account();
    while (!isStopping) {
      taken.push(await sendUntilTaken(call, account.next()));
      await sleep(intervalMs);
    }
  };
  await Promise.all(Array.from({ length: accountCount }, run));
  parentPort?.postMessage(taken);
}

/** An account with a key of its own; it needs no balance, gas is free. */
export class Account {
  readonly #privateKey = new Uint8Array(randomBytes(32));
  readonly #chainId: bigint;
  #nonce = 0n;

  constructor(chainId = DEFAULT_CHAIN_ID) {
    this.#chainId = chainId;
  }

  /** The next transaction, signed. */
  next(): string {
    const unsigned: UnsignedTransaction = {
      type: 0,
      chainId: this.#chainId,
      nonce: this.#nonce,
      gasPrice: 0n,
      gasLimit: 21_000n,
      to: readBigEndian(new Uint8Array(randomBytes(20)), 0, 20),
      value: 0n,
      data: new Uint8Array(),
    };
    this.#nonce += 1n;
    const { signature, recoveryId } = sign(signingHash(unsigned), this.#privateKey);
    const yParity = recoveryId === 0 ? 0 : 1;
    const r = readBigEndian(signature, 0, 32);
    const s = readBigEndian(signature, 32, 32);
    return bytesToHex(encodeTransaction({ ...unsigned, yParity, r, s }));
  }
}

export async function sendUntilTaken(call: JsonRpcCaller, raw: string): Promise<string> {
  for (;;) {
    try {
      return String(await call("eth_sendRawTransaction", [raw]));
    } catch {
      await sleep(RETRY_MS);
    }
  }
}

/** How many milliseconds it took until the receipt was there. */
export async function waitForReceipt(
  call: JsonRpcCaller,
  hash: string,
  timeoutMs: number,
): Promise<number> {
  const startedMs = performance.now();
  while (performance.now() - startedMs < timeoutMs) {
    try {
      const receipt = await call("eth_getTransactionReceipt", [hash]);
      if (receipt !== null) return performance.now() - startedMs;
    } catch {
      // The client node may be away for a moment.
    }
    await sleep(RECEIPT_POLL_MS);
  }
  throw new Error(`no receipt of ${hash} after ${timeoutMs} ms`);
}

if (!isMainThread) await runLoad(workerData as LoadOptions);
