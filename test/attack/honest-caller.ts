/** A caller with modest needs: one transaction and ten reads a second, on its own address. */
import { Agent, request } from "node:http";
import { privateKeyToAccount } from "viem/accounts";
import type { Hex } from "../../src/base/hex.ts";

export type HonestReport = {
  /** Times to finality; those that were not final in time count as that time. */
  readonly finalMs: readonly number[];
  readonly readMs: readonly number[];
  /** What was refused although nothing was wrong with it. */
  readonly refusals: readonly string[];
};

export type HonestOptions = {
  readonly url: string;
  readonly chainId: bigint;
  readonly privateKey: Hex;
  /** The nonce of its first transaction. */
  readonly nonce: number;
  /** How long it waits for an answer or for finality. */
  readonly patienceMs: number;
};

type Answer = { readonly result?: unknown };

const READS_PER_SECOND = 10;
const RECEIPT_POLL_MS = 20;

export class HonestCaller {
  readonly #options: HonestOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 });
  readonly #finalMs: number[] = [];
  readonly #readMs: number[] = [];
  readonly #refusals: string[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #nonce: number;

  constructor(options: HonestOptions) {
    this.#options = options;
    this.#nonce = options.nonce;
  }

  get nonce(): number {
    return this.#nonce;
  }

  /** Everything is sent on time, whether or not what went before was answered. */
  async run(seconds: number): Promise<HonestReport> {
    const startedMs = performance.now();
    for (let tick = 0; tick < seconds * READS_PER_SECOND; tick++) {
      const dueMs = startedMs + (tick * 1_000) / READS_PER_SECOND;
      await sleep(dueMs - performance.now());
      this.#begin(this.#read(tick));
      if (tick % READS_PER_SECOND === 0) this.#begin(this.#transact(this.#nonce++));
    }
    await Promise.all(this.#underWay);
    this.#agent.destroy();
    return { finalMs: this.#finalMs, readMs: this.#readMs, refusals: this.#refusals };
  }

  #begin(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => void this.#refusals.push(String(error)))
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }

  async #read(tick: number): Promise<void> {
    const address = `0x${"33".repeat(20)}`;
    const reads: readonly (readonly [string, readonly unknown[]])[] = [
      ["eth_blockNumber", []],
      ["eth_getBalance", [address, "latest"]],
      ["eth_getBlockByNumber", ["latest", false]],
      ["eth_call", [{ to: address, data: "0x" }, "latest"]],
    ];
    const [method, params] = reads[tick % reads.length] ?? ["eth_chainId", []];
    const startedMs = performance.now();
    // Every tenth over a new connection: those that are open do not show who is locked out.
    await this.#ask(method, params, tick % READS_PER_SECOND === 5);
    this.#readMs.push(performance.now() - startedMs);
  }

  async #transact(nonce: number): Promise<void> {
    const { privateKey, chainId, patienceMs } = this.#options;
    const account = privateKeyToAccount(privateKey);
    const raw = await account.signTransaction({
      ...{ type: "legacy", to: account.address, value: 0n, gas: 21_000n, gasPrice: 0n },
      ...{ nonce, chainId: Number(chainId) },
    });
    const startedMs = performance.now();
    const elapsedMs = (): number => performance.now() - startedMs;
    const hash = await this.#ask("eth_sendRawTransaction", [raw]);
    while (elapsedMs() < patienceMs) {
      if ((await this.#ask("eth_getTransactionReceipt", [hash])) !== null) break;
      await sleep(RECEIPT_POLL_MS);
    }
    this.#finalMs.push(elapsedMs());
  }

  #ask(method: string, params: readonly unknown[], isAlone = false): Promise<unknown> {
    const { url, patienceMs } = this.#options;
    const headers = { "content-type": "application/json" };
    return new Promise((resolve, reject) => {
      const sent = request(
        url,
        { method: "POST", headers, agent: isAlone ? false : this.#agent, timeout: patienceMs },
        (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => (text += chunk));
          response.on("error", reject);
          response.on("end", () => {
            const refusal = `${method}: ${response.statusCode ?? 0} ${text.slice(0, 200)}`;
            const isThere = response.statusCode === 200;
            const result = isThere ? (JSON.parse(text) as Answer).result : undefined;
            if (result === undefined) reject(new Error(refusal));
            else resolve(result);
          });
        },
      );
      sent.on("error", (error) => reject(new Error(`${method}: ${error.message}`)));
      sent.on("timeout", () => sent.destroy(new Error("no answer in time")));
      sent.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
    });
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, ms));
  });
}
