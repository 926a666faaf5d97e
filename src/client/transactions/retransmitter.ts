/**
 * Sends transactions to all replicas, in batches, and again with growing pauses until they are
 * taken out. A replica acknowledges nothing: what it has already costs it one lookup.
 */
import type { Hash, ReplicaIndex } from "../../consensus/block.ts";
import { SUBMIT_SIZE_MAX, SUBMIT_TRANSACTIONS_MAX } from "../../wire/client-codec.ts";
import type { ClientTiming } from "../client-options.ts";
import type { ReplicaLinks } from "../replica-links.ts";

export type RetransmitterDependencies = {
  readonly links: Pick<ReplicaLinks, "submit" | "replicasUp">;
};

type Sent = { readonly encoded: Uint8Array; pauseMs: number; dueMs: number };

/** Bounds one turn: the rest has its turn 200 ms later. */
const RESENT_MAX = 2_048;
const RESENT_BYTES_MAX = 2 * SUBMIT_SIZE_MAX;
/** What a replica that comes back gets at once. */
const SENT_ON_UP_MAX = 8_192;

export class Retransmitter {
  readonly #timing: Pick<ClientTiming, "resendMinMs" | "resendMaxMs">;
  readonly #dependencies: RetransmitterDependencies;
  readonly #sent = new Map<Hash, Sent>();
  /** Added in this turn of the event loop: they travel together. */
  #fresh: Uint8Array[] = [];

  constructor(
    timing: Pick<ClientTiming, "resendMinMs" | "resendMaxMs">,
    dependencies: RetransmitterDependencies,
  ) {
    this.#timing = timing;
    this.#dependencies = dependencies;
  }

  /** Sent at once, and then again; one that is being sent already is left to its pauses. */
  add(id: Hash, encoded: Uint8Array): void {
    if (this.#sent.has(id)) return;
    const { resendMinMs } = this.#timing;
    const dueMs = performance.now() + resendMinMs;
    this.#sent.set(id, { encoded, pauseMs: resendMinMs, dueMs });
    this.#fresh.push(encoded);
    if (this.#fresh.length === 1) setImmediate(() => this.#sendFresh());
  }

  remove(id: Hash): void {
    this.#sent.delete(id);
  }

  /** Its pauses begin anew. */
  hurry(id: Hash): void {
    const sent = this.#sent.get(id);
    if (sent === undefined) return;
    sent.dueMs = 0;
    sent.pauseMs = this.#timing.resendMinMs / 2;
  }

  sendDue(nowMs: number): void {
    const due: Uint8Array[] = [];
    let bytes = 0;
    for (const [id, sent] of this.#sent) {
      if (sent.dueMs > nowMs) continue;
      if (due.length >= RESENT_MAX || bytes > RESENT_BYTES_MAX) break;
      due.push(sent.encoded);
      bytes += sent.encoded.length;
      sent.pauseMs = Math.min(2 * sent.pauseMs, this.#timing.resendMaxMs);
      sent.dueMs = nowMs + sent.pauseMs;
      // To the end: those behind it have waited longer.
      this.#sent.delete(id);
      this.#sent.set(id, sent);
    }
    if (due.length > 0) this.#sendAll(due);
  }

  sendAllTo(replica: ReplicaIndex): void {
    const transactions: Uint8Array[] = [];
    for (const { encoded } of this.#sent.values()) {
      if (transactions.length >= SENT_ON_UP_MAX) break;
      transactions.push(encoded);
    }
    for (const batch of batchesOf(transactions)) this.#dependencies.links.submit(replica, batch);
  }

  #sendFresh(): void {
    const fresh = this.#fresh;
    this.#fresh = [];
    this.#sendAll(fresh);
  }

  #sendAll(transactions: readonly Uint8Array[]): void {
    const { links } = this.#dependencies;
    const replicas = links.replicasUp;
    for (const batch of batchesOf(transactions)) {
      for (const replica of replicas) links.submit(replica, batch);
    }
  }
}

function* batchesOf(transactions: readonly Uint8Array[]): Generator<readonly Uint8Array[]> {
  let batch: Uint8Array[] = [];
  let bytes = 0;
  for (const encoded of transactions) {
    const isFull =
      batch.length === SUBMIT_TRANSACTIONS_MAX || bytes + encoded.length > SUBMIT_SIZE_MAX;
    if (isFull) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(encoded);
    bytes += encoded.length;
  }
  if (batch.length > 0) yield batch;
}
