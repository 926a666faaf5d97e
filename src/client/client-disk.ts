/** Whether the disk has room. A full disk pauses the block pipeline and refuses submissions. */
import type { Logger } from "../base/logger.ts";
import type { ClientStores } from "./client-stores.ts";

const RETRY_MS = 1_000;

export class ClientDisk {
  readonly #stores: Pick<ClientStores, "blocks" | "state">;
  readonly #logger: Logger;
  #retryMs: number | undefined;

  constructor(stores: Pick<ClientStores, "blocks" | "state">, logger: Logger) {
    this.#stores = stores;
    this.#logger = logger;
  }

  get isFull(): boolean {
    const { blocks, state } = this.#stores;
    return this.#retryMs !== undefined || blocks.isFull || state.isFull;
  }

  /** Whether a write is worth a try: a full disk is tried once in a while. */
  isWritable(nowMs: number): boolean {
    return this.#retryMs === undefined || nowMs >= this.#retryMs;
  }

  noteFull(nowMs: number): void {
    if (this.#retryMs === undefined) this.#logger.error("the disk is full");
    this.#retryMs = nowMs + RETRY_MS;
  }

  noteWritten(): void {
    if (this.#retryMs === undefined) return;
    this.#retryMs = undefined;
    this.#logger.info("the disk has room again");
  }
}
