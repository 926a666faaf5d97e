/** What the replica says of itself, to its clients and to its own operator. */
import type { ReplicaReport } from "../wire/client-codec.ts";
import type { DiskGate } from "./disk-gate.ts";
import type { Driver } from "./driver.ts";
import type { ExecutionFeed } from "./execution/execution-feed.ts";
import type { NoticeHandler } from "./notice-handler.ts";
import type { PeerLinks } from "./peers/peer-links.ts";
import type { ReplicaOptions } from "./replica-options.ts";
import type { LocalReport } from "./replica-report.ts";
import type { Admission } from "./transactions/admission.ts";

export type StatusReporterParts = {
  readonly options: Pick<ReplicaOptions, "index">;
  readonly driver: Driver;
  readonly feed: ExecutionFeed;
  readonly admission: Admission;
  readonly gate: DiskGate;
  readonly links: PeerLinks;
  readonly notices: NoticeHandler;
};

export class StatusReporter {
  readonly #parts: StatusReporterParts;

  constructor(parts: StatusReporterParts) {
    this.#parts = parts;
  }

  report(nonce: number): ReplicaReport & LocalReport {
    const { options, driver, feed, admission, gate, links, notices } = this.#parts;
    const status = driver.status();
    const { mode, epoch, view, isAccepted, leader, tipHeight, finalHeight, finalHash } = status;
    return {
      kind: "status",
      nonce,
      replica: options.index,
      ...{ mode, epoch, view, isAccepted, leader, tipHeight, finalHeight, finalHash },
      execHeight: feed.executedHeight,
      pendingCount: Math.max(status.pendingCount, admission.pendingCount),
      isDiskFull: gate.isFull,
      peersUp: links.replicasUp(),
      alarm: notices.alarm,
      isPoolFull: admission.poolStatus().isFull,
      intakeDropped: admission.droppedCount,
    };
  }
}
