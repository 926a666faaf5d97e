import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { createMPT } from "@ethereumjs/mpt";

import { bytesToHex } from "../../../src/base/hex.ts";
import { Prng } from "../../../src/base/prng.ts";
import { readBigEndian } from "../../../src/base/big-endian.ts";
import { addressHash, wordHash } from "../../../src/chain/word-hash.ts";
import { EMPTY_CODE, encodeAccount } from "../../../src/state/account.ts";
import { Journal } from "../../../src/state/journal.ts";
import { MemoryStore } from "../../../src/state/memory-store.ts";
import { encodeSlotValue } from "../../../src/state/slot-value.ts";
import { StateDatabase, type StateOptions } from "../../../src/state/state-database.ts";
import type { StateReader } from "../../../src/state/state-reader.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { verifyProof } from "../../../src/state/trie/trie-proof.ts";

type ModelAccount = {
  nonce: bigint;
  balance: bigint;
  code: Uint8Array;
  slots: Map<bigint, bigint>;
};
type Model = Map<bigint, ModelAccount>;

/** Small caches and checkpoints, so that a short run goes through all of them. */
const TIGHT: Partial<StateOptions> = {
  cachedAccountsMax: 4,
  cachedSlotsMax: 6,
  cachedCodeBytesMax: 100,
  cachedNodesMax: 8,
  pendingKeysMax: 150,
  checkpointChangesMax: 25,
};

const ADDRESSES = Array.from({ length: 24 }, (_, index) => BigInt(index + 1) << 70n);
const SLOTS = Array.from({ length: 12 }, (_, index) => BigInt(index) << 64n);

/** A block of random changes, made to the model and through a journal. */
function changeBlock(prng: Prng, model: Model, database: StateDatabase, block: bigint): void {
  const journal = new Journal(database);
  for (let tx = prng.between(0, 3); tx >= 0; tx--) {
    journal.beginTransaction();
    for (let count = prng.between(1, 8); count > 0; count--) {
      const address = prng.pick(ADDRESSES);
      const account = model.get(address) ?? newAccount();
      switch (prng.below(5)) {
        case 0:
          account.balance = BigInt(prng.below(1000));
          journal.setBalance(address, account.balance);
          break;
        case 1:
          account.nonce++;
          journal.setNonce(address, account.nonce);
          break;
        case 2:
          account.code = prng.bytes(prng.between(1, 40));
          journal.setCode(address, account.code);
          break;
        case 3:
          account.nonce++;
          journal.setNonce(address, account.nonce);
          for (let index = 0; index < 4; index++) {
            const slot = prng.pick(SLOTS);
            const value = prng.chance(0.4) ? 0n : readBigEndian(prng.bytes(32), 0, 32);
            if (value === 0n) account.slots.delete(slot);
            else account.slots.set(slot, value);
            journal.setStorage(address, slot, value);
          }
          break;
        default:
          journal.selfDestruct(address);
          journal.endTransaction();
          journal.beginTransaction();
          model.delete(address);
          continue;
      }
      model.set(address, account);
    }
    journal.endTransaction();
    for (const [address, { nonce, balance, code }] of model) {
      if (nonce === 0n && balance === 0n && code.length === 0) model.delete(address);
    }
  }
  database.commit(block, journal.blockChanges());
}

function newAccount(): ModelAccount {
  return { nonce: 0n, balance: 0n, code: new Uint8Array(0), slots: new Map() };
}

function copyModel(model: Model): Model {
  const copy: Model = new Map();
  for (const [address, account] of model) {
    copy.set(address, { ...account, slots: new Map(account.slots) });
  }
  return copy;
}

async function modelRoot(model: Model): Promise<Uint8Array> {
  const accounts = await createMPT({});
  for (const [address, { nonce, balance, code, slots }] of model) {
    const storage = await createMPT({});
    for (const [slot, value] of slots) await storage.put(wordHash(slot), encodeSlotValue(value));
    const codeHash = readBigEndian(keccak256(code), 0, 32);
    const storageRoot = readBigEndian(storage.root(), 0, 32);
    const encoded = encodeAccount({ nonce, balance, codeHash, storageRoot });
    await accounts.put(addressHash(address), encoded);
  }
  return accounts.root();
}

function assertReads(state: StateReader, model: Model, label: string): void {
  for (const address of ADDRESSES) {
    const expected = model.get(address);
    const account = state.account(address);
    assert.equal(account?.balance, expected?.balance, `${label} balance of ${address}`);
    assert.equal(account?.nonce, expected?.nonce, `${label} nonce of ${address}`);
    const code = state.code(account?.codeHash ?? EMPTY_CODE.hash).bytes;
    assert.deepEqual(code, expected?.code ?? new Uint8Array(0), `${label} code of ${address}`);
    for (const slot of SLOTS) {
      const value = expected?.slots.get(slot) ?? 0n;
      assert.equal(state.storage(address, slot), value, `${label} slot ${slot} of ${address}`);
    }
  }
}

