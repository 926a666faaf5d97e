/**
 * Closes admission while the disk is full, whichever of the three stores found out: the state, the
 * log or the block store.
 */
import type { Logger } from "../base/logger.ts";
import type { BlockStore } from "../storage/block-store.ts";
import type { Admission } from "./transactions/admission.ts";

export type DiskGateParts = {
  readonly logger: Logger;
  readonly store: Pick<BlockStore, "isFull">;
  readonly admission: Pick<Admission, "isClosed">;
};

export class DiskGate {
  readonly #parts: DiskGateParts;
  #isStateFull = false;
  #isLogFull = false;

  constructor(parts: DiskGateParts) {
    this.#parts = parts;
  }

  get isFull(): boolean {
    return this.#isStateFull || this.#isLogFull || this.#parts.store.isFull;
  }

  onStateFull(isFull: boolean): void {
    this.#isStateFull = isFull;
    this.#update();
  }

  onLogFull(isFull: boolean): void {
    this.#isLogFull = isFull;
    this.#update();
  }

  /** The block store knows itself whether it is full. */
  onBlocksChanged(): void {
    this.#update();
  }

  #update(): void {
    const { admission, logger } = this.#parts;
    const { isFull } = this;
    if (isFull === admission.isClosed) return;
    admission.isClosed = isFull;
    if (isFull) logger.error("the disk is full: no transactions are accepted", {});
    else logger.warn("the disk has room again", {});
  }
}
