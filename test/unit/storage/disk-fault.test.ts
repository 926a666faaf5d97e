/** Disks that are full and disks that fail, as real as the machine allows. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it, type TestContext } from "node:test";
import { CodedError } from "../../../src/base/coded-error.ts";
import { BlockStore } from "../../../src/storage/block-store.ts";
import { freeBytes } from "../../../src/storage/disk-space.ts";
import { StateStore } from "../../../src/storage/state-store.ts";
import { Wal } from "../../../src/storage/wal.ts";
import { BLOCK_FLUSHER } from "./block-flusher.ts";
import { lastReported, runUntil } from "./child-process.ts";
import { temporaryDirectory } from "./temporary-directory.ts";
import { WAL_APPENDER } from "./wal-appender.ts";

const MEBIBYTE = 1024 * 1024;

/** A file system of that size, or undefined (and the test is left out, with the reason). */
function smallDisk(test: TestContext, size: number): string | undefined {
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-small-disk-"));
  const mount = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", directory]);
  test.after(() => {
    if (mount.status === 0) spawnSync("umount", ["-l", directory]);
    rmSync(directory, { recursive: true, force: true });
  });
  if (mount.status === 0) return directory;
  test.skip(`no file system can be mounted here: ${String(mount.stderr).trim()}`);
  return undefined;
}

function isCoded(code: string): (error: unknown) => boolean {
  return (error) => error instanceof CodedError && error.code === code;
}

describe("a full disk", { timeout: 30_000 }, () => {
  it("ends the log when a record does not fit, for good", async (test) => {
    const disk = smallDisk(test, MEBIBYTE);
    if (disk === undefined) return;
    const options = { repair: "none", segmentSize: 256 * 1024 };
    const { wal } = await Wal.open(path.join(disk, "wal"), options);
    wal.append(new Uint8Array(1_000).fill(1));
    await wal.sync();
    wal.append(new Uint8Array(MEBIBYTE).fill(2));
    const pending = [wal.sync(), wal.sync()];
    for (const each of pending) await assert.rejects(each, isCoded("DISK_FULL"));
    assert.throws(() => wal.append(new Uint8Array(1)), isCoded("DISK_FULL"));
    await assert.rejects(wal.sync(), isCoded("DISK_FULL"));
    await assert.rejects(wal.startSegment(new Uint8Array(1)), isCoded("DISK_FULL"));
    await wal.close();
    const again = await Wal.open(path.join(disk, "wal"), options);
    assert.equal(again.records.length, 1);
    await again.wal.close();
  });

  it("keeps the log in its old segment when a new one finds no room", async (test) => {
    const disk = smallDisk(test, MEBIBYTE);
    if (disk === undefined) return;
    const options = { repair: "none", segmentSize: 600 * 1024 };
    const { wal } = await Wal.open(path.join(disk, "wal"), options);
    wal.append(Uint8Array.of(1));
    await assert.rejects(wal.startSegment(Uint8Array.of(2)), isCoded("DISK_FULL"));
    await assert.rejects(wal.prepareSpare(), isCoded("DISK_FULL"));
    assert.ok(freeBytes(disk) > 300 * 1024, "what was begun gave its space back");
    wal.append(Uint8Array.of(3));
    await wal.close();
    const { records } = await Wal.open(path.join(disk, "wal"), options);
    assert.deepEqual(
      records.map(([first]) => first),
      [1, 3],
    );
  });

  it("stops the state store's writes, not its reads, until there is room", async (test) => {
    const disk = smallDisk(test, 4 * MEBIBYTE);
    if (disk === undefined) return;
    const filler = path.join(disk, "filler");
    writeFileSync(filler, new Uint8Array(2 * MEBIBYTE));
    const seen: string[] = [];
    const store = await StateStore.open(path.join(disk, "state"), {
      freeBytesMin: 0,
      retryMs: 0,
      onFull: ({ code }) => seen.push(code),
      onRoom: () => seen.push("room"),
    });
    let height = 0;
    const write = (): void => {
      const value = new Uint8Array(3_000).fill(height);
      const changes = Array.from({ length: 20 }, (_, index) => ({
        key: Uint8Array.of(height, index),
        value,
      }));
      store.write(changes, height);
      height++;
    };
    assert.throws(() => {
      for (;;) write();
    }, isCoded("DISK_FULL"));
    assert.equal(store.isFull, true);
    assert.throws(write, isCoded("DISK_FULL"));
    assert.throws(write, isCoded("DISK_FULL"));
    assert.equal(store.height, height - 1, "the last whole write");
    assert.equal(store.get(Uint8Array.of(0, 5))?.length, 3_000);
    assert.equal(store.get(Uint8Array.of(height, 0)), undefined, "nothing of a failed write");
    rmSync(filler);
    write();
    assert.equal(store.isFull, false);
    assert.equal(store.height, height - 1);
    assert.deepEqual(seen, ["DISK_FULL", "room"], "each is reported once");
    await store.close();
  });

  it("makes the block store wait and try again by itself", async (test) => {
    const disk = smallDisk(test, 4 * MEBIBYTE);
    if (disk === undefined) return;
    const filler = path.join(disk, "filler");
    writeFileSync(filler, new Uint8Array(2 * MEBIBYTE));
    const seen: string[] = [];
    const room = Promise.withResolvers<undefined>();
    const store = await BlockStore.open(path.join(disk, "blocks"), {
      freeBytesMin: 0,
      flushDelayMs: 1,
      retryMs: 20,
      onFull: ({ code }) => seen.push(code),
      onRoom: () => room.resolve(undefined),
      onFailure: ({ code }) => seen.push(code),
    });
    let height = 0;
    for (; !store.isFull && height < 2_000; height++) {
      store.append(height, { block: new Uint8Array(5_000).fill(height % 251) });
      await store.flush().catch(() => undefined);
    }
    assert.deepEqual(seen, ["DISK_FULL"]);
    assert.equal(store.get(height - 1, "block")?.[0], (height - 1) % 251, "read from memory");
    assert.equal(store.get(0, "block")?.length, 5_000, "read from the disk");
    assert.equal(store.durableHeight, height - 2);
    rmSync(filler);
    await room.promise;
    await store.flush();
    assert.equal(store.durableHeight, height - 1);
    await store.close();
  });

  it("is kept from being full by the reserve", async (test) => {
    const directory = temporaryDirectory(test);
    const freeBytesMin = 2 * freeBytes(directory);
    const store = await StateStore.open(directory, { freeBytesMin });
    const changes = [{ key: Uint8Array.of(1), value: Uint8Array.of(1) }];
    assert.throws(() => store.write(changes), isCoded("DISK_FULL"));
    await store.close();
  });
});

