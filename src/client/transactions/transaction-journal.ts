/**
 * The transactions whose hash was given out (SPEC E13), durable before the hash is given.
 * After a restart those that are not final are sent again; what was refused or expired is not.
 *
 * Records: `accepted` with time and transaction, `closed` with time, hash and reason, and `begun` at
 * the start of a segment. That a transaction is final is not written: the chain says so.
 */
import { existsSync, renameSync } from "node:fs";
import { CodedError } from "../../base/coded-error.ts";
import { Wal, type WalOptions } from "../../storage/wal.ts";

export type AcceptedTransaction = {
  /** Milliseconds since 1970. */
  readonly acceptedMs: number;
  readonly encoded: Uint8Array;
};

/** Not final and never going to be. */
export type ClosedTransaction = {
  readonly closedMs: number;
  readonly hash: Uint8Array;
  readonly code: string;
};

export type JournalEntry =
  | ({ readonly kind: "accepted" } & AcceptedTransaction)
  | ({ readonly kind: "closed" } & ClosedTransaction);

export type OpenedJournal = {
  readonly journal: TransactionJournal;
  /** In the order in which it happened: what was closed may have been accepted again. */
  readonly entries: readonly JournalEntry[];
  /** The torn end of a crash was cut off; nothing that was promised was in it. */
  readonly isTailCut: boolean;
};

const ACCEPTED = 1;
const CLOSED = 2;
const BEGUN = 3;
const TIME_OFFSET = 1;
const BODY_OFFSET = 9;
const CODE_OFFSET = BODY_OFFSET + 32;

const DEFAULT_SEGMENT_SIZE = 16 * 1024 * 1024;
const FILL_MAX = 0.75;

export class TransactionJournal {
  readonly #wal: Wal;
  /** Nothing may be appended while a segment begins. */
  #rotation: Promise<void> | undefined;
  #late: Uint8Array[] = [];
  #fillMax = FILL_MAX;

  private constructor(wal: Wal) {
    this.#wal = wal;
  }

  /** Throws WAL_CORRUPT. Before anything is accepted, `compact` must be called if there is something. */
  static async open(
    directory: string,
    options: Pick<WalOptions, "repair"> & { readonly segmentSize: number | undefined },
  ): Promise<OpenedJournal> {
    const { repair, segmentSize = DEFAULT_SEGMENT_SIZE } = options;
    const { wal, records, verdict } = await Wal.open(directory, { repair, segmentSize });
    const journal = new TransactionJournal(wal);
    if (records.length > 0) journal.#fillMax = 0;
    return { journal, entries: records.flatMap(readEntry), isTailCut: verdict === "tail-cut" };
  }

  /** The end of an old segment is never reused: after a restart nothing can be appended yet. */
  get isAwaitingCompaction(): boolean {
    return this.#fillMax === 0;
  }

  get isFull(): boolean {
    if (this.#rotation !== undefined || this.isAwaitingCompaction) return false;
    return this.#wal.fill >= this.#fillMax;
  }

  /** Resolves when the transaction is on the disk. Rejects with what the disk says. */
  async accept({ acceptedMs, encoded }: AcceptedTransaction): Promise<void> {
    while (this.#rotation !== undefined) await this.#rotation;
    this.#wal.append(createRecord(ACCEPTED, acceptedMs, encoded));
    await this.#wal.sync();
  }

  /** Durable with the next transaction that is accepted: no caller waits for it. */
  close({ closedMs, hash, code }: ClosedTransaction): void {
    const body = Buffer.concat([hash, Buffer.from(code, "latin1")]);
    const record = createRecord(CLOSED, closedMs, body);
    if (this.#rotation === undefined) this.#wal.append(record);
    else this.#late.push(record);
  }

  /**
   * Begins a new segment with what is still open and drops the others. A crash in between leaves
   * both, which is the same twice. A full disk leaves the journal as it was.
   */
  async compact(
    open: () => Iterable<AcceptedTransaction>,
    closed: () => Iterable<ClosedTransaction>,
  ): Promise<void> {
    while (this.#rotation !== undefined) await this.#rotation;
    this.#rotation = this.#rotate(open, closed).finally(() => {
      this.#rotation = undefined;
      for (const record of this.#late.splice(0)) this.#wal.append(record);
    });
    await this.#rotation;
  }

  /** Ends the journal in an orderly way; what was accepted is on the disk already. */
  async end(): Promise<void> {
    await this.#rotation?.catch(() => undefined);
    await this.#wal.close();
  }

  async #rotate(
    open: () => Iterable<AcceptedTransaction>,
    closed: () => Iterable<ClosedTransaction>,
  ): Promise<void> {
    try {
      await this.#wal.startSegment(Uint8Array.of(BEGUN));
    } catch (error) {
      if (!(error instanceof CodedError) || error.code !== "DISK_FULL") throw error;
      if (this.#fillMax === 0) throw error;
      // The old segment grows meanwhile, and it is tried again later.
      this.#fillMax = this.#wal.fill + FILL_MAX;
      return;
    }
    for (const { acceptedMs, encoded } of open()) {
      this.#wal.append(createRecord(ACCEPTED, acceptedMs, encoded));
    }
    for (const { closedMs, hash, code } of closed()) {
      const body = Buffer.concat([hash, Buffer.from(code, "latin1")]);
      this.#wal.append(createRecord(CLOSED, closedMs, body));
    }
    await this.#wal.sync();
    await this.#wal.dropBefore(this.#wal.segmentId);
    // Where most is still open, a new segment would soon be as full as the old one.
    this.#fillMax = Math.max(FILL_MAX, 2 * this.#wal.fill);
  }
}

function readEntry(record: Uint8Array): JournalEntry[] {
  const bytes = Buffer.from(record.buffer, record.byteOffset, record.length);
  const timeMs = bytes.length < BODY_OFFSET ? 0 : bytes.readDoubleBE(TIME_OFFSET);
  if (bytes[0] === ACCEPTED) {
    const encoded = Uint8Array.from(bytes.subarray(BODY_OFFSET));
    return [{ kind: "accepted", acceptedMs: timeMs, encoded }];
  }
  if (bytes[0] === CLOSED) {
    const hash = Uint8Array.from(bytes.subarray(BODY_OFFSET, CODE_OFFSET));
    const code = bytes.toString("latin1", CODE_OFFSET);
    return [{ kind: "closed", closedMs: timeMs, hash, code }];
  }
  return [];
}

/** Puts a journal aside for ever: what it promised and is not final may be lost. */
export function abandonJournal(directory: string): void {
  if (!existsSync(directory)) return;
  for (let count = 1; ; count++) {
    const aside = `${directory}.abandoned-${count}`;
    if (existsSync(aside)) continue;
    renameSync(directory, aside);
    return;
  }
}

function createRecord(kind: number, timeMs: number, body: Uint8Array): Uint8Array {
  const record = Buffer.allocUnsafe(BODY_OFFSET + body.length);
  record[0] = kind;
  record.writeDoubleBE(timeMs, TIME_OFFSET);
  record.set(body, BODY_OFFSET);
  return record;
}
