import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Prng } from "../../src/base/prng.ts";
import { LogDisk, type TailFate } from "./log-disk.ts";

const FATES: readonly TailFate[] = ["lost", "kept", "prefix", "subset", "torn"];

function writeRecords(disk: LogDisk, count: number, prng: Prng): void {
  for (let index = 0; index < count; index++) disk.append(prng.bytes(prng.between(1, 900)));
}

describe("log disk", () => {
  it("keeps what was synced, whatever becomes of the tail", () => {
    for (let seed = 0; seed < 200; seed++) {
      const prng = new Prng(seed);
      const disk = new LogDisk();
      writeRecords(disk, prng.between(1, 8), prng);
      disk.markDurable(disk.lastSequence());
      const durable = disk.recordCount();
      writeRecords(disk, prng.between(0, 8), prng);
      const written = disk.recordCount();
      disk.losePower(FATES[seed % FATES.length]!, prng);
      const recovered = disk.recover();
      assert.equal(recovered.kind, "intact", `seed ${seed}`);
      const kept = recovered.bodies.length;
      assert.ok(kept >= durable && kept <= written, `seed ${seed}: ${kept} of ${durable}`);
    }
  });

  it("takes damage below the durable end for damage, unless it is in the last records", () => {
    let noticed = 0;
    for (let seed = 0; seed < 100; seed++) {
      const prng = new Prng(seed);
      const disk = new LogDisk();
      for (let round = 0; round < 4; round++) {
        writeRecords(disk, 3, prng);
        disk.markDurable(disk.lastSequence());
      }
      assert.ok(disk.rot(prng));
      const recovered = disk.recover();
      if (recovered.kind === "corrupt") noticed++;
      else assert.ok(recovered.bodies.length < 12, `seed ${seed}: the damage was read as data`);
    }
    assert.ok(noticed > 50, `${noticed} of 100 noticed`);
  });

  it("forgets records only below a durable one", () => {
    const disk = new LogDisk();
    writeRecords(disk, 5, new Prng(1));
    assert.throws(() => disk.dropBefore(3));
    disk.markDurable(4);
    disk.dropBefore(3);
    assert.equal(disk.recordCount(), 2);
    assert.equal(disk.lastSequence(), 4);
  });
});
