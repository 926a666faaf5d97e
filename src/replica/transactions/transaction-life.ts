/**
 * What becomes of single transactions in this replica, for a search by hash in the
 * logs of all nodes. At `debug` only: at other levels it costs a question for each block.
 */
import type { Logger } from "../../base/logger.ts";
import type { Block, Hash } from "../../consensus/block.ts";
import { bytesToHash } from "../../wire/hash-text.ts";
import type { ExecutionReport } from "../execution/execution-report.ts";

export class ReplicaTransactionLife {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  admitted(hash: Uint8Array): void {
    if (!this.#isFollowed()) return;
    this.#logger.debug("transaction admitted", { correlation_id: bytesToHash(hash) });
  }

  refused(id: Hash, code: string): void {
    if (!this.#isFollowed()) return;
    this.#logger.debug("transaction refused", { correlation_id: id, code });
  }

  ordered({ header: { height }, body }: Block, view: number): void {
    if (!this.#isFollowed()) return;
    for (const { id } of body.transactions) {
      this.#logger.debug("transaction ordered", { correlation_id: id, height, view });
    }
  }

  executed({ height, blockNumber, result, included, drops }: ExecutionReport): void {
    if (!this.#isFollowed()) return;
    const block = Number(blockNumber);
    const place = { height, block, result: bytesToHash(result) };
    for (const hash of included) {
      this.#logger.debug("transaction executed", { correlation_id: bytesToHash(hash), ...place });
    }
    for (const { id, code } of drops) {
      this.#logger.debug("transaction left out", { correlation_id: bytesToHash(id), height, code });
    }
  }

  #isFollowed(): boolean {
    return this.#logger.isDebug?.() === true;
  }
}
