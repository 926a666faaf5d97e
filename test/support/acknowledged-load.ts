/**
 * Senders that go on through every fault and remember what they were promised: a hash that ethrpc
 * gave out must become final, whatever happens to the nodes.
 */
import assert from "node:assert/strict";
import { bytesToHex, type Hex } from "../../src/base/hex.ts";
import { publicKeyToAddress } from "../../src/chain/address.ts";
import { encodeTransaction } from "../../src/chain/transaction-encoder.ts";
import { signTransaction } from "../../src/chain/transaction-sender.ts";
import { keccak256 } from "../../src/crypto/keccak256.ts";
import { publicKeyOf } from "../../src/crypto/secp256k1.ts";
import { rpc } from "./processes/network-process.ts";

export type LoadOptions = {
  readonly url: string;
  readonly chainId: bigint;
  readonly senders?: number;
  /** Between two transactions of one sender. */
  readonly pauseMs?: number;
};

const RETRY_MS = 50;
const RECEIPTS_PER_BATCH = 100;

export class AcknowledgedLoad {
  readonly acknowledged: Hex[] = [];
  /** Errors that ethrpc gave as answers; a connection that fails is not one. */
  readonly refusals: string[] = [];
  readonly #options: LoadOptions;
  #isStopped = false;
  readonly #runs: Promise<void>[];

  constructor(options: LoadOptions) {
    this.#options = options;
    const { senders = 8 } = options;
    this.#runs = Array.from({ length: senders }, (_, index) => this.#send(index));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#runs);
  }

  /** Every promise was kept: there is a receipt of success for each. */
  async assertKept(timeoutMs = 30_000): Promise<void> {
    let open: readonly Hex[] = this.acknowledged;
    const deadlineMs = performance.now() + timeoutMs;
    while (open.length > 0) {
      const missing: Hex[] = [];
      for (let from = 0; from < open.length; from += RECEIPTS_PER_BATCH) {
        missing.push(...(await this.#withoutReceipt(open.slice(from, from + RECEIPTS_PER_BATCH))));
      }
      open = missing;
      if (open.length === 0) return;
      const text = `${open.length} of ${this.acknowledged.length} promises are open: ${open[0]!}`;
      assert.ok(performance.now() < deadlineMs, text);
      await pause(200);
    }
  }

  async #withoutReceipt(hashes: readonly Hex[]): Promise<Hex[]> {
    const batch = hashes.map((hash, id) => {
      return { jsonrpc: "2.0", id, method: "eth_getTransactionReceipt", params: [hash] };
    });
    const response = await fetch(this.#options.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(batch),
    });
    const answers = (await response.json()) as readonly {
      readonly id: number;
      readonly result: { readonly status: string } | null;
    }[];
    const done = new Set<number>();
    for (const { id, result } of answers) {
      if (result === null) continue;
      assert.equal(result.status, "0x1", hashes[id]!);
      done.add(id);
    }
    return hashes.filter((_, id) => !done.has(id));
  }

  async #send(index: number): Promise<void> {
    const { url, chainId, pauseMs = 40 } = this.#options;
    const privateKey = keccak256(new TextEncoder().encode(`steady sender ${index}`));
    const to = publicKeyToAddress(publicKeyOf(privateKey));
    // One network may see several loads, one after the other.
    let nonce: bigint | undefined;
    while (!this.#isStopped) {
      nonce ??= await this.#nonceOf(to);
      if (nonce === undefined) {
        await pause(RETRY_MS);
        continue;
      }
      const fees = { maxPriorityFeePerGas: 0n, maxFeePerGas: 0n, gasLimit: 21_000n };
      const call = { to, value: 0n, data: new Uint8Array(0), accessList: [] };
      const unsigned = { type: 2, chainId, nonce, ...fees, ...call } as const;
      const raw = bytesToHex(encodeTransaction(signTransaction(unsigned, privateKey)));
      const hash = await this.#submit(url, raw);
      if (hash === undefined) {
        await pause(RETRY_MS);
        continue;
      }
      this.acknowledged.push(hash);
      nonce++;
      await pause(pauseMs);
    }
  }

  /** Undefined without an answer: then the same bytes are sent again. */
  async #submit(url: string, raw: Hex): Promise<Hex | undefined> {
    try {
      return (await rpc(url, "eth_sendRawTransaction", [raw])) as Hex;
    } catch (error) {
      const text = String(error);
      if (text.includes("eth_sendRawTransaction:")) this.refusals.push(text);
      return undefined;
    }
  }

  async #nonceOf(sender: bigint): Promise<bigint | undefined> {
    const address = `0x${sender.toString(16).padStart(40, "0")}`;
    const { url } = this.#options;
    return rpc(url, "eth_getTransactionCount", [address, "pending"])
      .then((count) => BigInt(String(count)))
      .catch(() => undefined);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
