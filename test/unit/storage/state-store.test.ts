import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { Worker } from "node:worker_threads";
import { compareBytes } from "../../../src/base/bytes.ts";
import { CodedError } from "../../../src/base/coded-error.ts";
import { Prng } from "../../../src/base/prng.ts";
import { removeEnvironment } from "../../../src/storage/lmdb-environment.ts";
import { StateStore } from "../../../src/storage/state-store.ts";
import type { KeyValueStore } from "../../../src/state/key-value-store.ts";
import { MemoryStore } from "../../../src/state/memory-store.ts";
import { STATE_READER } from "./state-reader-thread.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const NO_RESERVE = { freeBytesMin: 0 };

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function plain(value: Uint8Array | undefined): number[] | undefined {
  return value === undefined ? undefined : [...value];
}

describe("the state store", () => {
  it("answers like the store in memory, also after it is opened again", async (test) => {
    const directory = temporaryDirectory(test);
    const prng = new Prng(7);
    const memory = new MemoryStore();
    let store = await StateStore.open(directory, NO_RESERVE);
    const port: KeyValueStore = store;
    assert.equal(port.seek(Uint8Array.of(0)), undefined);
    const key = (): Uint8Array => prng.bytes(prng.between(1, 3)).map((byte) => byte & 7);
    for (let round = 0; round < 20; round++) {
      const changes = Array.from({ length: 30 }, () => ({
        key: key(),
        value: prng.chance(0.3) ? undefined : prng.bytes(prng.between(1, 300)),
      }));
      memory.write(changes);
      store.write(changes);
      if (round === 10) {
        await store.close();
        store = await StateStore.open(directory, NO_RESERVE);
      }
      for (let probe = 0; probe < 50; probe++) {
        const from = key();
        assert.deepEqual(plain(store.get(from)), plain(memory.get(from)));
        const [found, wanted] = [store.seek(from), memory.seek(from)];
        assert.deepEqual(plain(found?.key), plain(wanted?.key), `seek ${from.join()}`);
        assert.deepEqual(plain(found?.value), plain(wanted?.value));
        assert.ok(found === undefined || compareBytes(found.key, from) >= 0);
      }
    }
    await store.close();
  });

  it("gives bytes that stay as they were when more is read and written", async (test) => {
    const store = await StateStore.open(temporaryDirectory(test), NO_RESERVE);
    store.write([
      { key: bytes("a"), value: bytes("one") },
      { key: bytes("b"), value: bytes("two") },
    ]);
    const one = store.get(bytes("a"));
    const entry = store.seek(bytes("a"));
    store.get(bytes("b"));
    store.seek(bytes("b"));
    store.write([{ key: bytes("a"), value: bytes("new") }]);
    assert.deepEqual(plain(one), plain(bytes("one")));
    assert.deepEqual(plain(entry?.key), plain(bytes("a")));
    assert.deepEqual(plain(entry?.value), plain(bytes("one")));
    await store.close();
  });

  it("moves the marker with the changes it belongs to", async (test) => {
    const directory = temporaryDirectory(test);
    const store = await StateStore.open(directory, NO_RESERVE);
    assert.equal(store.height, undefined);
    store.write([{ key: bytes("a"), value: bytes("1") }], 5);
    store.write([{ key: bytes("a"), value: bytes("2") }]);
    assert.equal(store.height, 5);
    await store.close();
    const again = await StateStore.open(directory, NO_RESERVE);
    assert.equal(again.height, 5);
    await again.close();
  });

  it("keeps a snapshot unchanged while blocks are written", async (test) => {
    const store = await StateStore.open(temporaryDirectory(test), NO_RESERVE);
    store.write([{ key: bytes("a"), value: bytes("1") }], 1);
    const snapshot = store.snapshot();
    store.write([{ key: bytes("a"), value: bytes("2") }], 2);
    const later = store.snapshot();
    store.write([{ key: bytes("a"), value: undefined }], 3);
    assert.deepEqual([snapshot.height, later.height, store.height], [1, 2, 3]);
    assert.deepEqual(plain(snapshot.get(bytes("a"))), plain(bytes("1")));
    assert.deepEqual(plain(snapshot.seek(bytes("a"))?.value), plain(bytes("1")));
    assert.deepEqual(plain(later.get(bytes("a"))), plain(bytes("2")));
    assert.equal(store.get(bytes("a")), undefined);
    snapshot.close();
    later.close();
    await store.close();
  });

  it("is read by another thread while this one writes", async (test) => {
    const directory = temporaryDirectory(test);
    const store = await StateStore.open(directory, NO_RESERVE);
    const write = (height: number): void => {
      const value = bytes(String(height));
      store.write(
        [
          { key: bytes("a"), value },
          { key: bytes("b"), value },
        ],
        height,
      );
    };
    write(1);
    const worker = new Worker(STATE_READER, { workerData: { directory, reads: 300 } });
    const ended = once(worker, "exit");
    const answered = once(worker, "message");
    const progress = { isDone: false };
    void answered.then(() => (progress.isDone = true));
    for (let height = 2; !progress.isDone && height < 2_000; height++) {
      write(height);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [{ mixed, heights }] = (await answered) as [{ mixed: number; heights: number }];
    assert.equal(mixed, 0, "values and marker of different blocks were seen together");
    assert.ok(heights > 1, "the reader saw the state move");
    await ended;
    await store.close();
  });
});

describe("a damaged state store", () => {
  async function makeStore(directory: string): Promise<string> {
    const store = await StateStore.open(directory, NO_RESERVE);
    const prng = new Prng(3);
    for (let height = 1; height <= 5; height++) {
      const changes = Array.from({ length: 300 }, () => ({
        key: prng.bytes(20),
        value: prng.bytes(90),
      }));
      store.write(changes, height);
    }
    await store.close();
    return path.join(directory, "data.mdb");
  }

  const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
    garbage: (file) => writeFileSync(file, readFileSync(file).fill(0xa5)),
    "a damaged first page": (file) => writeFileSync(file, readFileSync(file).fill(0xa5, 0, 4096)),
    "a damaged second page": (file) =>
      writeFileSync(file, readFileSync(file).fill(0xa5, 4096, 8192)),
    "half of the file": (file) => truncateSync(file, readFileSync(file).length >> 1),
    "two pages only": (file) => truncateSync(file, 8192),
    "half a page": (file) => truncateSync(file, 2048),
    "zeros behind the header": (file) => writeFileSync(file, readFileSync(file).fill(0, 8192)),
    "garbage behind the header": (file) => writeFileSync(file, readFileSync(file).fill(0xa5, 8192)),
  };

  for (const [name, damage] of Object.entries(DAMAGES)) {
    it(`is detected and can be made anew: ${name}`, async (test) => {
      const directory = path.join(temporaryDirectory(test), "state");
      damage(await makeStore(directory));
      await assert.rejects(
        StateStore.open(directory, NO_RESERVE),
        (error) => error instanceof CodedError && error.code === "STATE_STORE_DAMAGED",
      );
      removeEnvironment(directory);
      const store = await StateStore.open(directory, NO_RESERVE);
      assert.equal(store.height, undefined);
      await store.close();
    });
  }

  it("is detected when opening it ended the process twice", async (test) => {
    const directory = temporaryDirectory(test);
    await makeStore(directory);
    writeFileSync(path.join(directory, "opening"), "1\n");
    await (await StateStore.open(directory, NO_RESERVE)).close();
    writeFileSync(path.join(directory, "opening"), "2\n");
    await assert.rejects(StateStore.open(directory, NO_RESERVE), { code: "STATE_STORE_DAMAGED" });
  });
});
