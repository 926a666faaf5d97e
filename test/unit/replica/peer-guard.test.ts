import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PeerGuard } from "../../../src/replica/peers/peer-guard.ts";
import { PeerPenalties } from "../../../src/replica/peers/peer-penalties.ts";
import { SILENT_LOGGER } from "../../support/replica-network.ts";

const MINUTE_MS = 60_000;

describe("peers that misbehave", () => {
  it("are cut off for a pause that doubles, and forgiven after a while", () => {
    const penalties = new PeerPenalties();
    const pauses: number[] = [];
    let nowMs = 0;
    const sendForged = (count: number): void => {
      for (let one = 0; one < count; one++) {
        const pauseMs = penalties.note(8, nowMs++);
        if (pauseMs !== undefined) pauses.push(pauseMs);
      }
    };
    sendForged(16);
    assert.deepEqual(pauses, [], "a few are tolerated");
    sendForged(170);
    assert.deepEqual(pauses.slice(0, 4), [1_000, 2_000, 4_000, 8_000]);
    assert.equal(Math.max(...pauses), MINUTE_MS);
    assert.equal(penalties.note(9, nowMs), undefined, "each peer for itself");
    nowMs += 11 * MINUTE_MS;
    pauses.length = 0;
    sendForged(17);
    assert.deepEqual(pauses, [1_000]);
  });

  it("lose their link for forgeries, not for what a correct peer may send", () => {
    const barred: number[] = [];
    const up = new Set([1, 8]);
    const guard = new PeerGuard({
      logger: SILENT_LOGGER,
      links: {
        isReplica: (peer) => peer < 4,
        isUp: (peer) => up.has(peer),
        hold: () => undefined,
        bar: (peer) => up.delete(peer),
      },
      onBarred: (peer) => barred.push(peer),
    });
    for (let count = 0; count < 100; count++) {
      guard.onForged(8, "TX_NONCE_TOO_LOW");
      guard.onForged(8, "TX_TYPE_NOT_ACTIVE");
    }
    assert.deepEqual(barred, []);
    for (let count = 0; count < 100; count++) {
      guard.onForged(8, "TX_SIGNATURE_S_HIGH");
      guard.onForged(1, "AUTH_SIGNATURE_INVALID");
    }
    assert.deepEqual(barred, [8, 1], "once each: what was under way is not counted again");
  });
});
