import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it, type TestContext } from "node:test";
import { CodedError } from "../../../src/base/coded-error.ts";
import { HeightMark } from "../../../src/storage/height-mark.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

function fileOf(test: TestContext): string {
  return path.join(temporaryDirectory(test), "mark");
}

async function raiseTo(file: string, ...heights: readonly number[]): Promise<void> {
  for (const height of heights) {
    const mark = await HeightMark.open(file);
    mark.raise(height);
    await mark.close();
  }
}

async function heightIn(file: string): Promise<number> {
  const mark = await HeightMark.open(file);
  await mark.close();
  return mark.durableHeight;
}

describe("a height mark", () => {
  it("begins at 0 and is found again at the highest that was durable", async (test) => {
    const file = fileOf(test);
    assert.equal(await heightIn(file), 0);
    for (const height of [1, 2, 1, 7, 2 ** 40]) await raiseTo(file, height);
    assert.equal(await heightIn(file), 2 ** 40);
  });

  it("ignores a lower height than the one it was raised to", async (test) => {
    const file = fileOf(test);
    const mark = await HeightMark.open(file);
    mark.raise(9);
    mark.raise(3);
    await mark.close();
    assert.equal(mark.durableHeight, 9);
    assert.equal(await heightIn(file), 9);
  });

  it("says when it is durable, and writes once for all that came meanwhile", async (test) => {
    const mark = await HeightMark.open(fileOf(test));
    const durable: number[] = [];
    const onFailed = (error: unknown): void => assert.fail(String(error));
    mark.handlers = { onDurable: () => durable.push(mark.durableHeight), onFailed };
    for (let height = 1; height <= 10; height++) mark.raise(height);
    assert.equal(mark.durableHeight, 0, "not before it is on the disk");
    await mark.close();
    assert.deepEqual(durable, [1, 10]);
  });

  it("keeps the one before when a write is torn, wherever", async (test) => {
    const file = fileOf(test);
    await raiseTo(file, 5, 6);
    const before = readFileSync(file);
    await raiseTo(file, 0x0707_0707_0707);
    const after = readFileSync(file);
    for (let written = 0; written < after.length; written++) {
      const torn = Buffer.concat([after.subarray(0, written), before.subarray(written)]);
      writeFileSync(file, torn);
      assert.ok((await heightIn(file)) >= 6, `${written} bytes written`);
    }
  });

  it("is 0 where nothing can be read, and rises from there", async (test) => {
    const file = fileOf(test);
    writeFileSync(file, Buffer.alloc(32, 0xff));
    assert.equal(await heightIn(file), 0);
    writeFileSync(file, "short");
    assert.equal(await heightIn(file), 0);
    await raiseTo(file, 3);
    assert.equal(await heightIn(file), 3);
  });

  it("tells of a disk that takes nothing, and rises no more", async () => {
    const mark = await HeightMark.open("/dev/full");
    const failures: unknown[] = [];
    mark.handlers = { onDurable: () => undefined, onFailed: (error) => failures.push(error) };
    mark.raise(1);
    mark.raise(2);
    await mark.close();
    assert.equal(failures.length, 1);
    assert.ok(failures[0] instanceof CodedError);
    assert.equal(failures[0].code, "DISK_FULL");
    assert.equal(mark.durableHeight, 0);
  });

  it("cannot be where its directory is gone", async (test) => {
    const file = fileOf(test);
    rmSync(path.dirname(file), { recursive: true });
    await assert.rejects(HeightMark.open(file));
  });
});
