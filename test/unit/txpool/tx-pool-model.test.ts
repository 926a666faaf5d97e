/** The pool against a naive one: a list of what was accepted, from which all else is computed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { RecoveredTransaction } from "../../../src/chain/transaction-sender.ts";
import { PoolWorld, transactionOf, type Wish } from "./pool-transactions.ts";

const LIMITS = {
  transactionsMax: 12,
  bytesMax: 1_400,
  queuedMax: 4,
  queuedBytesMax: 450,
  sourceTransactionsMax: 8,
  sourceBytesMax: 1_000,
  sourceQueuedMax: 3,
  sourceQueuedBytesMax: 400,
  senderTransactionsMax: 6,
  senderBytesMax: 700,
  nonceWindow: 8,
  transactionSizeMax: 150,
  lifetimeMs: 20,
  queuedLifetimeMs: 9,
};
const FEES = { priceMin: 1n, replacementBumpPercent: 10n };
const BALANCE = 60n;

type Entry = {
  transaction: RecoveredTransaction;
  source: string;
  arrivedMs: number;
  queuedMs: number | undefined;
  /** Its place in the queue. */
  turn: number;
};

type Action =
  | { kind: "add"; wish: Required<Wish>; source: string; isPromised: boolean }
  | { kind: "block"; sender: number; step: number; balance: number; count: number }
  | { kind: "remove"; pick: number }
  | { kind: "wait"; ms: number };

const wishes: fc.Arbitrary<Required<Wish>> = fc.record({
  sender: fc.integer({ min: 1, max: 4 }),
  /** Counted from the account's own nonce, and now and then from one below it. */
  nonce: fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 1, max: 5 }) }, fc.nat(10)),
  value: fc.constantFrom(0, 0, 0, 5, 20, 61),
  price: fc.constantFrom(0, 1, 2, 10, 11, 12),
  size: fc.constantFrom(100, 100, 140, 151),
  salt: fc.nat(1),
});

const actions: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({
      kind: fc.constant("add" as const),
      wish: wishes,
      source: fc.constantFrom("a", "b"),
      isPromised: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("block" as const),
      sender: fc.integer({ min: 1, max: 4 }),
      step: fc.integer({ min: 0, max: 3 }),
      balance: fc.constantFrom(0, 20, 60, 200),
      count: fc.nat(3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), pick: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(12) }) },
);

const costOf = (recovered: RecoveredTransaction): bigint =>
  recovered.transaction.value + priceOf(recovered);
const priceOf = ({ transaction }: RecoveredTransaction): bigint =>
  transaction.type === 0 ? transaction.gasPrice : 0n;
const sizeOf = (entries: readonly Entry[]): number =>
  entries.reduce((sum, { transaction }) => sum + transaction.encoded.length, 0);

class NaivePool {
  entries: Entry[] = [];
  readonly #world: PoolWorld;
  readonly #hasFees: boolean;
  nowMs = 0;
  #turn = 0;

  constructor(world: PoolWorld, hasFees: boolean) {
    this.#world = world;
    this.#hasFees = hasFees;
  }

  ofSender(sender: bigint): Entry[] {
    return this.entries.filter(({ transaction }) => transaction.sender === sender);
  }

  run(sender: bigint): Entry[] {
    const { nonce, balance } = this.#world.account(sender);
    const run: Entry[] = [];
    let left = balance;
    for (let next = nonce; ; next++) {
      const entry = this.ofSender(sender).find((held) => nonceOf(held) === next);
      if (entry === undefined || costOf(entry.transaction) > left) return run;
      left -= costOf(entry.transaction);
      run.push(entry);
    }
  }

  executable(): Set<RecoveredTransaction> {
    const senders = new Set(this.entries.map(({ transaction }) => transaction.sender));
    return new Set([...senders].flatMap((sender) => this.run(sender)).map((e) => e.transaction));
  }

  pendingNonce(sender: bigint): bigint {
    let { nonce } = this.#world.account(sender);
    while (this.ofSender(sender).some((held) => nonceOf(held) === nonce)) nonce++;
    return nonce;
  }

