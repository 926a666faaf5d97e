import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { CheckedTransactions } from "../../../src/replica/transactions/checked-transactions.ts";
import { SignatureRecoveryPool } from "../../../src/ledger/signature-recovery-pool.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { bytesToHash } from "../../../src/wire/hash-text.ts";
import { ACCOUNTS, CHAIN_ID, transfer } from "../../support/replica-network.ts";

const RULES = { chainId: CHAIN_ID, fork: "prague", transactionGasMax: undefined } as const;

describe("senders that other threads find", () => {
  const pool = new SignatureRecoveryPool(2);
  after(() => pool.close());

  it("are those of the transactions, in their order, and undefined for what is no transaction", async () => {
    const transactions = Array.from({ length: 300 }, (_, index) => transfer(index % 40, index));
    transactions[7] = Uint8Array.of(1, 2, 3);
    const senders = await pool.recover(transactions);
    assert.equal(senders.length, transactions.length);
    senders.forEach((sender, index) => {
      assert.equal(sender, index === 7 ? undefined : ACCOUNTS[index % 40], `at ${index}`);
    });
  });

  it("are not worth a round trip when they are few", () => {
    assert.equal(pool.isWorth(3), false);
    assert.equal(pool.isWorth(64), true);
    assert.equal(new SignatureRecoveryPool(0).isWorth(64), false);
  });

  it("save the checking thread the recovery and change nothing else", async () => {
    const checked = new CheckedTransactions(RULES, pool);
    const plain = new CheckedTransactions(RULES);
    const list = Array.from({ length: 64 }, (_, index) => transfer(index % 40, index)).map(
      (bytes) => ({ id: bytesToHash(keccak256(bytes)), bytes }),
    );
    assert.equal(plain.recoverAhead(list), undefined);
    await checked.recoverAhead(list);
    for (const { id, bytes } of list) {
      assert.deepEqual(checked.check(id, bytes), plain.check(id, bytes));
    }
    assert.equal(plain.recoveredCount, 64);
    assert.equal(checked.recoveredCount, 0);
  });

  it("are unknown when the threads are gone, so that somebody else finds them", async () => {
    const other = new SignatureRecoveryPool(1);
    const asked = other.recover(Array.from({ length: 64 }, (_, index) => transfer(0, index)));
    await other.close();
    assert.deepEqual(new Set(await asked), new Set([undefined]));
    assert.deepEqual(await other.recover([transfer(0, 0)]), [undefined]);
  });
});
