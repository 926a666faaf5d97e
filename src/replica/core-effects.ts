/** Carries the effects of the core out on links, stores and execution (PROTOCOL §4). */
import type { Logger } from "../base/logger.ts";
import type { Block, ReplicaIndex } from "../consensus/block.ts";
import type { ExecCert, FinalCert } from "../consensus/certificate.ts";
import type { Notice } from "../consensus/effect.ts";
import type { Message } from "../consensus/message.ts";
import type { DiskGate } from "./disk-gate.ts";
import type { DriverPorts } from "./driver.ts";
import type { ExecutionFeed } from "./execution/execution-feed.ts";
import type { FinalBlocks } from "./final-blocks.ts";
import type { NoticeHandler } from "./notice-handler.ts";
import type { ClientSessions } from "./peers/client-sessions.ts";
import type { HeldLinks } from "./peers/held-links.ts";
import type { PeerInbox } from "./peers/peer-inbox.ts";
import type { PeerLinks } from "./peers/peer-links.ts";
import type { ReplicaObserver } from "./replica-options.ts";
import type { ReplicaCounters } from "./replica-report.ts";
import type { ReplicaTransactionLife } from "./transactions/transaction-life.ts";

export type CoreEffectsParts = {
  readonly logger: Logger;
  readonly observer: ReplicaObserver | undefined;
  readonly counters: ReplicaCounters;
  readonly life: ReplicaTransactionLife;
  readonly links: PeerLinks;
  readonly held: HeldLinks;
  readonly inbox: PeerInbox;
  readonly blocks: FinalBlocks;
  readonly feed: ExecutionFeed;
  readonly sessions: ClientSessions;
  readonly notices: NoticeHandler;
  readonly gate: DiskGate;
  /** Stops the replica for good. */
  fail(error: unknown): void;
};

export class CoreEffects implements DriverPorts {
  readonly #parts: CoreEffectsParts;

  constructor(parts: CoreEffectsParts) {
    this.#parts = parts;
  }

  send(to: ReplicaIndex | "all", message: Message): void {
    this.#parts.inbox.noteSent(to, message);
    this.#parts.links.sendMessage(to, message);
  }

  /** The store first: execution and clients read from it. */
  finalize(finalized: readonly Block[], certificate: FinalCert): void {
    const { blocks, feed, counters, life, observer, sessions } = this.#parts;
    blocks.append(finalized, certificate);
    feed.onFinal(finalized);
    counters.finalBlocks += finalized.length;
    for (const block of finalized) {
      const { txCount, timestampMs } = block.header;
      life.ordered(block, certificate.view);
      counters.finalTransactions += txCount;
      observer?.onFinal(txCount, Math.max(0, Date.now() - timestampMs));
    }
    sessions.onProgress();
  }

  serveBlocks(to: ReplicaIndex, fromHeight: number, toHeight: number): void {
    const parts = this.#parts.blocks.response(fromHeight, toHeight);
    if (parts !== undefined) this.#parts.links.sendEncoded(to, parts);
  }

  /** A state can be taken at any height (state-sync.ts): checkpoints are only logged. */
  checkpoint({ height }: ExecCert): void {
    this.#parts.logger.debug("checkpoint", { height });
  }

  notice(notice: Notice): void {
    this.#parts.notices.handle(notice);
  }

  onLogFull(isFull: boolean): void {
    this.#parts.gate.onLogFull(isFull);
  }

  onCongested(isCongested: boolean): void {
    this.#parts.held.holdAll(isCongested);
  }

  flushBlocks(): Promise<void> {
    return this.#parts.blocks.flush();
  }

  onFatal(error: unknown): void {
    this.#parts.fail(error);
  }
}
