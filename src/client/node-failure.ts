/** What stopped the client node, or keeps its journal from being written. */
import { CodedError } from "../base/coded-error.ts";
import type { Logger } from "../base/logger.ts";

export type NodeFailureDependencies = {
  readonly logger: Logger;
  /** Once: the node has stopped for good and the process should end with a failure. */
  readonly onFatal: (error: unknown) => void;
};

export class NodeFailure {
  readonly #dependencies: NodeFailureDependencies;
  #error: unknown;
  #journalCode: string | undefined;
  #isClosed = false;

  constructor(dependencies: NodeFailureDependencies) {
    this.#dependencies = dependencies;
  }

  /** The code of what stopped the node. */
  get code(): string | undefined {
    return this.#error === undefined ? undefined : codeOf(this.#error);
  }

  /** The code of what keeps the journal from being written: reads go on, nothing is accepted. */
  get journalCode(): string | undefined {
    return this.#journalCode;
  }

  /** By a failure or by an orderly close. */
  get hasStopped(): boolean {
    return this.#error !== undefined || this.#isClosed;
  }

  /** The code that submissions are refused with; undefined while the node runs. */
  get submitRefusal(): string | undefined {
    if (!this.hasStopped) return undefined;
    return this.#error instanceof CodedError ? this.#error.code : "NODE_STOPPED";
  }

  fail(error: unknown): void {
    if (this.hasStopped) return;
    this.#error = error;
    this.#dependencies.logger.error("the client node stopped", { code: codeOf(error) });
    this.#dependencies.onFatal(error);
  }

  /** The first failure is logged; the ones after it have the same cause. */
  failJournal(error: unknown): void {
    if (this.#journalCode !== undefined) return;
    const code = codeOf(error);
    this.#journalCode = code;
    this.#dependencies.logger.error("the journal cannot be written", { code });
  }

  /** Failures after an orderly close are not reported. */
  close(): void {
    this.#isClosed = true;
  }
}

function codeOf(error: unknown): string {
  return error instanceof CodedError ? error.code : String(error);
}