  add(transaction: RecoveredTransaction, source: string, isPromised: boolean): string {
    const entry = { transaction, source, arrivedMs: this.nowMs, queuedMs: undefined, turn: 0 };
    const held = this.ofSender(transaction.sender).find((old) => nonceOf(old) === nonceOf(entry));
    const code = this.#refusal(entry, held, isPromised);
    if (code !== "ok") return code;
    this.entries = this.entries.filter((old) => old !== held);
    this.entries.push(entry);
    return "ok";
  }

  /** Since when entries are queued, as of now. */
  noteQueued(): void {
    const executable = this.executable();
    // In one step, only transactions of one sender become queued.
    const byNonce = this.entries.toSorted((a, b) => Number(nonceOf(a) - nonceOf(b)));
    for (const entry of byNonce) {
      if (executable.has(entry.transaction)) entry.queuedMs = undefined;
      else if (entry.queuedMs === undefined) {
        entry.queuedMs = this.nowMs;
        entry.turn = this.#turn++;
      }
    }
  }

  queuedOf(source: string): Entry[] {
    const executable = this.executable();
    return this.entries.filter((one) => one.source === source && !executable.has(one.transaction));
  }

  #refusal(entry: Entry, held: Entry | undefined, isPromised: boolean): string {
    const { transaction, source } = entry;
    const account = this.#world.account(transaction.sender);
    const known = this.entries.map((old) => old.transaction.hash.join());
    if (known.includes(transaction.hash.join())) return "TX_ALREADY_KNOWN";
    if (nonceOf(entry) < account.nonce) return "TX_NONCE_TOO_LOW";
    if (!isPromised) {
      if (transaction.encoded.length > LIMITS.transactionSizeMax) return "TX_SIZE_TOO_LARGE";
      if (nonceOf(entry) - account.nonce >= LIMITS.nonceWindow) return "TX_NONCE_GAP_TOO_LARGE";
      if (this.#hasFees && priceOf(transaction) < 1n) return "TX_PRICE_TOO_LOW";
      if (costOf(transaction) > account.balance) return "TX_INSUFFICIENT_BALANCE";
    }
    if (held !== undefined) {
      if (!this.#hasFees) return "TX_NONCE_TAKEN";
      const [old, offered] = [Number(priceOf(held.transaction)), Number(priceOf(transaction))];
      if (offered <= old || 10 * offered < 11 * old) return "TX_REPLACEMENT_UNDERPRICED";
    }
    if (isPromised) return "ok";
    const after = [...this.entries.filter((old) => old !== held), entry];
    const ofSender = after.filter((one) => one.transaction.sender === transaction.sender);
    if (isOver(ofSender, LIMITS.senderTransactionsMax, LIMITS.senderBytesMax)) {
      return "TX_SENDER_LIMIT";
    }
    const executable = this.executable();
    const runs = held === undefined ? this.#wouldRun(entry) : executable.has(held.transaction);
    // An executable one is refused for executable ones alone: all others can be evicted.
    const counted = after.filter(
      (one) => one === entry || executable.has(one.transaction) || !runs,
    );
    const ofSource = counted.filter((one) => one.source === source);
    const isSourceOver = isOver(ofSource, LIMITS.sourceTransactionsMax, LIMITS.sourceBytesMax);
    if (isSourceOver) return "TX_SOURCE_LIMIT";
    const isPoolOver = isOver(counted, LIMITS.transactionsMax, LIMITS.bytesMax);
    if (runs) return isPoolOver ? "TX_POOL_FULL" : "ok";
    const queued = after.filter((one) => one === entry || !executable.has(one.transaction));
    const queuedOfSource = queued.filter((one) => one.source === source);
    if (isOver(queuedOfSource, LIMITS.sourceQueuedMax, LIMITS.sourceQueuedBytesMax)) {
      return "TX_SOURCE_LIMIT";
    }
    const isQueueOver = isOver(queued, LIMITS.queuedMax, LIMITS.queuedBytesMax);
    if (!isQueueOver && !isPoolOver) return "ok";
    return this.#canDisplace(entry, held, queued, after)
      ? "ok"
      : isQueueOver
        ? "TX_QUEUE_FULL"
        : "TX_POOL_FULL";
  }

  /** Whether the source with the largest share makes room, and stays the larger one. */
  #canDisplace(entry: Entry, held: Entry | undefined, queued: Entry[], after: Entry[]): boolean {
    const other = this.queuedOf(entry.source === "a" ? "b" : "a");
    const own = queued.filter((one) => one.source === entry.source);
    if (shareOf(other) <= shareOf(this.queuedOf(entry.source))) return false;
    const left = other.toSorted((a, b) => a.turn - b.turn);
    const gone = new Set<Entry>();
    const without = (list: Entry[]): Entry[] => list.filter((one) => !gone.has(one));
    for (const one of left.filter((each) => each !== held)) {
      const isQueueOver = isOver(without(queued), LIMITS.queuedMax, LIMITS.queuedBytesMax);
      const isPoolOver = isOver(without(after), LIMITS.transactionsMax, LIMITS.bytesMax);
      if (!isQueueOver && !isPoolOver) return true;
      if (shareOf(without(other)) <= shareOf(own)) return false;
      gone.add(one);
    }
    return (
      !isOver(without(queued), LIMITS.queuedMax, LIMITS.queuedBytesMax) &&
      !isOver(without(after), LIMITS.transactionsMax, LIMITS.bytesMax)
    );
  }

