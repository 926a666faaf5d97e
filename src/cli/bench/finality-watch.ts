/** Follows the chain through ethrpc and says when each transaction was first seen in a block. */
import type { RpcConnection } from "./rpc-connection.ts";

/** Each question costs the client node about as much as a transaction. */
const POLL_MS = 15;

type RpcBlock = { readonly transactions: readonly string[] } | null;

export class FinalityWatch {
  readonly #connection: RpcConnection;
  readonly #onFinal: (hashes: readonly string[], atMs: number) => void;
  #next: number;
  #isStopped = false;
  #done: Promise<void> = Promise.resolve();

  private constructor(
    connection: RpcConnection,
    next: number,
    onFinal: (hashes: readonly string[], atMs: number) => void,
  ) {
    this.#connection = connection;
    this.#next = next;
    this.#onFinal = onFinal;
  }

  /** From the block after the newest one on. */
  static async start(
    connection: RpcConnection,
    onFinal: (hashes: readonly string[], atMs: number) => void,
  ): Promise<FinalityWatch> {
    const newest = Number(await connection.call("eth_blockNumber", []));
    const watch = new FinalityWatch(connection, newest + 1, onFinal);
    watch.#done = watch.#follow();
    return watch;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
  }

  async #follow(): Promise<void> {
    while (!this.#isStopped) {
      const number = `0x${this.#next.toString(16)}`;
      const block = (await this.#connection.call("eth_getBlockByNumber", [
        number,
        false,
      ])) as RpcBlock;
      if (block === null) {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        continue;
      }
      this.#next++;
      this.#onFinal(block.transactions, performance.now());
    }
  }
}
