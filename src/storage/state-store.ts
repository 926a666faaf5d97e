/**
 * The state on the disk: an ordered map of bytes in LMDB, read synchronously and written behind.
 * One write holds the changes of several blocks and is one transaction, with the marker that says
 * how far it has come: after a crash both are of the same block, and later blocks are executed
 * again.
 */
import { crc32 } from "node:zlib";
import type { Transaction } from "lmdb";
import { CodedError } from "../base/coded-error.ts";
import { invariant } from "../base/invariant.ts";
import { DiskSpace, type DiskSpaceOptions } from "./disk-space.ts";
import {
  entryCount,
  isDamage,
  isFullDisk,
  type LmdbEnvironment,
  openEnvironment,
  openEnvironmentReader,
  type Table,
} from "./lmdb-environment.ts";

export type StoredStateEntry = { readonly key: Uint8Array; readonly value: Uint8Array };

/** No value deletes the key. */
export type StateChange = { readonly key: Uint8Array; readonly value: Uint8Array | undefined };

/** The state as it was at one moment, whatever is written meanwhile. Close it soon. */
export type StateSnapshot = {
  readonly height: number | undefined;
  get(key: Uint8Array): Uint8Array | undefined;
  seek(from: Uint8Array): StoredStateEntry | undefined;
  close(): void;
};

type Marker = { readonly height: number | undefined; readonly entryCount: number };

const OPENING = { damagedCode: "STATE_STORE_DAMAGED" } as const;
const DATA_TABLE = "state";
const META_TABLE = "meta";
const MARKER_KEY = Uint8Array.of(1);
const MARKER_SIZE = 24;
const FORMAT = 1;
const NO_HEIGHT = -1;
/** Roughly what a change costs in pages, to tell a full disk from a broken one. */
const PAGE_BYTES_PER_CHANGE = 8192;

export class StateStore {
  readonly #path: string;
  readonly #environment: LmdbEnvironment;
  readonly #data: Table;
  readonly #meta: Table;
  readonly #space: DiskSpace | undefined;

  private constructor(path: string, environment: LmdbEnvironment, space: DiskSpace | undefined) {
    this.#path = path;
    this.#environment = environment;
    this.#data = environment.table(DATA_TABLE);
    this.#meta = environment.table(META_TABLE);
    this.#space = space;
  }

  /** Throws STATE_STORE_DAMAGED: remove it and execute the blocks again. */
  static async open(path: string, options: DiskSpaceOptions = {}): Promise<StateStore> {
    const environment = await openEnvironment(path, OPENING, (opened) => {
      assertMarker(path, opened);
    });
    return new StateStore(path, environment, new DiskSpace(path, options));
  }

  /** For another thread of the process that has the store open; it cannot write. */
  static openReader(path: string): StateStore {
    return new StateStore(path, openEnvironmentReader(path), undefined);
  }

  /** The block that the last write with a height came to. */
  get height(): number | undefined {
    return this.#reading(() => readMarker(this.#path, this.#meta, undefined).height);
  }

  /** Writes are refused until there is room again; reads go on. */
  get isFull(): boolean {
    return this.#space?.isFull ?? false;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#reading(() => this.#data.get(key));
  }

  /** The first entry whose key is not below `from`. */
  seek(from: Uint8Array): StoredStateEntry | undefined {
    return this.#reading(() => firstEntry(this.#data, { start: from, limit: 1 }));
  }

  /**
   * All or nothing, and durable when it returns. With a height, the marker moves to it in the same
   * transaction. Throws DISK_FULL when there is no room: nothing was written then, and the same
   * changes may be given again.
   */
  write(changes: readonly StateChange[], height?: number): void {
    const space = this.#space;
    invariant(space !== undefined, "a reader does not write");
    space.assertRoom();
    try {
      this.#data.transactionSync(() => this.#put(changes, height));
    } catch (error) {
      const isLow = space.isLow(changes.length * PAGE_BYTES_PER_CHANGE);
      if (isFullDisk(error, isLow)) space.refuse(error);
      throw this.#storeError(error, "STATE_STORE_WRITE_FAILED");
    }
    space.noteRoom();
  }