  #wouldRun(entry: Entry): boolean {
    this.entries.push(entry);
    const isRunning = this.executable().has(entry.transaction);
    this.entries.pop();
    return isRunning;
  }
}

function shareOf(entries: readonly Entry[]): number {
  return Math.max(entries.length / LIMITS.queuedMax, sizeOf(entries) / LIMITS.queuedBytesMax);
}

function isOver(entries: readonly Entry[], countMax: number, bytesMax: number): boolean {
  return entries.length > countMax || sizeOf(entries) > bytesMax;
}

function nonceOf({ transaction }: Entry): bigint {
  return transaction.transaction.nonce;
}

function perform(world: PoolWorld, model: NaivePool, action: Action): void {
  const { pool } = world;
  switch (action.kind) {
    case "add": {
      const { wish, source, isPromised } = action;
      const { nonce: base } = world.account(BigInt(wish.sender));
      const nonce = Math.max(0, Number(base) - 1 + wish.nonce);
      const transaction = transactionOf({ ...wish, nonce });
      const before = model.executable();
      const expected = model.add(transaction, source, isPromised);
      const promisedMs = isPromised ? model.nowMs : undefined;
      const added = pool.add(transaction, { source, nowMs: model.nowMs, promisedMs });
      assert.equal(added.ok ? "ok" : added.error.code, expected);
      if (!added.ok) return;
      const { evicted } = added.value;
      assert.ok(!evicted.some((one) => before.has(one)), "only queued ones are evicted");
      model.entries = model.entries.filter((held) => !evicted.includes(held.transaction));
      checkMoved(before, model.executable(), added.value, added.value.replaced);
      return;
    }
    case "block": {
      const account = world.account(BigInt(action.sender));
      const sender = BigInt(action.sender);
      const before = model.executable();
      const passed = model.ofSender(sender).filter((held) => {
        return nonceOf(held) < account.nonce + BigInt(action.step);
      });
      const included = passed.slice(0, action.count).map(({ transaction }) => transaction);
      account.nonce += BigInt(action.step);
      account.balance = BigInt(action.balance);
      model.entries = model.entries.filter((held) => !passed.includes(held));
      const outcome = pool.onBlock({
        accounts: [{ address: sender, ...account }],
        included: included.map(({ hash }) => hash),
      });
      assert.deepEqual(new Set(outcome.included), new Set(included));
      const gone = new Set([...outcome.included, ...outcome.stale]);
      assert.deepEqual(gone, new Set(passed.map(({ transaction }) => transaction)));
      for (const transaction of gone) before.delete(transaction);
      checkMoved(before, model.executable(), outcome, undefined);
      return;
    }
    case "remove": {
      const entry = model.entries[action.pick % Math.max(1, model.entries.length)];
      if (entry === undefined) return;
      const before = model.executable();
      before.delete(entry.transaction);
      model.entries = model.entries.filter((held) => held !== entry);
      const moved = pool.remove(entry.transaction.hash);
      assert.ok(moved !== undefined);
      checkMoved(before, model.executable(), moved, undefined);
      return;
    }
    case "wait": {
      model.nowMs += action.ms;
      const isOld = ({ arrivedMs, queuedMs = model.nowMs }: Entry): boolean =>
        model.nowMs - arrivedMs >= LIMITS.lifetimeMs ||
        model.nowMs - queuedMs >= LIMITS.queuedLifetimeMs;
      const expired = model.entries.filter(isOld).map(({ transaction }) => transaction);
      const before = model.executable();
      for (const transaction of expired) before.delete(transaction);
      model.entries = model.entries.filter((held) => !isOld(held));
      const outcome = pool.expire(model.nowMs);
      assert.deepEqual(new Set(outcome.expired), new Set(expired));
      checkMoved(before, model.executable(), outcome, undefined);
    }
  }
}

