/**
 * Peers that send what no correct node sends: transactions that do not decode or whose signature
 * does not hold, frames with a false signature. Each costs a check, so a peer that goes on loses
 * its link, for a time that doubles until it behaves.
 */
import type { Principal } from "../../transport/principal.ts";

type Record = { count: number; pauseMs: number; lastMs: number };

/** A link carries what was under way when a rule changed: a few are no attack. */
const TOLERATED = 16;
const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 60_000;
const FORGIVEN_AFTER_MS = 10 * 60_000;

export class PeerPenalties {
  /** As many as there are peers: keys are pinned. */
  readonly #records = new Map<Principal, Record>();

  /** How long the peer is to be cut off, if it is. */
  note(peer: Principal, nowMs: number): number | undefined {
    let record = this.#records.get(peer);
    if (record === undefined || nowMs - record.lastMs > FORGIVEN_AFTER_MS) {
      record = { count: 0, pauseMs: PAUSE_MIN_MS / 2, lastMs: nowMs };
      this.#records.set(peer, record);
    }
    record.lastMs = nowMs;
    record.count++;
    if (record.count <= TOLERATED) return undefined;
    record.count = 0;
    record.pauseMs = Math.min(PAUSE_MAX_MS, 2 * record.pauseMs);
    return record.pauseMs;
  }
}