  snapshot(): StateSnapshot {
    this.#data.resetReadTxn();
    const transaction = this.#data.useReadTransaction();
    const { height } = readMarker(this.#path, this.#meta, transaction);
    return {
      height,
      get: (key) => this.#reading(() => this.#data.get(key, { transaction })),
      seek: (from) =>
        this.#reading(() => firstEntry(this.#data, { start: from, limit: 1, transaction })),
      close: () => transaction.done(),
    };
  }

  close(): Promise<void> {
    return this.#environment.close();
  }

  #put(changes: readonly StateChange[], height: number | undefined): void {
    const before = readMarker(this.#path, this.#meta, undefined);
    const values = packValues(changes);
    changes.forEach(({ key }, index) => {
      const value = values[index];
      if (value === undefined) this.#data.removeSync(key);
      else this.#data.putSync(key, value);
    });
    const marker = { height: height ?? before.height, entryCount: entryCount(this.#data) };
    this.#meta.putSync(MARKER_KEY, encodeMarker(marker));
  }

  #reading<Value>(read: () => Value): Value {
    try {
      return read();
    } catch (error) {
      throw this.#storeError(error, "STATE_STORE_READ_FAILED");
    }
  }

  #storeError(error: unknown, code: string): unknown {
    if (error instanceof CodedError) return error;
    const found = isDamage(error) ? "STATE_STORE_DAMAGED" : code;
    return new CodedError(found, { path: this.#path }, error);
  }
}

function firstEntry(
  table: Table,
  range: { readonly start: Uint8Array; readonly limit: 1; readonly transaction?: Transaction },
): StoredStateEntry | undefined {
  for (const { key, value } of table.getRange(range)) return { key, value };
  return undefined;
}

/** The marker counts the entries: a table that has others was not written by these transactions. */
function assertMarker(path: string, environment: LmdbEnvironment): void {
  const data = environment.table(DATA_TABLE);
  const marker = readMarker(path, environment.table(META_TABLE), undefined);
  if (marker.entryCount !== entryCount(data)) {
    throw new CodedError("STATE_STORE_DAMAGED", { path, reason: "its marker does not fit" });
  }
}

function readMarker(path: string, meta: Table, transaction: Transaction | undefined): Marker {
  const found = meta.get(MARKER_KEY, transaction === undefined ? {} : { transaction });
  if (found === undefined) return { height: undefined, entryCount: 0 };
  const bytes = Buffer.from(found);
  const checked = bytes.subarray(0, MARKER_SIZE - 4);
  const isWhole = bytes.length === MARKER_SIZE && bytes.readUInt32LE(20) === crc32(checked);
  if (!isWhole || bytes.readUInt32LE(0) !== FORMAT) {
    throw new CodedError("STATE_STORE_DAMAGED", { path, reason: "its marker is not readable" });
  }
  const height = bytes.readDoubleLE(4);
  return {
    height: height === NO_HEIGHT ? undefined : height,
    entryCount: bytes.readDoubleLE(12),
  };
}

/**
 * The values as windows into one block of memory: the library takes the address of each value's
 * memory, for which small ones would have to be moved out of the heap one by one.
 */
function packValues(changes: readonly StateChange[]): (Uint8Array | undefined)[] {
  const size = changes.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
  const { buffer } = Buffer.allocUnsafeSlow(size);
  const packed = new Uint8Array(buffer);
  let end = 0;
  return changes.map(({ value }) => {
    if (value === undefined) return undefined;
    packed.set(value, end);
    end += value.length;
    return packed.subarray(end - value.length, end);
  });
}

function encodeMarker(marker: Marker): Uint8Array {
  const bytes = Buffer.alloc(MARKER_SIZE);
  bytes.writeUInt32LE(FORMAT, 0);
  bytes.writeDoubleLE(marker.height ?? NO_HEIGHT, 4);
  bytes.writeDoubleLE(marker.entryCount, 12);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, MARKER_SIZE - 4)), 20);
  return bytes;
}
