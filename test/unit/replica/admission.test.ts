import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import type { Hash } from "../../../src/consensus/block.ts";
import {
  Admission,
  type AdmissionDependencies,
} from "../../../src/replica/transactions/admission.ts";
import type { ExecutionReport } from "../../../src/replica/execution/execution-report.ts";
import type { AccountState } from "../../../src/txpool/tx-pool.ts";
import { CheckedTransactions } from "../../../src/replica/transactions/checked-transactions.ts";
import { DEFAULT_POOL_OPTIONS } from "../../../src/txpool/pool-options.ts";
import { bytesToHash } from "../../../src/wire/hash-text.ts";
import { until } from "../../support/following-client.ts";
import { ACCOUNTS, CHAIN_ID, transfer } from "../../support/replica-network.ts";

const RICH = 10n ** 18n;

class Desk {
  readonly queue: Hash[] = [];
  readonly withdrawn: Hash[] = [];
  /** What the core would order now. */
  waiting: Hash[] = [];
  /** How many came with each submission. */
  readonly submissions: number[] = [];
  /** What the core refuses. */
  readonly tooLarge = new Set<Hash>();
  readonly refused: string[] = [];
  readonly asked: bigint[] = [];
  readonly states = new Map<bigint, AccountState>();
  readonly admission: Admission;

  /** `permissions` is there where writes need a right. */
  constructor(
    more: Partial<typeof DEFAULT_POOL_OPTIONS> = {},
    permissions?: AdmissionDependencies["permissions"],
    guard: Pick<AdmissionDependencies, "hold" | "onForged"> = {},
  ) {
    const rules = { chainId: CHAIN_ID, fork: "prague", transactionGasMax: 16_777_216n } as const;
    this.admission = new Admission(
      { ...DEFAULT_POOL_OPTIONS, ...more },
      {
        checked: new CheckedTransactions(rules),
        accounts: async (addresses) => {
          this.asked.push(...addresses);
          await Promise.resolve();
          return addresses.map((address) => this.stateOf(address));
        },
        permissions,
        ...guard,
        submit: (transactions, onRefused) => {
          const ids = transactions.map(({ id }) => id);
          this.submissions.push(ids.length);
          this.queue.push(...ids);
          this.waiting.push(...ids);
          const refused = ids.filter((id) => this.tooLarge.has(id));
          onRefused(refused.map((id) => ({ id, code: "TRANSACTION_TOO_LARGE" })));
        },
        withdraw: (id) => {
          this.withdrawn.push(id);
          this.waiting = this.waiting.filter((other) => other !== id);
        },
      },
    );
  }

  stateOf(address: bigint): AccountState {
    return this.states.get(address) ?? { address, nonce: 0n, balance: RICH };
  }

  arrive(bytes: Uint8Array, source = "client 8"): void {
    this.admission.arrive([bytes], source, (_id, code) => this.refused.push(code));
  }

  executed(more: Partial<ExecutionReport>): void {
    this.admission.onExecuted({
      height: 1,
      result: new Uint8Array(32),
      blockNumber: 1n,
      included: [],
      drops: [],
      accounts: [],
      ...more,
    });
  }
}

const idOf = (bytes: Uint8Array): Hash => bytesToHash(keccak256(bytes));
const sender = ACCOUNTS[0]!;