function checkMoved(
  before: ReadonlySet<RecoveredTransaction>,
  after: ReadonlySet<RecoveredTransaction>,
  moved: {
    readonly promoted: readonly RecoveredTransaction[];
    readonly demoted: readonly RecoveredTransaction[];
  },
  replaced: RecoveredTransaction | undefined,
): void {
  const keptPlace = replaced !== undefined && before.has(replaced);
  const place = (one: RecoveredTransaction): string => `${one.sender}:${one.transaction.nonce}`;
  const placesBefore = new Set([...before].map(place));
  const placesAfter = new Set([...after].map(place));
  const expectedUp = [...placesAfter].filter((one) => !placesBefore.has(one));
  const expectedDown = [...placesBefore].filter((one) => !placesAfter.has(one));
  const what = keptPlace ? "after a replacement" : "after a change";
  assert.deepEqual(new Set(moved.promoted.map(place)), new Set(expectedUp), `promoted ${what}`);
  assert.deepEqual(new Set(moved.demoted.map(place)), new Set(expectedDown), `demoted ${what}`);
}

function compare(world: PoolWorld, model: NaivePool): void {
  const { pool } = world;
  const executable = model.executable();
  const iterated = [...pool.executables()];
  assert.deepEqual(new Set(iterated), executable);
  assert.equal(iterated.length, executable.size, "nothing is proposed twice");
  const next = new Map<bigint, bigint>();
  for (const { sender, transaction } of iterated) {
    const due = next.get(sender) ?? world.account(sender).nonce;
    assert.equal(transaction.nonce, due, "each sender's nonces come in order, without a gap");
    next.set(sender, due + 1n);
  }
  assert.deepEqual(pool.status(), {
    executable: executable.size,
    queued: model.entries.length - executable.size,
    bytes: sizeOf(model.entries),
    senders: new Set(model.entries.map(({ transaction }) => transaction.sender)).size,
    isFull: pool.status().isFull,
  });
  for (const sender of [1n, 2n, 3n, 4n]) {
    assert.equal(pool.pendingNonceOf(sender), model.pendingNonce(sender));
    const { executable: run, queued } = pool.contentOf(sender);
    const held = new Set(model.ofSender(sender).map(({ transaction }) => transaction));
    assert.deepEqual(new Set([...run, ...queued]), held);
    assert.ok(run.every((transaction) => executable.has(transaction)));
  }
  for (const { transaction } of model.entries) {
    assert.equal(pool.get(transaction.hash), transaction);
  }
}

describe("transaction pool against a naive one", () => {
  for (const fees of [undefined, FEES]) {
    it(`same refusals, runs and order ${fees === undefined ? "without" : "with"} fees`, () => {
      fc.assert(
        fc.property(fc.array(actions, { maxLength: 120, size: "max" }), (steps) => {
          const world = new PoolWorld({ ...LIMITS, fees }, BALANCE);
          const model = new NaivePool(world, fees !== undefined);
          for (const step of steps) {
            perform(world, model, step);
            model.noteQueued();
            compare(world, model);
          }
        }),
        { numRuns: 150 },
      );
    });
  }
});