function assertProofs(database: StateDatabase, block: bigint, model: Model, label: string): void {
  const root = database.stateRootAt(block);
  assert.ok(root !== undefined, label);
  for (const address of ADDRESSES.filter((_, index) => index % 3 === 0)) {
    const proved = database.prove(block, address, SLOTS.slice(0, 4));
    assert.ok(proved !== undefined, label);
    const { account, proof, storage } = proved;
    assert.equal(account?.balance, model.get(address)?.balance, label);
    const value = account === undefined ? undefined : encodeAccount(account);
    const verified = verifyProof(root, addressHash(address), proof);
    assert.ok(verified.ok, `${label} account proof of ${address}`);
    assert.deepEqual(verified.value, value, label);
    if (account === undefined) continue;
    const storageRoot = new Uint8Array(32);
    Buffer.from(account.storageRoot.toString(16).padStart(64, "0"), "hex").copy(storageRoot);
    for (const { slot, value: held, proof: slotProof } of storage) {
      assert.equal(held, model.get(address)?.slots.get(slot) ?? 0n, label);
      const slotVerified = verifyProof(storageRoot, wordHash(slot), slotProof);
      assert.ok(slotVerified.ok, `${label} slot proof`);
      const expected = held === 0n ? undefined : encodeSlotValue(held);
      assert.deepEqual(slotVerified.value, expected, label);
    }
  }
}

describe("StateDatabase", () => {
  it("has the root, the reads and the proofs of a model at every retained block", async () => {
    for (let seed = 1; seed <= 3; seed++) {
      const prng = new Prng(seed);
      const store = new MemoryStore();
      let database = new StateDatabase(TIGHT, store);
      const model: Model = new Map();
      const past: Model[] = [];
      let oldest = 0;
      for (let block = 0; block < 40; block++) {
        const label = `SEED=${seed} block ${block}`;
        changeBlock(prng, model, database, BigInt(block));
        past.push(copyModel(model));
        const root = bytesToHex(database.stateRoot);
        assert.equal(root, bytesToHex(await modelRoot(model)), label);
        if (prng.chance(0.2)) database.flush();
        if (prng.chance(0.1)) {
          database.flush();
          database = new StateDatabase(TIGHT, store);
          assert.equal(bytesToHex(database.stateRoot), root, `${label} reopened`);
          assert.equal(database.latestBlock, BigInt(block), label);
        }
        if (prng.chance(0.07)) {
          oldest = prng.between(oldest, block);
          database.prune(BigInt(oldest));
        }
        if (block % 6 !== 5) continue;
        for (let earlier = oldest; earlier <= block; earlier += prng.between(1, 4)) {
          const view = database.at(BigInt(earlier));
          const kept = past[earlier];
          assert.ok(view !== undefined && kept !== undefined, `${label} at ${earlier}`);
          assertReads(view, kept, `${label} at ${earlier}`);
          assertProofs(database, BigInt(earlier), kept, `${label} at ${earlier}`);
        }
        assert.equal(database.at(BigInt(oldest - 1)), undefined, `${label} pruned`);
        assert.equal(database.at(BigInt(block + 1)), undefined, `${label} future`);
      }
    }
  });

  it("keeps a view what it is while later blocks are committed", () => {
    const database = new StateDatabase({}, new MemoryStore());
    const commitBalance = (block: bigint, balance: bigint): void => {
      const journal = new Journal(database);
      journal.setBalance(7n, balance);
      database.commit(block, journal.blockChanges());
    };
    commitBalance(0n, 1n);
    const view = database.at(0n);
    assert.equal(view?.account(7n)?.balance, 1n);
    commitBalance(1n, 2n);
    assert.equal(view.account(7n)?.balance, 1n);
    assert.equal(database.account(7n)?.balance, 2n);
  });

  it("loses exactly the blocks after the last flush in a crash", () => {
    const store = new MemoryStore();
    const database = new StateDatabase(TIGHT, store);
    const prng = new Prng(3);
    const model: Model = new Map();
    for (let block = 0n; block < 10n; block++) changeBlock(prng, model, database, block);
    database.flush();
    const root = bytesToHex(database.stateRoot);
    changeBlock(prng, model, database, 10n);
    const reopened = new StateDatabase(TIGHT, store);
    assert.equal(reopened.latestBlock, 9n);
    assert.equal(bytesToHex(reopened.stateRoot), root);
  });

  it("writes nothing of the past without history, and still reopens", () => {
    const options = { ...TIGHT, keepsHistory: false };
    const store = new MemoryStore();
    let database = new StateDatabase(options, store);
    const prng = new Prng(4);
    const model: Model = new Map();
    for (let block = 0n; block < 80n; block++) {
      changeBlock(prng, model, database, block);
      if (block % 9n !== 8n) continue;
      const root = bytesToHex(database.stateRoot);
      database.flush();
      database = new StateDatabase(options, store);
      assert.equal(bytesToHex(database.stateRoot), root, `block ${block}`);
      assert.equal(database.at(block - 1n), undefined);
    }
    const kinds = new Map<number, number>();
    for (const { key } of store.entries()) kinds.set(key[0]!, (kinds.get(key[0]!) ?? 0) + 1);
    assert.equal(kinds.get(6), undefined, "differences");
    assert.equal(kinds.get(8), undefined, "checkpoints");
    assert.ok((kinds.get(7) ?? 0) < 20, "block records since the last checkpoint only");
  });

  it("leaves nothing behind of pruned blocks", () => {
    const store = new MemoryStore();
    const database = new StateDatabase(TIGHT, store);
    const prng = new Prng(8);
    const model: Model = new Map();
    for (let block = 0n; block < 60n; block++) changeBlock(prng, model, database, block);
    database.prune(1000n);
    database.flush();
    for (const { key } of store.entries()) {
      assert.notEqual(key[0], 6, `a difference is left: ${bytesToHex(key)}`);
      assert.notEqual(key[0], 8, "a checkpoint's list is left");
    }
    assertReads(database, model, "after pruning");
    assertProofs(database, 59n, model, "after pruning");
  });
});
