import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { CodedError } from "../../../src/base/coded-error.ts";
import { Prng } from "../../../src/base/prng.ts";
import { type OpenedWal, Wal } from "../../../src/storage/wal.ts";
import { HEAD_RECORD_SIZE, recordSize } from "../../../src/storage/wal-record.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const SEGMENT_SIZE = 16 * 1024;
const REPAIR = "quorate replica --rejoin";

function open(directory: string, segmentSize = SEGMENT_SIZE): Promise<OpenedWal> {
  return Wal.open(directory, { repair: REPAIR, segmentSize });
}

function text(body: string): Uint8Array {
  return new TextEncoder().encode(body);
}

function texts(records: readonly Uint8Array[]): string[] {
  return records.map((record) => new TextDecoder().decode(record));
}

function segmentPath(directory: string, id: number): string {
  return path.join(directory, `wal-${String(id).padStart(10, "0")}.log`);
}

/** A closed log with these records in one segment, each synced on its own, and its bytes. */
async function writeLog(directory: string, bodies: readonly string[]): Promise<Buffer> {
  const { wal } = await open(directory);
  for (const body of bodies) {
    wal.append(text(body));
    await wal.sync();
  }
  await wal.close();
  return readFileSync(segmentPath(directory, 1));
}

async function assertCorrupt(directory: string, message: string): Promise<CodedError> {
  let failure: unknown;
  await assert.rejects(
    open(directory),
    (error) => {
      failure = error;
      return error instanceof CodedError && error.code === "WAL_CORRUPT";
    },
    message,
  );
  return failure as CodedError;
}

