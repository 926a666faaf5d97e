/** The end of log files and what is added to them, in the order of time. */
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { parseEntry } from "./pretty-entry.ts";

export type LogLine = { readonly text: string; readonly time: string; readonly service: string };

/** What is read of one file at once. */
const READ_SIZE_MAX = 4 * 1024 * 1024;

export class LogTail {
  readonly #path: string;
  readonly #service: string;
  #offset = 0;
  #inode = 0;
  /** The beginning of a line whose end has not been written yet. */
  #rest = "";
  /** Lines that are no entries belong to the entry before them. */
  #time = "";

  /** `service` is the name for lines that carry none. */
  constructor(filePath: string, service: string) {
    this.#path = filePath;
    this.#service = service;
  }

  /** The lines at the end, with those of the file before if this one is short. */
  last(lineCount: number): readonly LogLine[] {
    const lines = this.#readNew(true);
    const previous = `${this.#path}.1`;
    if (lines.length >= lineCount || !existsSync(previous)) return lines.slice(-lineCount);
    const older = new LogTail(previous, this.#service).last(lineCount - lines.length);
    return [...older, ...lines].slice(-lineCount);
  }

  /** What was written since the last call. */
  next(): readonly LogLine[] {
    return this.#readNew(false);
  }

  #readNew(isFirst: boolean): readonly LogLine[] {
    if (!existsSync(this.#path)) return [];
    const { ino, size: found } = statSync(this.#path);
    // The file was rotated: the new one is read from its beginning.
    if (ino !== this.#inode || found < this.#offset) {
      this.#inode = ino;
      this.#offset = 0;
      this.#rest = "";
    }
    const file = openSync(this.#path, "r");
    try {
      const { size } = fstatSync(file);
      const from = isFirst ? Math.max(0, size - READ_SIZE_MAX) : this.#offset;
      const bytes = Buffer.alloc(Math.min(size - from, READ_SIZE_MAX));
      const read = readSync(file, bytes, 0, bytes.length, from);
      this.#offset = from + read;
      const lines = (this.#rest + bytes.toString("utf8", 0, read)).split("\n");
      this.#rest = lines.pop() ?? "";
      // What begins in the middle is not a line.
      if (isFirst && from > 0) lines.shift();
      return lines.filter((text) => text !== "").map((text) => this.#toLine(text));
    } finally {
      closeSync(file);
    }
  }

  #toLine(text: string): LogLine {
    const entry = parseEntry(text);
    const { logtime, service_name: service } = entry ?? {};
    if (typeof logtime === "string") this.#time = logtime;
    return {
      text,
      time: this.#time,
      service: typeof service === "string" ? service : this.#service,
    };
  }
}

/** Lines of several files in one order. Equal times stay in the order they came in. */
export function mergeLines(lists: readonly (readonly LogLine[])[]): readonly LogLine[] {
  return lists.flat().sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}
