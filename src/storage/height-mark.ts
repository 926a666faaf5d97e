/**
 * A height on the disk that only rises: a node that restarts knows how far it had come. Two places
 * in one small file are written in turn, so that a torn write leaves the one before.
 */
import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { writeError } from "./disk-error.ts";
import { FILE_SYNC, type FileSync } from "./file-sync.ts";

export type HeightMarkHandlers = {
  readonly onDurable: () => void;
  /** Once, with HEIGHT_MARK_WRITE_FAILED or DISK_FULL: it rises no more. */
  readonly onFailed: (error: unknown) => void;
};

const PLACE_SIZE = 16;
const PLACE_COUNT = 2;
const CHECKED_SIZE = 8;

export class HeightMark {
  readonly #path: string;
  readonly #fd: number;
  readonly #syncData: (fd: number) => Promise<void>;
  #durableHeight: number;
  /** The highest that was asked for. */
  #height: number;
  #writeCount = 0;
  #writing: Promise<void> | undefined;
  #handlers: HeightMarkHandlers | undefined;

  private constructor(file: string, fd: number, { height, place }: Found, sync: FileSync) {
    this.#path = file;
    this.#fd = fd;
    this.#syncData = promisify(sync.data);
    this.#durableHeight = height;
    this.#height = height;
    // The first write must not go over what was found.
    this.#writeCount = place + 1;
  }

  /** Height 0 where there is no file, or nothing in it that can be read. */
  static async open(file: string, sync: FileSync = FILE_SYNC): Promise<HeightMark> {
    const fd = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      const bytes = Buffer.alloc(PLACE_COUNT * PLACE_SIZE);
      if (readSync(fd, bytes, 0, bytes.length, 0) < bytes.length) await create(file, fd, sync);
      return new HeightMark(file, fd, findHighest(bytes), sync);
    } catch (error) {
      closeSync(fd);
      throw writeError("HEIGHT_MARK_WRITE_FAILED", { path: file }, error);
    }
  }

  /** No later start finds a lower one. */
  get durableHeight(): number {
    return this.#durableHeight;
  }

  set handlers(handlers: HeightMarkHandlers) {
    this.#handlers = handlers;
  }

  /** Soon; `onDurable` says when. Several that come during one write become one. */
  raise(height: number): void {
    if (height <= this.#height) return;
    this.#height = height;
    this.#writing ??= this.#writeAll();
  }

  async close(): Promise<void> {
    await this.#writing;
    closeSync(this.#fd);
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#durableHeight < this.#height) {
        const height = this.#height;
        writePlace(this.#fd, this.#writeCount % PLACE_COUNT, height);
        this.#writeCount++;
        await this.#syncData(this.#fd);
        this.#durableHeight = height;
        this.#handlers?.onDurable();
      }
      this.#writing = undefined;
    } catch (error) {
      // After a failed sync the content of the disk is unknown: `#writing` stays, nothing is
      // retried.
      this.#handlers?.onFailed(writeError("HEIGHT_MARK_WRITE_FAILED", { path: this.#path }, error));
    }
  }
}

type Found = { readonly height: number; readonly place: number };

/** Full size at once: a later write needs no room on the disk. */
async function create(file: string, fd: number, sync: FileSync): Promise<void> {
  writeSync(fd, Buffer.alloc(PLACE_COUNT * PLACE_SIZE), 0, PLACE_COUNT * PLACE_SIZE, 0);
  fsyncSync(fd);
  await sync.directory(path.dirname(file));
}

function findHighest(bytes: Buffer): Found {
  let found: Found = { height: 0, place: 0 };
  for (let place = 0; place < PLACE_COUNT; place++) {
    const at = place * PLACE_SIZE;
    const checked = bytes.subarray(at, at + CHECKED_SIZE);
    if (bytes.readUInt32BE(at + CHECKED_SIZE) !== crc32(checked)) continue;
    const height = Number(checked.readBigUInt64BE());
    if (height > found.height) found = { height, place };
  }
  return found;
}

function writePlace(fd: number, place: number, height: number): void {
  const bytes = Buffer.alloc(PLACE_SIZE);
  bytes.writeBigUInt64BE(BigInt(height));
  bytes.writeUInt32BE(crc32(bytes.subarray(0, CHECKED_SIZE)), CHECKED_SIZE);
  writeSync(fd, bytes, 0, PLACE_SIZE, place * PLACE_SIZE);
}
