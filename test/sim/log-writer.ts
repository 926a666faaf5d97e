/** The part of a simulated driver that writes the log: append, sync with latency, compaction. */
import type { Prng } from "../../src/base/prng.ts";
import type { ReplicaIndex } from "../../src/consensus/block.ts";
import type { LogRecord } from "../../src/consensus/log-record.ts";
import type { Coverage } from "./coverage.ts";
import type { EventQueue } from "./event-queue.ts";
import { LogDisk } from "./log-disk.ts";
import type { SafetyChecker } from "./checkers/safety-checker.ts";
import type { SimWire } from "./sim-wire.ts";

export type LogWriterOptions = {
  readonly index: ReplicaIndex;
  readonly isCorrect: boolean;
  readonly syncUs: readonly [number, number];
  /** A snapshot is written and older records are dropped each time the log grows by so many. */
  readonly compactEvery: number;
};

type Dependencies = {
  readonly queue: EventQueue;
  readonly wire: SimWire;
  readonly checker: SafetyChecker;
  readonly coverage: Coverage;
  readonly prng: Prng;
  readonly onSynced: (lsn: number) => void;
  /** The driver must stop at once: what the disk holds is unknown. */
  readonly onSyncFailed: () => void;
};

export class LogWriter {
  readonly disk = new LogDisk();
  failsNextSync = false;
  syncSlowdownUs = 0;
  readonly #options: LogWriterOptions;
  readonly #dependencies: Dependencies;
  /** Grows with every restart: syncs of an earlier life end in nothing. */
  #life = 0;
  #isSyncing = false;
  #wantsSync = false;
  #lastLsn = 0;
  #appendedSinceCompaction = 0;
  #snapshotSequence: number | undefined;

  constructor(options: LogWriterOptions, dependencies: Dependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** The process dies or begins anew. */
  reset(): void {
    this.#life++;
    this.#isSyncing = false;
    this.#wantsSync = false;
    this.#lastLsn = 0;
    this.#appendedSinceCompaction = 0;
    this.#snapshotSequence = undefined;
    this.failsNextSync = false;
  }

  /** The records of an intact log; undefined when it is empty or damaged. */
  recover(): readonly LogRecord[] | undefined {
    const { wire, coverage, checker } = this.#dependencies;
    const recovered = this.disk.recover();
    if (recovered.kind === "corrupt") {
      coverage.count("disk: damage noticed at restart");
      return undefined;
    }
    if (recovered.bodies.length === 0) return undefined;
    const records = recovered.bodies.map((body) => wire.decodeRecord(body));
    const first = this.disk.lastSequence() - records.length + 1;
    if (this.#options.isCorrect) {
      const history = checker.histories[this.#options.index]!;
      history.facts.onRestart(records.map((record, at) => ({ record, sequence: first + at })));
      history.onRestart();
    }
    return records;
  }

  append(record: LogRecord, lsn: number): void {
    this.#write(record);
    this.#lastLsn = lsn;
  }

  sync(): void {
    if (this.#isSyncing) {
      this.#wantsSync = true;
      return;
    }
    this.#isSyncing = true;
    this.#wantsSync = false;
    const { queue, prng } = this.#dependencies;
    const [life, sequence, lsn] = [this.#life, this.disk.lastSequence(), this.#lastLsn];
    const [low, high] = this.#options.syncUs;
    queue.after(prng.between(low, high) + this.syncSlowdownUs, () => {
      if (this.#life === life) this.#onSynced(sequence, lsn);
    });
  }

  isCompactionDue(): boolean {
    return (
      this.#snapshotSequence === undefined &&
      this.#appendedSinceCompaction >= this.#options.compactEvery
    );
  }

  /** Begins a new segment with all that safety needs; older records go once it is durable. */
  compact(snapshot: LogRecord): void {
    this.#snapshotSequence = this.disk.lastSequence() + 1;
    this.#write(snapshot);
    this.#appendedSinceCompaction = 0;
    this.sync();
  }

  #write(record: LogRecord): void {
    const { wire, checker } = this.#dependencies;
    const sequence = this.disk.append(wire.encodeRecord(record));
    this.#appendedSinceCompaction++;
    checker.onAppend(this.#options.index, record, sequence);
  }

  #onSynced(sequence: number, lsn: number): void {
    const { coverage, checker, onSynced, onSyncFailed } = this.#dependencies;
    this.#isSyncing = false;
    if (this.failsNextSync) {
      coverage.count("fault: failed sync");
      onSyncFailed();
      return;
    }
    this.disk.markDurable(sequence);
    if (this.#options.isCorrect) {
      checker.histories[this.#options.index]!.facts.onDurable(sequence);
    }
    if (this.#snapshotSequence !== undefined && sequence >= this.#snapshotSequence) {
      this.disk.dropBefore(this.#snapshotSequence);
      this.#snapshotSequence = undefined;
    }
    if (this.#wantsSync) this.sync();
    if (lsn > 0) onSynced(lsn);
  }
}
