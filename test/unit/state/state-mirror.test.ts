import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Prng } from "../../../src/base/prng.ts";
import { Journal } from "../../../src/state/journal.ts";
import { MemoryStore } from "../../../src/state/memory-store.ts";
import { StateDatabase, type StateMark } from "../../../src/state/state-database.ts";
import { StateMirror } from "../../../src/state/state-mirror.ts";

const SEEDS = [1, 2, 3, 4, 5, 6];
const BLOCKS = 60n;
const ADDRESSES = Array.from({ length: 8 }, (_, index) => BigInt(index + 1) << 70n);
const SLOTS = Array.from({ length: 5 }, (_, index) => BigInt(index) << 64n);

function changeBlock(prng: Prng, database: StateDatabase, block: bigint): void {
  const journal = new Journal(database);
  journal.beginTransaction();
  for (let count = prng.between(1, 6); count > 0; count--) {
    const address = prng.pick(ADDRESSES);
    if (prng.chance(0.1)) journal.selfDestruct(address);
    else if (prng.chance(0.2)) journal.setCode(address, prng.bytes(prng.between(1, 40)));
    else if (prng.chance(0.4)) journal.setBalance(address, BigInt(prng.below(1_000)));
    else {
      journal.setNonce(address, journal.nonce(address) + 1n);
      journal.setStorage(address, prng.pick(SLOTS), BigInt(prng.below(3)));
    }
  }
  journal.endTransaction();
  database.commit(block, journal.blockChanges());
}

function assertSame(database: StateDatabase, mirror: StateMirror, what: string): void {
  const latest = database.latestBlock!;
  for (let block = latest > 12n ? latest - 12n : 0n; block <= latest; block++) {
    const expected = database.at(block)!;
    const found = mirror.at(block);
    for (const address of ADDRESSES) {
      const account = expected.account(address);
      assert.deepEqual(found.account(address), account, `${what}, block ${block}`);
      if (account !== undefined) {
        const { bytes } = expected.code(account.codeHash);
        assert.deepEqual(found.code(account.codeHash).bytes, bytes, `${what}, block ${block}`);
      }
      for (const slot of SLOTS) {
        const value = expected.storage(address, slot);
        assert.equal(found.storage(address, slot), value, `${what}, block ${block}`);
      }
    }
    const [address] = ADDRESSES;
    const proof = database.prove(block, address!, SLOTS);
    assert.deepEqual(mirror.prove(block, address!, SLOTS), proof, `${what}, block ${block}`);
  }
}

describe("StateMirror", () => {
  it("reads every block as the database does, whatever is written and whenever changes arrive", () => {
    for (const seed of SEEDS) {
      const prng = new Prng(seed);
      const store = new MemoryStore();
      const database = new StateDatabase({ checkpointChangesMax: 25 }, store);
      const mirror = new StateMirror(store, 200);
      let mark: StateMark | undefined;
      for (let block = 0n; block < BLOCKS; block++) {
        changeBlock(prng, database, block);
        if (prng.chance(0.15)) database.flush();
        if (!prng.chance(0.3)) continue;
        const unwritten = database.unwritten(mark);
        const isWritten = mark !== undefined && mark.flushCount !== database.mark.flushCount;
        mirror.absorb(unwritten, isWritten);
        mark = database.mark;
        assertSame(database, mirror, `SEED=${seed} at ${block}`);
        // The store may run ahead of what the mirror received.

        if (prng.chance(0.3)) {
          const balance = mirror.at(block).account(ADDRESSES[0]!)?.balance;
          database.flush();
          assert.equal(mirror.at(block).account(ADDRESSES[0]!)?.balance, balance, `SEED=${seed}`);
        }
      }
    }
  });

  it("receives only what is new to it", () => {
    const database = new StateDatabase({}, new MemoryStore());
    changeBlock(new Prng(1), database, 0n);
    const all = database.unwritten(undefined);
    const { mark } = database;
    assert.ok(all.length > 0);
    assert.equal(database.unwritten(mark).length, 0);
    changeBlock(new Prng(2), database, 1n);
    assert.ok(database.unwritten(mark).length > 0);
    assert.ok(database.unwritten(mark).length < database.unwritten(undefined).length);
    database.flush();
    assert.equal(database.unwritten(mark).length, 0);
  });
});
