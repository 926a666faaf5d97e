/** Links and frames of peers, to the part of the replica that each concerns. */
import type { Logger } from "../../base/logger.ts";
import type { ReplicaIndex } from "../../consensus/block.ts";
import type { Message } from "../../consensus/message.ts";
import type { LinkReason, Refusal } from "../../transport/link-reason.ts";
import type { Principal } from "../../transport/principal.ts";
import type { TransportEvents } from "../../transport/transport.ts";
import { CLIENT_CHANNEL, CONSENSUS_CHANNEL } from "../../wire/client-codec.ts";
import { STATE_CHANNEL } from "../../wire/state-codec.ts";
import type { Driver } from "../driver.ts";
import type { ReplicaCounters } from "../replica-report.ts";
import type { StateSync } from "../state-sync/state-sync.ts";
import type { Admission } from "../transactions/admission.ts";
import { replicaSource } from "../transactions/source-name.ts";
import type { ClientSessions } from "./client-sessions.ts";
import type { PeerGuard } from "./peer-guard.ts";
import type { PeerInbox } from "./peer-inbox.ts";
import type { PeerLinks } from "./peer-links.ts";

export type FrameRouterParts = {
  readonly logger: Logger;
  readonly counters: Pick<ReplicaCounters, "framesRefused">;
  readonly links: PeerLinks;
  readonly driver: Driver;
  readonly inbox: PeerInbox;
  readonly stateSync: StateSync;
  readonly sessions: ClientSessions;
  readonly admission: Admission;
  readonly guard: PeerGuard;
};

export class FrameRouter implements TransportEvents {
  readonly #parts: FrameRouterParts;

  constructor(parts: FrameRouterParts) {
    this.#parts = parts;
  }

  onUp(peer: Principal): void {
    const { logger, links, driver, sessions } = this.#parts;
    logger.info("link up", { peer });
    if (links.isReplica(peer)) driver.input({ kind: "link", peer, isUp: true });
    else sessions.onUp(peer);
  }

  onDown(peer: Principal, reason: LinkReason): void {
    const { logger, links, driver, sessions, inbox, stateSync } = this.#parts;
    logger.info("link down", { peer, reason });
    if (!links.isReplica(peer)) {
      sessions.onDown(peer);
      return;
    }
    inbox.onDown(peer);
    stateSync.onDown(peer);
    driver.input({ kind: "link", peer, isUp: false });
  }

  onFrame(peer: Principal, frame: Uint8Array): void {
    const { links, inbox, stateSync, sessions } = this.#parts;
    const channel = frame[0];
    const bytes = frame.subarray(1);
    const isReplica = links.isReplica(peer);
    if (isReplica && channel === CONSENSUS_CHANNEL) inbox.onFrame(peer, bytes);
    else if (isReplica && channel === STATE_CHANNEL) stateSync.onFrame(peer, bytes);
    else if (!isReplica && channel === CLIENT_CHANNEL) sessions.onFrame(peer, bytes);
    else this.onRefused(peer, "CHANNEL_UNKNOWN");
  }

  onDrain(peer: Principal): void {
    this.#parts.sessions.onDrain(peer);
  }

  onRefusal({ code, remote }: Refusal): void {
    this.#parts.logger.debug("connection refused", { code, remote });
  }

  /** A message of another replica that was decoded and authenticated. */
  onMessage(from: ReplicaIndex, message: Message, transactionsValid: boolean): void {
    const { admission, driver, logger } = this.#parts;
    if (message.kind === "forward") {
      // As a client's: the leader orders nothing that it would not admit.
      admission.arrive([message.transaction.bytes], replicaSource(from));
      return;
    }
    const input = { kind: "message", from, message, transactionsValid } as const;
    driver.input(input, ({ rejection }) => {
      if (rejection !== undefined) logger.debug("message refused", { from, code: rejection.code });
    });
  }

  /** A frame that no part of the replica can use. */
  onRefused(peer: Principal, code: string): void {
    const { counters, logger, guard } = this.#parts;
    counters.framesRefused++;
    logger.debug("frame refused", { peer, code });
    guard.onForged(peer, code);
  }
}
