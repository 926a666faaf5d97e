/** What the core notices about itself and its peers: logged at its level, and acted on. */
import { CodedError } from "../base/coded-error.ts";
import type { Logger } from "../base/logger.ts";
import type { Notice } from "../consensus/effect.ts";
import type { ReplicaCounters } from "./replica-report.ts";
import type { StateSync } from "./state-sync/state-sync.ts";

export type NoticeHandlerParts = {
  readonly logger: Logger;
  readonly counters: Pick<ReplicaCounters, "viewChanges">;
  readonly stateSync: Pick<StateSync, "consider">;
  /** Stops the replica for good. */
  fail(error: unknown): void;
};

export class NoticeHandler {
  readonly #parts: NoticeHandlerParts;
  #alarm: Notice["code"] | undefined;

  constructor(parts: NoticeHandlerParts) {
    this.#parts = parts;
  }

  /** The last notice that needs an operator. */
  get alarm(): Notice["code"] | undefined {
    return this.#alarm;
  }

  handle(notice: Notice): void {
    const { logger, counters, stateSync } = this.#parts;
    const { code, ...fields } = notice;
    switch (code) {
      case "EXECUTION_DIVERGED":
        this.#alarm = code;
        logger.error("this replica's results differ from the others'", fields);
        return;
      case "FINALITY_CONFLICT":
      case "KEY_SUPERSEDED":
        this.#alarm = code;
        // After the effects of this step: the core has stopped itself already.
        queueMicrotask(() => this.#parts.fail(new CodedError(code, fields)));
        return;
      case "ROLLED_BACK":
      case "EVIDENCE_FOUND":
        logger.warn("consensus notice", { code, ...fields });
        return;
      case "VIEW_ENTERED":
        counters.viewChanges++;
        logger.info("consensus notice", { code, ...fields });
        return;
      case "VIEW_ACCEPTED":
      case "EPOCH_ENTERED":
      case "LEADER_SUSPECTED":
      case "EPOCH_JOINED":
        logger.info("consensus notice", { code, ...fields });
        return;
      case "CATCHING_UP":
        logger.debug("consensus notice", { code, ...fields });
        stateSync.consider(notice.to);
    }
  }
}
