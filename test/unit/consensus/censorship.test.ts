/** A leader that leaves out what it was given (PROTOCOL §6.1 f). */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Block, Transaction } from "../../../src/consensus/block.ts";
import type { ComplaintReason } from "../../../src/consensus/message.ts";
import {
  GENESIS_BLOCK,
  LoneReplica,
  WALL_START_MS,
  blockOn,
  proposeOf,
  transactionOf,
  voteOf,
} from "../../support/lone-replica.ts";

const LEADER = 0;
/** Two transactions of 21 000 gas fill a block. */
const SMALL_BLOCKS = { blockGasMax: 50_000 };

describe("a leader that leaves out what it was given", () => {
  it("is complained about when a much younger transaction is proposed", () => {
    const network = new Network({ blockGasMax: 21_000 });
    network.replica.submit(1);
    for (let round = 0; round < 7; round++) network.decideAfter(100, [transactionOf(100 + round)]);
    assert.deepEqual(network.complaints(), [], "its blocks were full");
    const young = network.replica.submit(2);
    network.decide([young]);
    assert.deepEqual(network.complaints(), ["censorship"]);
  });

  it("is complained about when it orders transactions that only it knows, and has room", () => {
    const network = new Network();
    const victim = network.replica.submit(1);
    for (let round = 0; round < 6; round++) network.decideAfter(100, [transactionOf(100 + round)]);
    assert.deepEqual(network.complaints(), [], "it may not have it yet");
    for (let round = 6; round < 9; round++) network.decideAfter(100, [transactionOf(100 + round)]);
    const forwards = network.replica.take().flatMap((effect) => {
      const isForward = effect.kind === "send" && effect.message.kind === "forward";
      return isForward && effect.to === "all" ? [effect.message] : [];
    });
    assert.deepEqual(
      forwards,
      [{ kind: "forward", transaction: victim }],
      "the others learn of it",
    );
  });

  it("is complained about when it orders one transaction at a time while others wait", () => {
    const network = new Network();
    const waiting = Array.from({ length: 20 }, (_, seed) => network.replica.submit(seed));
    const reasons: ComplaintReason[] = [];
    for (const transaction of waiting.slice(0, 6)) {
      network.decideAfter(240, [transaction]);
      reasons.push(...network.complaints());
    }
    assert.ok(reasons.includes("censorship"));
  });

  it("is complained about when its own transactions fill the blocks for seconds", () => {
    const network = new Network(SMALL_BLOCKS);
    network.replica.submit(1);
    let seed = 100;
    for (let round = 0; round < 20; round++) {
      network.decideAfter(200, [transactionOf(seed++), transactionOf(seed++)]);
    }
    assert.deepEqual(network.complaints(), [], "full blocks may be a backlog");
    for (let round = 0; round < 4; round++) {
      network.decideAfter(200, [transactionOf(seed++), transactionOf(seed++)]);
    }
    assert.equal(network.complaints()[0], "censorship");
  });

  it("is not complained about while it works off full blocks in order of arrival", () => {
    const network = new Network(SMALL_BLOCKS);
    const waiting = Array.from({ length: 80 }, (_, seed) => network.replica.submit(seed));
    for (let first = 0; first < waiting.length; first += 2) {
      network.decideAfter(200, waiting.slice(first, first + 2));
    }
    assert.deepEqual(network.complaints(), []);
  });

  it("is not complained about for a block that the next transaction did not fit into", () => {
    const network = new Network({ blockGasMax: 41_999 });
    const waiting = Array.from({ length: 10 }, (_, seed) => network.replica.submit(seed));
    for (const transaction of waiting) network.decideAfter(200, [transaction]);
    assert.deepEqual(network.complaints(), []);
  });

  it("is not complained about for what a block carries that we had to fetch", () => {
    const network = new Network();
    const victim = network.replica.submit(1);
    network.replica.pass(700);
    const missed = network.nextBlock([victim]);
    for (const voter of [0, 2, 3]) network.replica.receive(voter, voteOf(voter, 0, missed));
    network.replica.receive(2, { kind: "bodyResponse", blocks: [missed] });
    network.parent = missed;
    for (let round = 0; round < 5; round++) network.propose([transactionOf(100 + round)]);
    assert.ok(!network.complaints().includes("censorship"));
  });
});

/** One replica that is no leader, and a chain that the others decide. */
class Network {
  readonly replica: LoneReplica;
  parent: Pick<Block, "hash" | "header"> = GENESIS_BLOCK;

  constructor(options: ConstructorParameters<typeof LoneReplica>[1] = {}) {
    this.replica = new LoneReplica(1, options).start();
  }

  decideAfter(ms: number, transactions: readonly Transaction[]): void {
    this.replica.pass(ms);
    this.decide(transactions);
  }

  decide(transactions: readonly Transaction[]): void {
    const block = this.propose(transactions);
    for (const voter of [0, 2, 3]) this.replica.receive(voter, voteOf(voter, 0, block));
  }

  propose(transactions: readonly Transaction[]): Block {
    const block = this.nextBlock(transactions);
    assert.equal(this.replica.receive(LEADER, proposeOf(LEADER, 0, block)), undefined);
    this.parent = block;
    return block;
  }

  nextBlock(transactions: readonly Transaction[]): Block {
    const { execHeight, finalHeight } = this.replica.replica.status();
    const isExecuted = execHeight === this.parent.header.height && finalHeight === execHeight;
    const result = isExecuted && execHeight > 0 ? { execHeight, execResult: this.parent.hash } : {};
    const timestampMs = Math.max(
      WALL_START_MS + Math.floor(this.replica.nowMs),
      this.parent.header.timestampMs + 1,
    );
    return blockOn(this.parent, transactions, { timestampMs, ...result });
  }

  complaints(): readonly ComplaintReason[] {
    return this.replica.sent("complaint").map(({ reason }) => reason);
  }
}
