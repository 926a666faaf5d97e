/** Real processes, killed while they write to the real disk. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Prng } from "../../../src/base/prng.ts";
import { StateStore } from "../../../src/storage/state-store.ts";
import { Wal } from "../../../src/storage/wal.ts";
import { lastReported, runUntil } from "./child-process.ts";
import { KEYS_PER_BLOCK, STATE_WRITER, stateKey } from "./state-writer.ts";
import { temporaryDirectory } from "./temporary-directory.ts";
import { WAL_APPENDER, walBody } from "./wal-appender.ts";

const ROUNDS = 4;
const SEGMENT_SIZE = 256 * 1024;

describe("kill -9", () => {
  it("loses no record that was reported as synced", async (test) => {
    const directory = temporaryDirectory(test);
    const prng = new Prng(11);
    for (let round = 1; round <= ROUNDS; round++) {
      const command = [process.execPath, WAL_APPENDER, directory, `${round}`, `${SEGMENT_SIZE}`];
      const wanted = prng.between(1, 150);
      const { lines, signal } = await runUntil(command, (seen) => seen.length > wanted, {
        delayMs: prng.below(8),
      });
      assert.equal(signal, "SIGKILL", `round ${round}: ${lines.at(-1) ?? "no output"}`);
      const synced = lastReported(lines, "synced");
      assert.ok(synced !== undefined, `round ${round} came to a sync`);
      const { wal, records } = await Wal.open(directory, {
        repair: "none",
        segmentSize: SEGMENT_SIZE,
      });
      assert.ok(wal.lastLsn >= synced, `round ${round}: ${wal.lastLsn} < ${synced} reported`);
      const firstLsn = wal.lastLsn - records.length + 1;
      records.forEach((record, index) => {
        const lsn = firstLsn + index;
        assert.ok(Buffer.from(record).equals(walBody(lsn)), `round ${round}: record ${lsn}`);
      });
      await wal.close();
    }
  });

  it("leaves state and marker of one block", async (test) => {
    const directory = temporaryDirectory(test);
    const prng = new Prng(12);
    for (let round = 1; round <= ROUNDS; round++) {
      const wanted = prng.between(1, 20);
      const { lines, signal } = await runUntil(
        [process.execPath, STATE_WRITER, directory],
        (seen) => seen.length > wanted,
        { delayMs: prng.below(8) },
      );
      assert.equal(signal, "SIGKILL", `round ${round}`);
      const store = await StateStore.open(directory, { freeBytesMin: 0 });
      const height = store.height ?? 0;
      assert.ok(height >= (lastReported(lines, "synced") ?? 0), `round ${round}`);
      for (let index = 0; index < KEYS_PER_BLOCK; index++) {
        const value = Buffer.from(store.get(stateKey(index)) ?? []).toString();
        assert.ok(value.startsWith(`height ${height} `), `round ${round}, key ${index}: ${value}`);
      }
      await store.close();
    }
  });
});
