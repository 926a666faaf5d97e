import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Prng } from "../../../src/base/prng.ts";
import { EMPTY_CODE } from "../../../src/state/account.ts";
import { Journal } from "../../../src/state/journal.ts";
import { MemoryStore } from "../../../src/state/memory-store.ts";
import { StateDatabase } from "../../../src/state/state-database.ts";

type Model = {
  accounts: Map<bigint, { nonce: bigint; balance: bigint; code: string }>;
  storage: Map<string, bigint>;
  original: Map<string, bigint>;
  transient: Map<string, bigint>;
  warm: Set<string>;
  created: Set<bigint>;
  touched: Set<bigint>;
  destroyed: Set<bigint>;
  logs: number[];
  refund: number;
};

const ADDRESSES = [1n, 2n, 1n << 64n, 1n << 65n, 0xffff_ffffn, (1n << 160n) - 1n];
const SLOTS = [0n, 1n, 1n << 64n, 2n << 64n, (1n << 256n) - 1n];

const at = (address: bigint, slot: bigint): string => `${address}/${slot}`;

/** The journal's rules on plain maps: a snapshot is a copy of everything. */
class NaiveJournal {
  model: Model = {
    accounts: new Map(),
    storage: new Map(),
    original: new Map(),
    transient: new Map(),
    warm: new Set(),
    created: new Set(),
    touched: new Set(),
    destroyed: new Set(),
    logs: [],
    refund: 0,
  };

  copy(): Model {
    return structuredClone(this.model);
  }

  account(address: bigint): { nonce: bigint; balance: bigint; code: string } {
    const found = this.model.accounts.get(address) ?? { nonce: 0n, balance: 0n, code: "" };
    this.model.accounts.set(address, found);
    this.model.touched.add(address);
    return found;
  }

  beginTransaction(): void {
    this.model.original = new Map(this.model.storage);
    this.model.transient.clear();
    this.model.warm.clear();
    this.model.created.clear();
    this.model.touched.clear();
    this.model.destroyed.clear();
    this.model.logs = [];
    this.model.refund = 0;
  }

  endTransaction(): void {
    const { accounts, touched, destroyed } = this.model;
    const remove = (address: bigint): void => {
      accounts.delete(address);
      for (const slot of SLOTS) this.model.storage.delete(at(address, slot));
    };
    destroyed.forEach(remove);
    for (const address of touched) {
      const account = accounts.get(address);
      if (account === undefined) continue;
      const { nonce, balance, code } = account;
      if (nonce === 0n && balance === 0n && code === "") remove(address);
    }
  }
}

/** One random change on both. */
function change(prng: Prng, journal: Journal, naive: NaiveJournal, label: string): void {
  const address = prng.pick(ADDRESSES);
  const slot = prng.pick(SLOTS);
  const value = BigInt(prng.below(3));
  const { model } = naive;
  switch (prng.below(12)) {
    case 0:
      naive.account(address).balance = value;
      journal.setBalance(address, value);
      break;
    case 1:
      naive.account(address).nonce = value;
      journal.setNonce(address, value);
      break;
    case 2: {
      const code = prng.bytes(prng.below(2));
      naive.account(address).code = code.join();
      journal.setCode(address, code);
      break;
    }
    case 3:
    case 4:
    case 5:
      // Only an account that exists runs code, and only code writes storage.
      naive.account(address);
      journal.touch(address);
      model.storage.set(at(address, slot), value);
      journal.setStorage(address, slot, value);
      break;
    case 6:
      model.transient.set(at(address, slot), value);
      journal.setTransient(address, slot, value);
      break;
    case 7:
      assert.equal(journal.warmAddress(address), model.warm.has(`${address}`), label);
      model.warm.add(`${address}`);
      break;
    case 8:
      assert.equal(journal.warmSlot(address, slot), model.warm.has(at(address, slot)), label);
      model.warm.add(at(address, slot));
      break;
    case 9:
      naive.account(address);
      if (prng.chance(0.5)) {
        model.created.add(address);
        journal.markCreated(address);
      } else journal.touch(address);
      break;
    case 10:
      naive.account(address);
      model.destroyed.add(address);
      journal.selfDestruct(address);
      break;
    default: {
      const number = prng.below(100);
      model.logs.push(number);
      journal.addLog({ address, topics: [], data: Uint8Array.of(number) });
      model.refund += number - 50;
      journal.addRefund(number - 50);
    }
  }
}