describe("admission", () => {
  it("asks for the accounts of new senders once, and goes on from what blocks tell", async () => {
    const desk = new Desk();
    const [first, second, third] = [0, 1, 2].map((nonce) => transfer(0, nonce));
    desk.arrive(first!);
    desk.arrive(second!);
    await until(() => desk.queue.length === 2, "both can be ordered");
    desk.executed({
      included: [keccak256(first!), keccak256(second!)],
      accounts: [{ address: sender, nonce: 2n, balance: RICH }],
    });
    desk.arrive(third!);
    assert.deepEqual(desk.queue, [first!, second!, third!].map(idOf), "without asking");
    assert.deepEqual(desk.asked, [sender]);
    assert.deepEqual(desk.refused, []);
  });

  it("hands on together what came together, and forgets what the core refuses", async () => {
    const desk = new Desk();
    const run = [0, 1, 2, 3].map((nonce) => transfer(0, nonce));
    desk.tooLarge.add(idOf(run[2]!));
    desk.admission.arrive(run, "client 8");
    await until(() => desk.queue.length === run.length, "all are handed on");
    assert.deepEqual(desk.submissions, [run.length]);
    assert.deepEqual(desk.withdrawn, [idOf(run[3]!)], "what comes after a refused one waits");
    assert.equal(desk.admission.pendingCount, run.length - 1);
  });

  it("hands on what replaces another, and takes that one back after it was handed on", async () => {
    const desk = new Desk({ fees: { priceMin: 1n, replacementBumpPercent: 10n } });
    const [cheap, dear] = [10n, 20n].map((price) => transfer(0, 0, 1n, undefined, price));
    desk.admission.arrive([cheap!, dear!], "client 8");
    await until(() => desk.queue.length === 2, "both are handed on");
    assert.deepEqual(desk.withdrawn, [idOf(cheap!)]);
    assert.deepEqual(desk.waiting, [idOf(dear!)]);
  });

  it("asks about every transaction where writes need a right", async () => {
    const permitted = new Set([sender]);
    const desk = new Desk({}, (questions) =>
      Promise.resolve(questions.map((question) => permitted.has(question.sender))),
    );
    desk.arrive(transfer(0, 0));
    desk.arrive(transfer(1, 0));
    await until(() => desk.queue.length + desk.refused.length === 2, "both are decided");
    assert.deepEqual(desk.queue, [idOf(transfer(0, 0))]);
    assert.deepEqual(desk.refused, ["TX_PERMISSION_DENIED"]);
    permitted.clear();
    desk.arrive(transfer(0, 1));
    await until(() => desk.refused.length === 2, "a right that was revoked holds no longer");
    permitted.add(ACCOUNTS[1]!);
    desk.arrive(transfer(1, 0));
    await until(() => desk.queue.length === 2, "one that was granted holds when it comes again");
  });

  it("holds back what waits for an earlier nonce", async () => {
    const desk = new Desk();
    desk.arrive(transfer(0, 1));
    await until(() => desk.admission.pendingCount === 1, "it waits");
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(desk.queue, []);
    desk.arrive(transfer(0, 0));
    await until(() => desk.queue.length === 2, "both can be ordered");
    assert.deepEqual(
      desk.queue,
      [0, 1].map((nonce) => idOf(transfer(0, nonce))),
    );
  });

  it("refuses with a code what can never be, and says nothing of what is known", async () => {
    const desk = new Desk({ sourceTransactionsMax: 1 });
    desk.states.set(sender, { address: sender, nonce: 5n, balance: 0n });
    desk.arrive(Uint8Array.of(0xc0));
    desk.arrive(transfer(0, 4));
    desk.arrive(transfer(0, 5));
    await until(() => desk.refused.length === 3, "all three are refused");
    assert.deepEqual(desk.refused.slice(1), ["TX_NONCE_TOO_LOW", "TX_INSUFFICIENT_BALANCE"]);
    desk.arrive(transfer(1, 0));
    desk.arrive(transfer(2, 0));
    await until(() => desk.refused.length === 4, "one client has its quota");
    assert.equal(desk.refused[3], "TX_SOURCE_LIMIT");
    desk.arrive(transfer(1, 0));
    desk.executed({ included: [keccak256(transfer(3, 0))] });
    desk.arrive(transfer(3, 0));
    assert.equal(desk.refused.length, 4, "a copy of what is pooled or executed is no mistake");
    desk.admission.isClosed = true;
    desk.arrive(transfer(4, 0));
    assert.equal(desk.refused[4], "DISK_FULL");
  });

  it("takes back what was ordered too early, so that it is ordered again", async () => {
    const desk = new Desk();
    const early = transfer(0, 1);
    desk.executed({
      drops: [{ id: keccak256(early), code: "TX_NONCE_TOO_HIGH", retry: early }],
      accounts: [{ address: sender, nonce: 0n, balance: RICH }],
    });
    assert.deepEqual(desk.withdrawn, [idOf(early)], "the core forgets that it is done");
    assert.deepEqual(desk.queue, []);
    desk.arrive(transfer(0, 0));
    await until(() => desk.queue.length === 2, "both can be ordered");
    assert.deepEqual(desk.queue, [idOf(transfer(0, 0)), idOf(early)]);
  });

  it("gives up what a block made impossible", async () => {
    const desk = new Desk();
    const [ours, other] = [transfer(0, 0, 1n), transfer(0, 0, 2n)];
    desk.arrive(ours);
    await until(() => desk.queue.length === 1, "it waits to be ordered");
    desk.executed({
      included: [keccak256(other)],
      accounts: [{ address: sender, nonce: 1n, balance: RICH }],
    });
    assert.deepEqual(desk.withdrawn, [idOf(ours)]);
    assert.equal(desk.admission.pendingCount, 0);
  });

  it("asks again before it says that an account cannot pay", async () => {
    const desk = new Desk();
    desk.states.set(sender, { address: sender, nonce: 0n, balance: RICH });
    desk.executed({ accounts: [{ address: sender, nonce: 0n, balance: 0n }] });
    desk.arrive(transfer(0, 0));
    await until(() => desk.queue.length === 1, "it was paid meanwhile");
    assert.deepEqual(desk.asked, [sender]);
    assert.deepEqual(desk.refused, []);
  });

  for (const code of ["TX_PERMISSION_DENIED", "TX_INSUFFICIENT_BALANCE"] as const) {
    it(`takes the same bytes again after a drop with ${code}`, async () => {
      const desk = new Desk();
      const bytes = transfer(0, 0);
      desk.arrive(bytes);
      await until(() => desk.queue.length === 1, "it waits to be ordered");
      desk.executed({
        drops: [{ id: keccak256(bytes), code, retry: undefined }],
        accounts: [{ address: sender, nonce: 0n, balance: RICH }],
      });
      assert.deepEqual(desk.withdrawn, [idOf(bytes)], "the core forgets that it is done");
      desk.arrive(bytes);
      await until(() => desk.queue.length === 2, "it is handed to the core once more");
      assert.deepEqual(desk.refused, []);
    });
  }

  it("hands on again what blocks may have dropped that were not executed here", async () => {
    const desk = new Desk();
    desk.arrive(transfer(0, 0));
    await until(() => desk.queue.length === 1, "it waits to be ordered");
    desk.admission.onStateReplaced();
    await until(() => desk.queue.length === 2, "after a state transfer it is handed on again");
    assert.deepEqual(desk.withdrawn, [idOf(transfer(0, 0))], "and the core has forgotten it");
  });

  it("keeps its intake flat under a flood, and lets others through meanwhile", async () => {
    const held = new Set<string>();
    const forged: string[] = [];
    const desk = new Desk({}, undefined, {
      hold: (source, isHeld) => (isHeld ? held.add(source) : held.delete(source)),
      onForged: (source) => forged.push(source),
    });
    const flood = Array.from({ length: 2_600 }, (_, index) => {
      const junk = new Uint8Array(100);
      new DataView(junk.buffer).setUint32(0, index);
      return junk;
    });
    for (let turn = 0; turn < 40; turn++) desk.admission.arrive(flood, "client 8");
    assert.ok(desk.admission.pendingCount <= 32_768, `${desk.admission.pendingCount} wait`);
    assert.ok(desk.admission.droppedCount > 0);
    assert.deepEqual([...held], ["client 8"]);
    desk.arrive(transfer(0, 0), "client 9");
    await until(() => desk.queue.length === 1, "another client has its turn");
    assert.ok(desk.admission.pendingCount > 16_000, "long before the flood is checked");
    assert.ok(forged.every((source) => source === "client 8"));
    desk.admission.forget("client 8");
    assert.deepEqual([...held], []);
  });

  it("orders an executable one while a client fills the queue with gaps", async () => {
    const limits = { transactionsMax: 64, queuedMax: 64, sourceQueuedMax: 64 };
    const desk = new Desk({ ...limits, sourceTransactionsMax: 64 });
    for (let nonce = 1; nonce <= 64; nonce++) desk.arrive(transfer(0, nonce), "client 8");
    await until(() => desk.admission.poolStatus().queued === 64, "the pool is full of gaps");
    desk.arrive(transfer(1, 0), "client 8");
    await until(() => desk.queue.length === 1, "the executable one goes to the core");
    assert.deepEqual(desk.queue, [idOf(transfer(1, 0))]);
    desk.arrive(transfer(2, 1), "client 9");
    await until(() => desk.admission.poolStatus().queued === 63, "the other client's waits");
    assert.deepEqual(desk.refused, []);
  });
});
