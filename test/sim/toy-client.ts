/**
 * A client of the simulated network: one transaction at a time, sent to the replicas again and
 * again until f+1 of them signed the same result (S12).
 */
import type { Prng } from "../../src/base/prng.ts";
import type { Hash, Transaction } from "../../src/consensus/block.ts";
import type { ExecVote } from "../../src/consensus/message.ts";
import type { EventQueue } from "./event-queue.ts";
import type { Placement } from "./toy-app.ts";
import { signCall } from "./toy-transaction.ts";

const RESEND_US = 200_000;

export type ClientOptions = {
  readonly index: number;
  readonly weak: number;
  readonly replicaCount: number;
  /** Pause between an answer and the next transaction. */
  readonly thinkUs: readonly [number, number];
  /** How many replicas hear of a transaction at first; later attempts go to all. */
  readonly fanOut: number;
  readonly paddingMax: number;
};

export type ClientWorld = {
  readonly queue: EventQueue;
  readonly submit: (replica: number, transaction: Transaction) => void;
  readonly isAuthentic: (vote: ExecVote) => boolean;
  readonly onAcknowledged: (
    claim: { readonly height: number; readonly blockHash: Hash; readonly id: Hash },
    latencyMs: number,
  ) => void;
};

type Outstanding = {
  readonly transaction: Transaction;
  readonly count: number;
  readonly sinceUs: number;
  attempts: number;
  /** Signers by "height/block/result". */
  readonly answers: Map<string, Set<number>>;
};

export class ToyClient {
  readonly #options: ClientOptions;
  readonly #world: ClientWorld;
  readonly #prng: Prng;
  #count = 0;
  #outstanding: Outstanding | undefined;
  /** No further transactions are begun; the outstanding one is still pursued. */
  isStopped = false;
  acknowledged = 0;

  constructor(options: ClientOptions, world: ClientWorld, prng: Prng) {
    this.#options = options;
    this.#world = world;
    this.#prng = prng;
  }

  start(): void {
    this.#think();
  }

  outstandingSinceUs(): number | undefined {
    return this.#outstanding?.sinceUs;
  }

  describe(): string {
    const { transaction, count, attempts } = this.#outstanding ?? {};
    return `client ${this.#options.index} count ${count} id ${transaction?.id} tries ${attempts}`;
  }

  onReply(placement: Placement, vote: ExecVote): void {
    const outstanding = this.#outstanding;
    if (outstanding?.count !== placement.count) return;
    if (!this.#world.isAuthentic(vote)) return;
    const key = `${vote.height}/${vote.blockHash}/${vote.result}`;
    const signers = outstanding.answers.get(key) ?? new Set();
    outstanding.answers.set(key, signers);
    signers.add(vote.sender);
    if (signers.size < this.#options.weak) return;
    this.#outstanding = undefined;
    this.acknowledged++;
    const { height, blockHash } = vote;
    const latencyMs = (this.#world.queue.nowUs() - outstanding.sinceUs) / 1000;
    const { id } = outstanding.transaction;
    this.#world.onAcknowledged({ height, blockHash, id }, latencyMs);
    this.#think();
  }

  #think(): void {
    const [low, high] = this.#options.thinkUs;
    this.#world.queue.after(this.#prng.between(low, high), () => {
      if (!this.isStopped) this.#begin();
    });
  }

  #begin(): void {
    this.#count++;
    const padding = this.#prng.below(this.#options.paddingMax + 1);
    this.#outstanding = {
      transaction: signCall({ client: this.#options.index, count: this.#count }, padding),
      count: this.#count,
      sinceUs: this.#world.queue.nowUs(),
      attempts: 0,
      answers: new Map(),
    };
    this.#attempt(this.#count);
  }

  #attempt(count: number): void {
    const outstanding = this.#outstanding;
    if (outstanding?.count !== count) return;
    const { replicaCount, fanOut } = this.#options;
    const all = Array.from({ length: replicaCount }, (_, index) => index);
    const targets = outstanding.attempts === 0 ? this.#prng.shuffle(all).slice(0, fanOut) : all;
    outstanding.attempts++;
    for (const target of targets) this.#world.submit(target, outstanding.transaction);
    this.#world.queue.after(RESEND_US, () => this.#attempt(count));
  }
}
