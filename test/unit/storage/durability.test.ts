/** Nothing counts as durable before the call that makes it so has returned. */
import assert from "node:assert/strict";
import {
  existsSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { FILE_SYNC, type FileSync } from "../../../src/storage/file-sync.ts";
import { HeightMark } from "../../../src/storage/height-mark.ts";
import { Wal } from "../../../src/storage/wal.ts";
import { until } from "../../support/following-client.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const OPTIONS = { repair: "none", segmentSize: 16 * 1024 };
const MEBIBYTE = 1024 * 1024;

/** Does what it is asked, but only when the test lets it. */
class SlowSync implements FileSync {
  readonly files: number[] = [];
  readonly directories: string[] = [];
  readonly #waiting: (() => void)[] = [];
  isSlow = false;

  readonly data: FileSync["data"] = (fd, done) => {
    this.files.push(fstatSync(fd).ino);
    this.#later(() => FILE_SYNC.data(fd, done));
  };

  readonly dataAndWait: FileSync["dataAndWait"] = (fd) => {
    this.files.push(fstatSync(fd).ino);
    FILE_SYNC.dataAndWait(fd);
  };

  readonly directory: FileSync["directory"] = async (directory) => {
    this.directories.push(directory);
    await new Promise<void>((resolve) => this.#later(resolve));
    await FILE_SYNC.directory(directory);
  };

  goOn(): void {
    this.isSlow = false;
    for (const act of this.#waiting.splice(0)) act();
  }

  #later(act: () => void): void {
    if (this.isSlow) this.#waiting.push(act);
    else act();
  }
}

/** After what runs at once and what waits for the disk as a rule. */
function moment(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 30);
  });
}

function segmentPath(directory: string, id: number): string {
  return path.join(directory, `wal-${String(id).padStart(10, "0")}.log`);
}

describe("durability", () => {
  it("a height mark has not risen before its file is synced", async (test) => {
    const sync = new SlowSync();
    const mark = await HeightMark.open(path.join(temporaryDirectory(test), "mark"), sync);
    assert.equal(sync.directories.length, 1, "a new file is found again");
    sync.isSlow = true;
    mark.raise(5);
    await moment();
    assert.deepEqual([sync.files.length, mark.durableHeight], [1, 0]);
    sync.goOn();
    await until(() => mark.durableHeight === 5, "it has risen");
    await mark.close();
  });

  it("a segment has not begun before its name is on the disk", async (test) => {
    const directory = temporaryDirectory(test);
    const sync = new SlowSync();
    const { wal } = await Wal.open(directory, { ...OPTIONS, sync });
    const before = sync.directories.length;
    sync.isSlow = true;
    let hasBegun = false;
    const begun = wal.startSegment(Uint8Array.of(1)).then(() => (hasBegun = true));
    await until(() => existsSync(segmentPath(directory, 2)), "the segment has its name");
    await moment();
    assert.deepEqual(sync.directories.slice(before), [directory]);
    assert.equal(hasBegun, false);
    assert.equal(wal.durableLsn, 0);
    sync.goOn();
    await begun;
    await wal.close();
  });

  it("what a restart reads of the log is synced before anything is built on it", async (test) => {
    const directory = temporaryDirectory(test);
    const { wal } = await Wal.open(directory, OPTIONS);
    wal.append(Uint8Array.of(1));
    await wal.close();
    const sync = new SlowSync();
    const again = await Wal.open(directory, { ...OPTIONS, sync });
    assert.equal(again.records.length, 1);
    assert.deepEqual(sync.files, [statSync(segmentPath(directory, 1)).ino]);
    await again.wal.close();
  });

  it("segments that could not be removed are removed by the next attempt", async (test) => {
    const directory = temporaryDirectory(test);
    const { wal } = await Wal.open(directory, OPTIONS);
    await wal.startSegment(Uint8Array.of(1));
    await wal.startSegment(Uint8Array.of(2));
    const first = segmentPath(directory, 1);
    rmSync(first);
    mkdirSync(first);
    await assert.rejects(wal.dropBefore(3), { code: "WAL_WRITE_FAILED" });
    rmdirSync(first);
    writeFileSync(first, "");
    await wal.dropBefore(3);
    const named = readdirSync(directory).filter((name) => /^wal-\d/.test(name));
    assert.deepEqual(named, ["wal-0000000003.log"]);
    await wal.close();
  });

  it("restarts on a full disk do not eat the reserve with segments of full size", async (test) => {
    const directory = temporaryDirectory(test);
    const options = { repair: "none", segmentSize: 8 * MEBIBYTE };
    const first = await Wal.open(directory, options);
    first.wal.append(Uint8Array.of(1));
    await first.wal.close();
    const sizeOf = (id: number): number => statSync(segmentPath(directory, id)).size;
    assert.equal(sizeOf(1), 8 * MEBIBYTE);
    for (let restart = 2; restart <= 6; restart++) {
      const { wal, records } = await Wal.open(directory, { ...options, freeBytes: () => MEBIBYTE });
      assert.equal(records.length, restart - 1);
      await wal.startSegment(Uint8Array.of(restart));
      await assert.rejects(wal.prepareSpare(), { code: "DISK_FULL" });
      await wal.close();
      assert.ok(sizeOf(restart) <= MEBIBYTE, `restart ${restart}`);
    }
  });
});
