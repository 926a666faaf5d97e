import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Prng } from "../../../src/base/prng.ts";
import { Journal } from "../../../src/state/journal.ts";
import { MemoryStore } from "../../../src/state/memory-store.ts";
import { StateDatabase } from "../../../src/state/state-database.ts";
import {
  SNAPSHOT_START,
  rebuildRoot,
  type SnapshotCursor,
  type SnapshotEntry,
} from "../../../src/state/state-snapshot.ts";

function filledDatabase(): StateDatabase {
  const database = new StateDatabase({}, new MemoryStore());
  const journal = new Journal(database);
  const prng = new Prng(6);
  for (let index = 0; index < 40; index++) {
    const address = BigInt(prng.uint32());
    journal.setBalance(address, BigInt(index + 1));
    if (index % 4 === 0) journal.setCode(address, Uint8Array.of(index, 1));
    for (let slot = 0; slot < index % 7; slot++) {
      journal.setStorage(address, BigInt(prng.uint32()), BigInt(slot + 1));
    }
  }
  database.commit(0n, journal.blockChanges());
  return database;
}

function readAll(database: StateDatabase, entriesMax: number): SnapshotEntry[] {
  const entries: SnapshotEntry[] = [];
  let cursor: SnapshotCursor | undefined = SNAPSHOT_START;
  while (cursor !== undefined) {
    const chunk = database.snapshotChunk(cursor, entriesMax);
    assert.ok(chunk.entries.length <= entriesMax + 1, "an account's code may come on top");
    entries.push(...chunk.entries);
    cursor = chunk.next;
  }
  return entries;
}

function changedEntry(entry: SnapshotEntry): SnapshotEntry {
  switch (entry.kind) {
    case "account":
      return { ...entry, account: { ...entry.account, nonce: 9n } };
    case "slot":
      return { ...entry, value: entry.value + 1n };
    case "code":
      return { ...entry, bytes: Uint8Array.of(0xfe) };
  }
}

describe("snapshots", () => {
  it("are the same in chunks of any size, and have the root of the state", () => {
    const database = filledDatabase();
    const whole = readAll(database, 1_000_000);
    for (const entriesMax of [1, 2, 3, 10]) {
      assert.deepEqual(readAll(database, entriesMax), whole, `chunks of ${entriesMax}`);
    }
    assert.deepEqual(rebuildRoot(whole), database.stateRoot);
  });

  it("have another root or none when an entry is missing, changed or out of place", () => {
    const database = filledDatabase();
    const whole = readAll(database, 1_000_000);
    const root = Buffer.from(database.stateRoot);
    for (const [index, entry] of whole.entries()) {
      const without = rebuildRoot(whole.toSpliced(index, 1));
      assert.ok(without === undefined || !root.equals(without), `without entry ${index}`);
      const other = rebuildRoot(whole.with(index, changedEntry(entry)));
      assert.ok(other === undefined || !root.equals(other), `with entry ${index} changed`);
    }
    assert.equal(rebuildRoot(whole.toReversed()), undefined);
  });
});