describe("the write-ahead log", () => {
  it("gives back what was synced, in order, after it is opened again", async (test) => {
    const directory = temporaryDirectory(test);
    await writeLog(directory, ["one", "", "three"]);
    const { wal, records, verdict } = await open(directory);
    assert.deepEqual(texts(records), ["one", "", "three"]);
    assert.equal(verdict, "clean");
    assert.equal(wal.lastLsn, 3);
    await wal.close();
  });

  it("is born with its full size and no records", async (test) => {
    const directory = temporaryDirectory(test);
    const { wal, records, verdict } = await open(directory);
    assert.deepEqual([records.length, verdict, wal.lastLsn], [0, "clean", 0]);
    assert.equal(statSync(segmentPath(directory, 1)).size, SEGMENT_SIZE);
    assert.deepEqual(readdirSync(directory), ["wal-0000000001.log"]);
    await wal.close();
  });

  it("takes records again only in a segment of their own", async (test) => {
    const directory = temporaryDirectory(test);
    await writeLog(directory, ["one"]);
    const { wal } = await open(directory);
    assert.throws(() => wal.append(text("two")), { name: "InvariantError" });
    assert.equal(await wal.startSegment(text("snapshot")), 2);
    wal.append(text("two"));
    await wal.close();
    const again = await open(directory);
    assert.deepEqual(texts(again.records), ["one", "snapshot", "two"]);
    await again.wal.close();
  });

  it("begins afresh, with a new segment, when nothing was ever durable", async (test) => {
    const directory = temporaryDirectory(test);
    const first = await open(directory);
    await first.wal.close();
    const { wal, records } = await open(directory);
    assert.equal(records.length, 0);
    assert.equal(wal.segmentId, 2);
    assert.equal(wal.append(text("one")), 1);
    await wal.close();
    assert.deepEqual(texts((await open(directory)).records), ["one"]);
  });

  it("lets a segment grow when a record does not fit", async (test) => {
    const directory = temporaryDirectory(test);
    const { wal } = await open(directory);
    const bodies = ["a".repeat(SEGMENT_SIZE), "b".repeat(3 * SEGMENT_SIZE), "c"];
    for (const body of bodies) wal.append(text(body));
    assert.ok(wal.fill > 4);
    await wal.close();
    assert.deepEqual(texts((await open(directory)).records), bodies);
  });

  it("cuts a last record that is torn at any byte, whatever is found there", async (test) => {
    const directory = temporaryDirectory(test);
    const bytes = await writeLog(directory, ["first", "second", "the last record"]);
    const prng = new Prng(1);
    const size = recordSize(text("the last record").length);
    const start = HEAD_RECORD_SIZE + recordSize(5) + recordSize(6);
    const file = segmentPath(directory, 1);
    for (let kept = 0; kept < size; kept++) {
      const zeroed = Buffer.from(bytes).fill(0, start + kept);
      const garbled = Buffer.from(zeroed);
      garbled.set(prng.bytes(size - kept), start + kept);
      const images = { zeroed, garbled, truncated: bytes.subarray(0, start + kept) };
      for (const [name, image] of Object.entries(images)) {
        writeFileSync(file, image);
        const { records, verdict, wal } = await open(directory);
        assert.deepEqual(texts(records), ["first", "second"], `${name} after ${kept} bytes`);
        // The seal is the first sixteen bytes: what has it was begun, and is reported.
        if (kept >= 16) assert.equal(verdict, "tail-cut", `${name} after ${kept} bytes`);
        await wal.close();
      }
    }
  });

  it("goes on after a cut without ever reading the tail that was cut", async (test) => {
    const directory = temporaryDirectory(test);
    const { wal } = await open(directory);
    for (const body of ["aaaa", "bbbb", "cccc", "dddd"]) wal.append(text(body));
    await wal.close();
    // One write for all four: none of them knows of another being durable. The second is lost.
    const file = segmentPath(directory, 1);
    const bytes = readFileSync(file);
    const start = HEAD_RECORD_SIZE + recordSize(4);
    writeFileSync(file, bytes.fill(0, start, start + recordSize(4)));
    const cut = await open(directory);
    assert.deepEqual(texts(cut.records), ["aaaa"]);
    assert.equal(cut.verdict, "tail-cut");
    await cut.wal.startSegment(text("snap"));
    cut.wal.append(text("eeee"));
    await cut.wal.close();
    const again = await open(directory);
    assert.deepEqual(texts(again.records), ["aaaa", "snap", "eeee"]);
    assert.equal(again.verdict, "clean");
  });

  it("refuses a log with any bit flipped below what is known to be durable", async (test) => {
    const directory = temporaryDirectory(test);
    const bytes = await writeLog(directory, ["first", "second", "third", "fourth"]);
    const file = segmentPath(directory, 1);
    // The fourth record says that the third was durable; only the fourth itself may be a tail.
    const end = HEAD_RECORD_SIZE + recordSize(5) + recordSize(6) + recordSize(5);
    for (let at = 0; at < end; at++) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << (at % 8)), at);
      writeFileSync(file, flipped);
      await assertCorrupt(directory, `bit ${at % 8} of byte ${at}`);
    }
  });

  it("says where the damage is and what repairs it", async (test) => {
    const directory = temporaryDirectory(test);
    const bytes = await writeLog(directory, ["first", "second", "third"]);
    const offset = HEAD_RECORD_SIZE + recordSize(5);
    bytes.writeUInt8(bytes.readUInt8(offset + 40) ^ 1, offset + 40);
    const file = segmentPath(directory, 1);
    writeFileSync(file, bytes);
    const failure = await assertCorrupt(directory, "a damaged body");
    assert.deepEqual(failure.data, { path: file, offset, lsn: 2, repair: REPAIR });
    assert.ok(failure.message.includes(REPAIR));
  });

  it("refuses a segment that lost its first record", async (test) => {
    const directory = temporaryDirectory(test);
    await writeLog(directory, ["one"]);
    const { wal } = await open(directory);
    await wal.startSegment(text("snapshot"));
    await wal.close();
    const file = segmentPath(directory, 2);
    const bytes = readFileSync(file);
    // The head knows that the record after it was durable before the file had a name.
    writeFileSync(file, bytes.fill(0, HEAD_RECORD_SIZE));
    await assertCorrupt(directory, "no first record");
    truncateSync(file, 0);
    await assertCorrupt(directory, "an empty segment");
  });

  it("refuses a log whose older segment lost its end", async (test) => {
    const directory = temporaryDirectory(test);
    await writeLog(directory, ["one", "two"]);
    const { wal } = await open(directory);
    await wal.startSegment(text("snapshot"));
    await wal.close();
    const file = segmentPath(directory, 1);
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0, HEAD_RECORD_SIZE + recordSize(3)));
    await assertCorrupt(directory, "the second record is gone, the segment after it is there");
  });
});