function assertSame(journal: Journal, naive: NaiveJournal, label: string): void {
  const { model } = naive;
  assert.equal(journal.refund(), model.refund, `${label} refund`);
  for (const address of ADDRESSES) {
    const account = model.accounts.get(address);
    const text = `${label} account ${address}`;
    assert.equal(journal.exists(address), account !== undefined, text);
    assert.equal(journal.balance(address), account?.balance ?? 0n, text);
    assert.equal(journal.nonce(address), account?.nonce ?? 0n, text);
    assert.equal(journal.code(address).bytes.join(), account?.code ?? "", text);
    assert.equal(journal.isCreated(address), model.created.has(address), text);
    assert.equal(journal.isAddressWarm(address), model.warm.has(`${address}`), text);
    for (const slot of SLOTS) {
      const key = at(address, slot);
      assert.equal(journal.storage(address, slot), model.storage.get(key) ?? 0n, text);
      assert.equal(journal.originalStorage(address, slot), model.original.get(key) ?? 0n, text);
      assert.equal(journal.transient(address, slot), model.transient.get(key) ?? 0n, text);
      assert.equal(journal.isSlotWarm(address, slot), model.warm.has(key), text);
    }
  }
}

describe("Journal", () => {
  it("does what copying everything would do, under nested snapshots and reverts", () => {
    for (let seed = 1; seed <= 25; seed++) {
      const prng = new Prng(seed);
      const database = new StateDatabase({ checkpointChangesMax: 10 }, new MemoryStore());
      const naive = new NaiveJournal();
      for (let block = 0n; block < 4n; block++) {
        const journal = new Journal(database);
        for (let transaction = 0; transaction < 4; transaction++) {
          const label = `SEED=${seed} block ${block} transaction ${transaction}`;
          journal.beginTransaction();
          naive.beginTransaction();
          const marks: [number, Model][] = [];
          for (let step = 0; step < 40; step++) {
            if (prng.chance(0.2)) marks.push([journal.snapshot(), naive.copy()]);
            if (prng.chance(0.12) && marks.length > 0) {
              const depth = prng.below(marks.length);
              const [mark, copy] = marks[depth]!;
              marks.length = depth;
              journal.revertTo(mark);
              naive.model = copy;
              assertSame(journal, naive, `${label} reverted at ${step}`);
            }
            change(prng, journal, naive, label);
          }
          assertSame(journal, naive, label);
          naive.endTransaction();
          const logs = journal.endTransaction().map(({ data }) => data[0]);
          assert.deepEqual(logs, naive.model.logs, label);
          naive.beginTransaction();
          assertSame(journal, naive, `${label} ended`);
        }
        database.commit(block, journal.blockChanges());
        assertSame(new Journal(database), naive, `SEED=${seed} after block ${block}`);
      }
    }
  });

  it("gives the same object for equal code", () => {
    const database = new StateDatabase({}, new MemoryStore());
    const journal = new Journal(database);
    journal.setCode(1n, Uint8Array.of(1, 2));
    journal.setCode(2n, Uint8Array.of(1, 2));
    assert.equal(journal.code(1n), journal.code(2n));
    assert.equal(journal.code(3n), EMPTY_CODE);
    database.commit(0n, journal.blockChanges());
    assert.equal(new Journal(database).code(1n), journal.code(1n));
  });

  it("reports no change for what a block put back", () => {
    const database = new StateDatabase({}, new MemoryStore());
    const first = new Journal(database);
    first.setBalance(1n, 5n);
    first.setStorage(1n, 0n, 7n);
    database.commit(0n, first.blockChanges());
    const second = new Journal(database);
    second.setBalance(1n, 6n);
    second.setBalance(1n, 5n);
    second.setStorage(1n, 0n, 0n);
    second.setStorage(1n, 0n, 7n);
    assert.deepEqual(second.blockChanges(), { accounts: [] });
  });

  it("knows storage of before the block and of the block", () => {
    const database = new StateDatabase({}, new MemoryStore());
    const first = new Journal(database);
    first.setBalance(1n, 5n);
    assert.equal(first.hasStorage(1n), false);
    first.setStorage(1n, 3n, 7n);
    assert.equal(first.hasStorage(1n), true);
    database.commit(0n, first.blockChanges());
    assert.equal(new Journal(database).hasStorage(1n), true);
    assert.equal(new Journal(database).hasStorage(2n), false);
  });

  it("forgets the storage of an account that was removed, also what it never read", () => {
    const database = new StateDatabase({}, new MemoryStore());
    const first = new Journal(database);
    first.setBalance(1n, 5n);
    for (let slot = 0n; slot < 20n; slot++) first.setStorage(1n, slot, 9n);
    database.commit(0n, first.blockChanges());
    const second = new Journal(database);
    second.beginTransaction();
    second.selfDestruct(1n);
    second.endTransaction();
    assert.equal(second.storage(1n, 4n), 0n);
    second.setBalance(1n, 1n);
    second.setStorage(1n, 2n, 8n);
    database.commit(1n, second.blockChanges());
    const third = new Journal(database);
    assert.equal(third.storage(1n, 2n), 8n);
    assert.equal(third.storage(1n, 19n), 0n);
    assert.equal(database.at(0n)?.storage(1n, 19n), 9n);
  });

  it("keeps a table of addresses warm in every transaction, whatever is reverted", () => {
    const journal = new Journal(new StateDatabase({}, new MemoryStore()));
    const table = new Map([[9n, true]]);
    for (let transaction = 0; transaction < 3; transaction++) {
      journal.beginTransaction();
      const mark = journal.snapshot();
      journal.keepWarm(table);
      assert.equal(journal.isAddressWarm(9n), true);
      assert.equal(journal.warmAddress(9n), true);
      assert.equal(journal.warmAddress(10n), false);
      journal.revertTo(mark);
      assert.equal(journal.isAddressWarm(9n), true);
      assert.equal(journal.isAddressWarm(10n), false);
      journal.endTransaction();
    }
    assert.deepEqual(journal.blockChanges(), { accounts: [] });
  });

  it("keeps those of a table warm that it knew before, and those that come later", () => {
    const journal = new Journal(new StateDatabase({}, new MemoryStore()));
    journal.beginTransaction();
    assert.equal(journal.isAddressWarm(8n), false);
    journal.keepWarm(new Map([8n, 9n].map((address) => [address, true])));
    for (const address of [8n, 9n])
      assert.equal(journal.isAddressWarm(address), true, `${address}`);
    assert.equal(journal.isAddressWarm(10n), false);
  });

  it("clears an empty RIPEMD account although its touch was reverted", () => {
    const database = new StateDatabase({}, new MemoryStore());
    const genesis = new Journal(database);
    genesis.touch(3n);
    genesis.touch(4n);
    database.commit(0n, genesis.blockChanges());
    const journal = new Journal(database);
    journal.beginTransaction();
    const mark = journal.snapshot();
    journal.touch(3n);
    journal.touch(4n);
    journal.revertTo(mark);
    journal.endTransaction();
    assert.equal(journal.exists(3n), false);
    assert.equal(journal.exists(4n), true);
  });
});
