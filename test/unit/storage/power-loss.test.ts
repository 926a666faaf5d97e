/** Of what was written after the last sync, the disk may keep any sectors (PROTOCOL §7). */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { Prng } from "../../../src/base/prng.ts";
import { Wal } from "../../../src/storage/wal.ts";
import { walBody } from "./wal-appender.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const SECTOR_SIZE = 512;
const SEEDS = 60;
const OPTIONS = { repair: "none", segmentSize: 128 * 1024 };

describe("a loss of power", () => {
  it("takes only what was not synced, whichever sectors survive", async (test) => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const directory = path.join(temporaryDirectory(test), "wal");
      const prng = new Prng(seed);
      const { wal } = await Wal.open(directory, OPTIONS);
      for (let count = prng.between(1, 5); count > 0; count--) {
        for (let burst = prng.between(1, 6); burst > 0; burst--) append(wal);
        await wal.sync();
      }
      const file = path.join(directory, `wal-${String(wal.segmentId).padStart(10, "0")}.log`);
      const before = readFileSync(file);
      const durable = wal.durableLsn;
      for (let burst = prng.between(1, 12); burst > 0; burst--) append(wal);
      await wal.close();
      const after = readFileSync(file);
      writeFileSync(file, mixSectors(before, after, prng));
      const reopened = await Wal.open(directory, OPTIONS);
      const { records } = reopened;
      assert.ok(records.length >= durable, `SEED=${seed}: ${records.length} of ${durable}`);
      records.forEach((record, index) => {
        assert.ok(Buffer.from(record).equals(walBody(index + 1)), `SEED=${seed} record ${index}`);
      });
      // The node goes on, and nothing of the lost tail comes back.
      await reopened.wal.startSegment(walBody(reopened.wal.lastLsn + 1));
      append(reopened.wal);
      await reopened.wal.close();
      const again = await Wal.open(directory, OPTIONS);
      assert.equal(again.records.length, records.length + 2, `SEED=${seed}`);
      again.records.forEach((record, index) => {
        assert.ok(Buffer.from(record).equals(walBody(index + 1)), `SEED=${seed} again ${index}`);
      });
    }
  });
});

function append(wal: Wal): void {
  wal.append(walBody(wal.lastLsn + 1));
}

function mixSectors(before: Buffer, after: Buffer, prng: Prng): Buffer {
  const mixed = Buffer.from(after);
  const chance = prng.uint32() / 2 ** 32;
  for (let at = 0; at < after.length; at += SECTOR_SIZE) {
    if (prng.chance(chance)) before.copy(mixed, at, at, at + SECTOR_SIZE);
  }
  return mixed;
}
