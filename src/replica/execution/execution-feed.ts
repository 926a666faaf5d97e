/**
 * Between the final blocks and the execution thread: blocks go in as they become final, a few at a
 * time, and the core hears of every result once, in order. What a restart brings again and what the
 * state has executed before is reported without being executed again.
 */
import { CodedError } from "../../base/coded-error.ts";
import type { Block } from "../../consensus/block.ts";
import { bytesToHash } from "../../wire/hash-text.ts";
import type { ExecutionReport } from "./execution-report.ts";
import type { CheckedTransactions } from "../transactions/checked-transactions.ts";
import type { ExecutionReady } from "./execution-messages.ts";
import type { Driver } from "../driver.ts";
import type { FinalBlocks } from "../final-blocks.ts";
import type { ExecutionService } from "./execution-service.ts";

export type FeedDependencies = {
  readonly blocks: FinalBlocks;
  readonly checked: CheckedTransactions;
  readonly execution: Pick<ExecutionService, "execute">;
  /** Takes `executed` for heights at or below its final one. */
  readonly core: Pick<Driver, "input">;
};

export type FeedOptions = {
  /** How many heights below the final one the core may ask for. */
  readonly reportedMax: number;
  readonly repair: string;
};

/** Blocks that are with the thread: enough to keep it busy. */
const IN_FLIGHT_MAX = 8;
/** While the thread builds a state besides: one block, one chunk, in turn. */
const SHARED_IN_FLIGHT_MAX = 1;
const SENDERS_MAX = 256;

export class ExecutionFeed {
  readonly #options: FeedOptions;
  readonly #dependencies: FeedDependencies;
  /** Results that the state knew at the start, for blocks that the store may not have yet. */
  #knownResults: ReadonlyMap<number, Uint8Array>;
  readonly #senders = new Map<number, Uint8Array>();
  /** The heights that are final, executed, given to the thread, and reported to the core. */
  #final = 0;
  #executed: number;
  #fed: number;
  #reported = 0;
  #isStarted = false;
  #isHeld = false;
  #inFlightMax = IN_FLIGHT_MAX;

  constructor(options: FeedOptions, ready: ExecutionReady, dependencies: FeedDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#knownResults = ready.results;
    this.#executed = ready.height;
    this.#fed = ready.height;
    this.#keepResults(ready.results);
  }

  get executedHeight(): number {
    return this.#executed;
  }

  /** The last height that was given to the thread. */
  get fedHeight(): number {
    return this.#fed;
  }

  get finalHeight(): number {
    return this.#final;
  }

  /**
   * The core has read its log. Throws BLOCKS_MISSING when the store lacks what must be executed.
   */
  start(finalHeight: number): void {
    const { blocks } = this.#dependencies;
    const next = this.#fed + 1;
    if (next <= finalHeight && blocks.block(next) === undefined) {
      const { repair } = this.#options;
      throw new CodedError("BLOCKS_MISSING", { height: next, finalHeight, repair });
    }
    this.#isStarted = true;
    this.#final = finalHeight;
    this.#reported = Math.max(0, finalHeight - this.#options.reportedMax);
    this.#advance();
  }

  /** Whether the thread has something else to do besides. */
  share(isShared: boolean): void {
    this.#inFlightMax = isShared ? SHARED_IN_FLIGHT_MAX : IN_FLIGHT_MAX;
    if (this.#isStarted) this.#feed();
  }

  /** Nothing more is executed until the state is there that comes instead. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Goes on where it stopped. */
  release(): void {
    this.#isHeld = false;
    if (this.#isStarted) this.#advance();
  }

  /** Another state is in use: goes on after its height, which may be above what is final here. */
  replace({ height, results }: ExecutionReady): void {
    this.#executed = height;
    this.#fed = height;
    this.#knownResults = results;
    this.#keepResults(results);
    for (const known of this.#senders.keys()) if (known <= height) this.#senders.delete(known);
    // Below it there are no results of our own to report.
    this.#reported = Math.max(this.#reported, height - 1);
    this.release();
  }

  /** The blocks are in the store. */
  onFinal(finalized: readonly Block[]): void {
    const { blocks, checked } = this.#dependencies;
    for (const { header, body } of finalized) {
      const { height } = header;
      this.#final = Math.max(this.#final, height);
      const known = this.#knownResults.get(height);
      if (known !== undefined && height <= this.#executed) blocks.putResult(height, known);
      if (height <= this.#fed || this.#senders.size >= SENDERS_MAX) continue;
      this.#senders.set(height, checked.sendersOf(body.transactions));
    }
    if (this.#isStarted) this.#advance();
  }

  onExecuted({ height, result }: ExecutionReport): void {
    this.#executed = height;
    this.#dependencies.blocks.putResult(height, result);
    this.#advance();
  }

  #keepResults(results: ReadonlyMap<number, Uint8Array>): void {
    const { blocks } = this.#dependencies;
    for (const [height, result] of results) {
      if (height > 0 && height <= blocks.latestHeight) blocks.putResult(height, result);
    }
  }

  #advance(): void {
    this.#reportKnown();
    this.#feed();
  }

  #reportKnown(): void {
    const { blocks, core } = this.#dependencies;
    while (this.#reported < Math.min(this.#executed, this.#final)) {
      this.#reported++;
      const result = blocks.result(this.#reported);
      if (result === undefined) continue;
      core.input({ kind: "executed", height: this.#reported, result: bytesToHash(result) });
    }
  }

  #feed(): void {
    const { blocks, execution } = this.#dependencies;
    while (!this.#isHeld && this.#fed < this.#final) {
      if (this.#fed - this.#executed >= this.#inFlightMax) return;
      const height = this.#fed + 1;
      const block = blocks.block(height);
      // Between a block that the log gave back and those that the store lost: see `start`.
      if (block === undefined) return;
      this.#fed = height;
      execution.execute(block, this.#senders.get(height));
      this.#senders.delete(height);
    }
  }
}
