import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Prng } from "../../../src/base/prng.ts";
import { Journal } from "../../../src/state/journal.ts";
import { MemoryStore } from "../../../src/state/memory-store.ts";
import { StateDatabase } from "../../../src/state/state-database.ts";
import { StateImport, type ImportFault } from "../../../src/state/snapshot/state-import.ts";
import {
  SNAPSHOT_START,
  readSnapshotChunk,
  type SnapshotCursor,
  type SnapshotEntry,
} from "../../../src/state/snapshot/state-snapshot.ts";

const BLOCK = 7n;

type Filled = { readonly store: MemoryStore; readonly database: StateDatabase };

function filledDatabase(): Filled {
  const store = new MemoryStore();
  const database = new StateDatabase({}, store);
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
  database.flush();
  return { store, database };
}

function readAll(store: MemoryStore, sizeMax: number): SnapshotEntry[] {
  const entries: SnapshotEntry[] = [];
  let cursor: SnapshotCursor | undefined = SNAPSHOT_START;
  while (cursor !== undefined) {
    const chunk = readSnapshotChunk(store, cursor, sizeMax);
    assert.ok(chunk.entries.length <= sizeMax / 128 + 2, "an account's code may come on top");
    entries.push(...chunk.entries);
    cursor = chunk.next;
  }
  return entries;
}

function imported(
  entries: readonly SnapshotEntry[],
  stateRoot: Uint8Array,
): { readonly store: MemoryStore; readonly fault: ImportFault | undefined } {
  const store = new MemoryStore();
  const target = new StateImport(store);
  for (const entry of entries) {
    const fault = target.add(entry);
    if (fault !== undefined) return { store, fault };
  }
  return { store, fault: target.finish(BLOCK, stateRoot) };
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
  it("are the same in chunks of any size", () => {
    const { store } = filledDatabase();
    const whole = readAll(store, 100_000_000);
    for (const sizeMax of [1, 200, 300, 1_000]) {
      assert.deepEqual(readAll(store, sizeMax), whole, `chunks of ${sizeMax}`);
    }
  });

  it("become a state that goes on like the one they were taken from", () => {
    const { store, database } = filledDatabase();
    const copy = imported(readAll(store, 500), database.stateRoot);
    assert.equal(copy.fault, undefined);
    const taken = new StateDatabase({ keepsHistory: false }, copy.store);
    assert.equal(taken.latestBlock, BLOCK);
    assert.deepEqual(taken.stateRoot, database.stateRoot);
    const roots = [database, taken].map((each) => {
      const journal = new Journal(each);
      for (const entry of readAll(store, 500)) {
        if (entry.kind === "slot") journal.setStorage(entry.address, entry.slot, 0n);
        if (entry.kind === "account") {
          journal.setBalance(entry.address, journal.balance(entry.address) + 1n);
        }
      }
      return each.commit((each.latestBlock ?? 0n) + 1n, journal.blockChanges());
    });
    assert.deepEqual(roots[0], roots[1]);
  });

  it("are refused with a reason when an entry is missing, changed or out of place", () => {
    const { store, database } = filledDatabase();
    const whole = readAll(store, 100_000_000);
    const faultOf = (entries: readonly SnapshotEntry[]): ImportFault | undefined =>
      imported(entries, database.stateRoot).fault;
    const found = new Set<ImportFault | undefined>();
    for (const [index, entry] of whole.entries()) {
      for (const lie of [whole.toSpliced(index, 1), whole.with(index, changedEntry(entry))]) {
        const fault = faultOf(lie);
        assert.notEqual(fault, undefined, `entry ${index}`);
        found.add(fault);
      }
      found.add(faultOf(whole.toSpliced(index, 0, entry)));
    }
    const slotAt = whole.findIndex(({ kind }) => kind === "slot");
    const zero = whole.with(slotAt, { ...whole[slotAt]!, value: 0n } as SnapshotEntry);
    assert.equal(faultOf(zero), "SNAPSHOT_VALUE_ZERO");
    assert.equal(faultOf(whole.toReversed()), "SNAPSHOT_OUT_OF_ORDER");
    assert.deepEqual([...found].sort(), [
      "SNAPSHOT_CODE_MISSING",
      "SNAPSHOT_CODE_WRONG",
      "SNAPSHOT_OUT_OF_ORDER",
      "SNAPSHOT_STATE_WRONG",
      "SNAPSHOT_STORAGE_WRONG",
    ]);
  });
});
