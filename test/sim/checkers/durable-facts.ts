/**
 * What the log of one replica holds, and which part of it would survive a power loss right now: the
 * ground truth for sync-before-send (S4).
 */
import type { LogRecord } from "../../../src/consensus/log-record.ts";

export type Fact =
  | { readonly kind: "vote"; readonly key: string; readonly height: number }
  | { readonly kind: "certificate"; readonly key: string; readonly height: number }
  | { readonly kind: "block"; readonly key: string; readonly height: number }
  | { readonly kind: "view"; readonly epoch: number; readonly view: number }
  | { readonly kind: "epoch"; readonly epoch: number };

export function signedKey(statement: {
  readonly epoch: number;
  readonly view: number;
  readonly height: number;
  readonly blockHash: string;
}): string {
  return `${statement.epoch}/${statement.view}/${statement.height}/${statement.blockHash}`;
}

export class DurableFacts {
  readonly #pending: { readonly sequence: number; readonly facts: readonly Fact[] }[] = [];
  readonly #heights = new Map<string, number>();
  /** The epoch of the last appended record, which view and vote records do not repeat. */
  #epoch = 0;
  #durableEpoch = 0;
  readonly #durableView = new Map<number, number>();

  append(record: LogRecord, sequence: number): void {
    this.#pending.push({ sequence, facts: this.#factsOf(record) });
  }

  /** Everything up to `sequence` is on the disk. */
  onDurable(sequence: number): void {
    while (this.#pending.length > 0 && this.#pending[0]!.sequence <= sequence) {
      for (const fact of this.#pending.shift()!.facts) this.#establish(fact);
    }
  }

  /** After a restart: records that survived are in the file, but only the next sync vouches. */
  onRestart(survivors: readonly { readonly record: LogRecord; readonly sequence: number }[]): void {
    this.#pending.length = 0;
    this.#epoch = 0;
    for (const { record, sequence } of survivors) this.append(record, sequence);
  }

  onDiskLost(): void {
    this.#pending.length = 0;
    this.#heights.clear();
    this.#durableView.clear();
    this.#epoch = 0;
    this.#durableEpoch = 0;
  }

  has(kind: "vote" | "certificate" | "block", key: string): boolean {
    return this.#heights.has(`${kind}:${key}`);
  }

  durableEpoch(): number {
    return this.#durableEpoch;
  }

  durableView(epoch: number): number {
    return this.#durableView.get(epoch) ?? 0;
  }

  forgetBelow(height: number): void {
    for (const [key, at] of this.#heights) if (at < height) this.#heights.delete(key);
  }

  #establish(fact: Fact): void {
    switch (fact.kind) {
      case "vote":
      case "certificate":
      case "block":
        this.#heights.set(`${fact.kind}:${fact.key}`, fact.height);
        return;
      case "view":
        this.#durableView.set(fact.epoch, Math.max(this.durableView(fact.epoch), fact.view));
        return;
      case "epoch":
        this.#durableEpoch = Math.max(this.#durableEpoch, fact.epoch);
    }
  }

  #factsOf(record: LogRecord): readonly Fact[] {
    switch (record.kind) {
      case "boot":
      case "rejoin":
      case "final":
        return [];
      case "epoch":
        this.#epoch = record.epoch;
        return [{ kind: "epoch", epoch: record.epoch }];
      case "view":
        return [{ kind: "view", epoch: this.#epoch, view: record.view }];
      case "block":
        return [{ kind: "block", key: record.block.hash, height: record.block.header.height }];
      case "vote": {
        const key = signedKey({ ...record, epoch: this.#epoch });
        return [{ kind: "vote", key, height: record.height }];
      }
      case "certificate": {
        const { certificate } = record;
        return [{ kind: "certificate", key: signedKey(certificate), height: certificate.height }];
      }
      case "snapshot":
        this.#epoch = record.epoch;
        return snapshotFacts(record);
    }
  }
}

function snapshotFacts(record: LogRecord & { readonly kind: "snapshot" }): readonly Fact[] {
  const { epoch, votedView, votedTip, highCert } = record;
  const facts: Fact[] = [
    { kind: "epoch", epoch },
    { kind: "view", epoch, view: record.view },
    { kind: "certificate", key: signedKey(highCert), height: highCert.height },
  ];
  const votes = votedTip === undefined ? record.votes : [...record.votes, votedTip];
  for (const { height, hash } of votes) {
    const key = signedKey({ epoch, view: votedView, height, blockHash: hash });
    facts.push({ kind: "vote", key, height });
  }
  for (const block of record.blocks) {
    facts.push({ kind: "block", key: block.hash, height: block.header.height });
  }
  return facts;
}