describe("segments of the log", () => {
  it("are dropped below the given one, and the log goes on", async (test) => {
    const directory = temporaryDirectory(test);
    const { wal } = await open(directory);
    for (let round = 0; round < 5; round++) {
      wal.append(text(`before ${round}`));
      await wal.startSegment(text(`snapshot ${round}`));
      if (round !== 2) await wal.dropBefore(wal.segmentId);
    }
    wal.append(text("after"));
    await wal.close();
    const { records } = await open(directory);
    assert.deepEqual(texts(records), ["snapshot 4", "after"]);
  });

  it("are made of dropped ones, whose old records never come back", async (test) => {
    const directory = temporaryDirectory(test);
    const { wal } = await open(directory);
    // Old records of equal size stand exactly where the new ones end.
    for (let each = 0; each < 50; each++) wal.append(text(`old ${each}`.padEnd(20)));
    await wal.startSegment(text("snapshot a".padEnd(20)));
    const { ino } = statSync(segmentPath(directory, 1));
    await wal.dropBefore(2);
    assert.deepEqual(readdirSync(directory).sort(), ["wal-0000000002.log", "wal-spare.log"]);
    await wal.startSegment(text("snapshot b".padEnd(20)));
    assert.equal(statSync(segmentPath(directory, 3)).ino, ino, "the file was reused");
    await wal.dropBefore(3);
    wal.append(text("new".padEnd(20)));
    await wal.close();
    const { records, verdict } = await open(directory);
    assert.deepEqual(
      texts(records).map((body) => body.trim()),
      ["snapshot b", "new"],
    );
    assert.equal(verdict, "clean");
  });

  it("do not take old records for theirs where lsn and place agree", async (test) => {
    const directory = temporaryDirectory(test);
    const { wal } = await open(directory);
    for (const body of ["old1", "old2", "old3"]) wal.append(text(body));
    await wal.close();
    // The first is lost before anything was durable, so the log begins again at lsn 1.
    const file = segmentPath(directory, 1);
    const end = HEAD_RECORD_SIZE + recordSize(4);
    writeFileSync(file, readFileSync(file).fill(0, HEAD_RECORD_SIZE, end));
    const { ino } = statSync(file);
    const second = await open(directory);
    assert.deepEqual([second.records.length, second.verdict], [0, "tail-cut"]);
    await second.wal.close();
    const third = await open(directory);
    assert.equal(statSync(segmentPath(directory, 3)).ino, ino, "the file was reused");
    third.wal.append(text("new1"));
    await third.wal.close();
    assert.deepEqual(texts((await open(directory)).records), ["new1"]);
  });

  it("can be prepared while records are appended", async (test) => {
    const directory = temporaryDirectory(test);
    const { wal } = await open(directory);
    const prepared = Promise.all([wal.prepareSpare(), wal.prepareSpare()]);
    wal.append(text("one"));
    await Promise.all([prepared, wal.sync()]);
    const { ino } = statSync(path.join(directory, "wal-spare.log"));
    await wal.startSegment(text("two"));
    assert.equal(statSync(segmentPath(directory, 2)).ino, ino);
    await wal.close();
    assert.deepEqual(texts((await open(directory)).records), ["one", "two"]);
  });
});

describe("group commit", () => {
  it("covers what was appended before the call, in order of the calls", async (test) => {
    const directory = temporaryDirectory(test);
    const { wal } = await open(directory);
    const order: number[] = [];
    const syncs: Promise<void>[] = [];
    for (let each = 1; each <= 100; each++) {
      const lsn = wal.append(text(`record ${each}`));
      assert.equal(lsn, each);
      const synced = wal.sync().then((durable) => {
        assert.ok(durable >= lsn, `sync of ${lsn} resolved with ${durable}`);
        assert.ok(wal.durableLsn >= lsn);
        order.push(lsn);
      });
      syncs.push(synced);
      if (each % 10 === 0) await Promise.race(syncs.slice(-5));
    }
    await Promise.all(syncs);
    assert.deepEqual(
      order,
      order.slice().sort((a, b) => a - b),
    );
    assert.equal(await wal.sync(), 100, "nothing new to write");
    await wal.close();
    assert.equal((await open(directory)).records.length, 100);
  });

  it("does not report a record that was appended while the disk was busy", async (test) => {
    const directory = temporaryDirectory(test);
    const { wal } = await open(directory);
    wal.append(text("first"));
    const first = wal.sync();
    await Promise.resolve();
    wal.append(text("second"));
    assert.equal(await first, 1);
    assert.equal(wal.durableLsn, 1);
    assert.equal(await wal.sync(), 2);
    await wal.close();
  });
});