describe("a failing disk", () => {
  const INJECTED = ["fdatasync", "pwrite64"] as const;
  for (const call of INJECTED) {
    it(`ends the log at the first ${call} that fails`, async (test) => {
      const directory = temporaryDirectory(test);
      const strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", `trace=${call}`];
      const probe = spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", "true"]);
      if (probe.status !== 0) {
        test.skip("strace cannot trace here, so no failing disk can be played");
        return;
      }
      const inject = ["-e", `inject=${call}:error=EIO:when=12+`];
      const appender = [process.execPath, WAL_APPENDER, directory, "1", `${256 * 1024}`];
      const { lines } = await runUntil([...strace, ...inject, ...appender], () => false);
      assert.equal(lines.at(-1), "failed WAL_WRITE_FAILED", lines.slice(-3).join());
      assert.ok(
        lines.some((line) => line.startsWith("open")),
        "the log had been opened",
      );
      const { wal } = await Wal.open(directory, { repair: "none", segmentSize: 256 * 1024 });
      const synced = Number(lines.findLast((line) => line.startsWith("synced"))?.slice(7) ?? 0);
      assert.ok(wal.lastLsn >= synced);
      await wal.close();
    });
  }
});

describe("a slow disk", () => {
  it("never stops the thread that gives blocks to the store", async (test) => {
    const probe = spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", "true"]);
    if (probe.status !== 0) {
      test.skip("strace cannot trace here, so no slow disk can be played");
      return;
    }
    const strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync"];
    const inject = ["-e", "inject=fdatasync:delay_enter=400000"];
    const flusher = [process.execPath, BLOCK_FLUSHER, temporaryDirectory(test)];
    const { lines } = await runUntil([...strace, ...inject, ...flusher], () => false);
    const [flushMs = 0, pauseMs = Infinity] = [
      lastReported(lines, "flush"),
      lastReported(lines, "pause"),
    ];
    assert.ok(flushMs >= 400, `a flush waits for the disk: ${flushMs} ms`);
    assert.ok(pauseMs < 300, `and nothing else does: ${pauseMs} ms`);
  });
});
