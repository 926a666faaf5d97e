import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { Prng } from "../../../src/base/prng.ts";
import type { LogDocument } from "../../../src/log-stack/log-pipeline.ts";
import { DEFAULT_LOG_STORE_OPTIONS, LogStore } from "../../../src/log-stack/log-store.ts";
import { logLine } from "../../support/log-stack-client.ts";
import {
  countStored,
  end,
  startLogStack,
  usageOf,
} from "../../support/processes/log-stack-process.ts";
import { openForReading } from "../../../src/log-stack/log-database.ts";

const MEBIBYTE = 1024 * 1024;
const DAY_MS = 86_400_000;

describe("log store", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), "quorate-log-store-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const filePath = (): string => path.join(directory, "logs.sqlite");

  it("forgets the oldest beyond its size, words and all", { timeout: 60_000 }, async () => {
    const options = { ...DEFAULT_LOG_STORE_OPTIONS, filePath: filePath(), gatherMs: 0 };
    const onRetentionFailed = (error: unknown): never => assert.fail(String(error));
    const store = new LogStore({ ...options, sizeMax: 8 * MEBIBYTE }, { onRetentionFailed });
    const prng = new Prng(1);
    for (let batch = 0; batch < 12; batch += 1) {
      await store.add(
        documents(5_000, () => ({ batch, text: Buffer.from(prng.bytes(16)).toString("hex") })),
      );
      store.retain();
    }
    store.close();
    const size = statSync(filePath()).size;
    assert.ok(size < 12 * MEBIBYTE, `${size} bytes`);
    const reader = openForReading(filePath());
    const values = (sql: string): unknown => Object.values(reader.prepare(sql).get() ?? {})[0];
    const entries = values("SELECT count(*) FROM entries");
    assert.ok(Number(entries) > 1_000 && Number(entries) < 50_000, String(entries));
    assert.equal(values("SELECT count(*) FROM entry_words"), entries);
    assert.equal(values("SELECT max(json_extract(source, '$.batch')) FROM entries"), 11);
    const oldest = values("SELECT min(id) FROM entries");
    const found = values("SELECT min(rowid) FROM entry_words WHERE entry_words MATCH 'filler'");
    assert.equal(found, oldest, "the words of what is gone are gone");
    reader.close();
  });

  it("refuses only the request that cannot be stored, not the others of its batch", async () => {
    const store = new LogStore({ ...DEFAULT_LOG_STORE_OPTIONS, filePath: filePath() });
    const bad = [{ timeMs: 0, fields: { message: "bad", size: 1n } }];
    const added = await Promise.allSettled([
      store.add(documents(2, () => ({ from: "first" }))),
      store.add(bad),
      store.add(documents(2, () => ({ from: "last" }))),
    ]);
    assert.deepEqual(
      added.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    store.close();
  });

  it("forgets what arrived too long ago, whatever time it names", async () => {
    let nowMs = Date.now();
    const options = { ...DEFAULT_LOG_STORE_OPTIONS, filePath: filePath(), gatherMs: 0 };
    const store = new LogStore({ ...options, ageMaxMs: DAY_MS }, { now: () => nowMs });
    await store.add(documents(10, () => ({ age: "old" })));
    nowMs += 0.75 * DAY_MS;
    await store.add([{ timeMs: 0, fields: { age: "new", message: "names 1970" } }]);
    store.retain();
    assert.equal(store.removedCount, 0);
    nowMs += 0.75 * DAY_MS;
    store.retain();
    assert.equal(store.removedCount, 10);
    store.close();
  });

  it("asks to be spared when too much waits", async () => {
    const options = { ...DEFAULT_LOG_STORE_OPTIONS, filePath: filePath(), waitingMax: 10 };
    const store = new LogStore(options);
    assert.ok(store.hasRoomFor(1_000), "one large request is taken");
    const added = store.add(documents(8, () => ({})));
    assert.ok(store.hasRoomFor(2));
    assert.ok(!store.hasRoomFor(3));
    await added;
    assert.ok(store.hasRoomFor(10));
    store.close();
  });

  it("puts a damaged store aside and begins a new one", () => {
    writeFileSync(filePath(), Buffer.alloc(8_192, "no database"));
    const store = new LogStore({ ...DEFAULT_LOG_STORE_OPTIONS, filePath: filePath() });
    assert.equal(store.isReplaced, true);
    store.close();
    assert.ok(readdirSync(directory).includes("logs.sqlite.damaged"));
  });

  it("has all that it said ok to after it was killed", { timeout: 60_000 }, async () => {
    let confirmed = 0;
    for (let round = 0; round < 3; round += 1) {
      const stack = await startLogStack(directory);
      assert.equal(await countStored(stack.searchUrl), confirmed, `round ${round}`);
      let isOver = false;
      const send = async (): Promise<void> => {
        while (!isOver) {
          const body = Array.from({ length: 50 }, () => JSON.stringify(logLine())).join("\n");
          const response = await fetch(stack.inputUrl, { method: "POST", body }).catch(() => null);
          if (response?.status !== 200) return;
          confirmed += 50;
        }
      };
      const senders = [send(), send(), send()];
      await new Promise((resolve) => setTimeout(resolve, 300 + 137 * round));
      await end(stack.child, "SIGKILL");
      isOver = true;
      await Promise.all(senders);
      // What was written and not confirmed may be there, too.
      const check = await startLogStack(directory);
      const stored = await countStored(check.searchUrl);
      await end(check.child, "SIGKILL");
      assert.ok(stored >= confirmed, `${stored} of ${confirmed}`);
      assert.ok(stored - confirmed <= 150 * (round + 1));
      confirmed = stored;
    }
    assert.ok(confirmed > 0);
  });

  it(
    "takes 100,000 entries with less than a minute of one core",
    { timeout: 120_000 },
    async () => {
      const stack = await startLogStack(directory);
      const startedMs = performance.now();
      const batch = (number: number): string =>
        Array.from({ length: 1_000 }, (_, index) =>
          JSON.stringify(
            logLine({ sequence: number * 1_000 + index, hash: hashOf(number, index) }),
          ),
        ).join("\n");
      const before = usageOf(stack.child.pid ?? 0);
      for (let number = 0; number < 100; number += 1) {
        const response = await fetch(stack.inputUrl, { method: "POST", body: batch(number) });
        assert.equal(response.status, 200);
        await response.text();
      }
      const seconds = (performance.now() - startedMs) / 1000;
      const usage = usageOf(stack.child.pid ?? 0);
      const cpuSeconds = (usage.cpuMs - before.cpuMs) / 1000;
      const megabytes = Math.round(usage.residentSize / 1e6);
      console.log(
        `100,000 entries in ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of one core, ` +
          `at most ${megabytes} MB`,
      );
      assert.equal(await countStored(stack.searchUrl), 100_000);
      await end(stack.child, "SIGTERM");
      assert.ok(cpuSeconds < 60, `${cpuSeconds} s`);
      assert.ok(megabytes < 500, `${megabytes} MB`);
    },
  );
});

function documents(count: number, fields: () => Record<string, unknown>): LogDocument[] {
  return Array.from({ length: count }, () => ({
    timeMs: Date.now(),
    fields: { "@timestamp": new Date().toISOString(), message: "filler", ...fields() },
  }));
}

function hashOf(number: number, index: number): string {
  return `0x${(number * 7_919 + index * 104_729).toString(16).padStart(64, "0")}`;
}
