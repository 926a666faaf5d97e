/**
 * A stretch of log lines that wait to be sent: a file, or memory where there is no disk or it
 * accepts no more. Only whole lines go in, and they are read from a byte that begins a line.
 */
import {
  closeSync,
  ftruncateSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { invariant } from "../base/invariant.ts";

const LINE_END = 10;

export type Lines = { readonly bytes: Buffer; readonly lineCount: number };

export type Segment = {
  readonly sequence: number;
  readonly size: number;
  readonly lineCount: number;
  readonly isInMemory: boolean;
  /** Whole lines from the given byte; none at the end. A line longer than that comes whole. */
  read(offset: number, limits: { readonly sizeMax: number; readonly linesMax: number }): Lines;
  remove(): void;
};

const LONGEST_READ = 64 * 1024 * 1024;

export class FileSegment implements Segment {
  readonly sequence: number;
  readonly isInMemory = false;
  readonly #path: string;
  readonly #file: number;
  #size: number;
  #lineCount: number;

  /** What was cut off in the middle of a line by a crash is dropped. */
  constructor(sequence: number, filePath: string) {
    this.sequence = sequence;
    this.#path = filePath;
    this.#file = openSync(filePath, "a+", 0o600);
    const { size, lineCount } = measure(this.#file);
    if (fstatSync(this.#file).size !== size) ftruncateSync(this.#file, size);
    this.#size = size;
    this.#lineCount = lineCount;
  }

  get size(): number {
    return this.#size;
  }

  get lineCount(): number {
    return this.#lineCount;
  }

  /** False when the disk does not take it; then nothing of it is in the segment. */
  append({ bytes, lineCount }: Lines): boolean {
    try {
      const written = writeSync(this.#file, bytes);
      if (written === bytes.length) {
        this.#size += written;
        this.#lineCount += lineCount;
        return true;
      }
    } catch {
      // Full or broken: the caller keeps the lines in memory.
    }
    try {
      ftruncateSync(this.#file, this.#size);
    } catch {
      // A partial write stays behind the part that is read.
    }
    return false;
  }

  read(offset: number, limits: { readonly sizeMax: number; readonly linesMax: number }): Lines {
    for (let size = limits.sizeMax; ; size *= 2) {
      const wanted = Math.min(size, this.#size - offset, LONGEST_READ);
      const bytes = Buffer.alloc(wanted);
      const read = readSync(this.#file, bytes, 0, wanted, offset);
      const lines = wholeLines(bytes.subarray(0, read), limits.linesMax);
      if (lines.lineCount > 0 || wanted < size) return lines;
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  remove(): void {
    closeSync(this.#file);
    rmSync(this.#path, { force: true });
  }
}

export class MemorySegment implements Segment {
  readonly sequence: number;
  readonly isInMemory = true;
  #bytes: Buffer;
  #lineCount: number;

  constructor(sequence: number, { bytes, lineCount }: Lines) {
    this.sequence = sequence;
    this.#bytes = bytes;
    this.#lineCount = lineCount;
  }

  get size(): number {
    return this.#bytes.length;
  }

  get lineCount(): number {
    return this.#lineCount;
  }

  read(offset: number, limits: { readonly sizeMax: number; readonly linesMax: number }): Lines {
    const rest = this.#bytes.subarray(offset);
    const lines = wholeLines(rest.subarray(0, limits.sizeMax), limits.linesMax);
    return lines.lineCount > 0 ? lines : wholeLines(rest, 1);
  }

  remove(): void {
    this.#bytes = Buffer.alloc(0);
    this.#lineCount = 0;
  }
}

export function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_END); at !== -1; at = bytes.indexOf(LINE_END, at + 1))
    count += 1;
  return count;
}

function wholeLines(bytes: Buffer, linesMax: number): Lines {
  let end = 0;
  let lineCount = 0;
  while (lineCount < linesMax) {
    const at = bytes.indexOf(LINE_END, end);
    if (at === -1) break;
    end = at + 1;
    lineCount += 1;
  }
  return { bytes: bytes.subarray(0, end), lineCount };
}

/** Up to the last line that is whole. */
function measure(file: number): { readonly size: number; readonly lineCount: number } {
  const chunk = Buffer.alloc(256 * 1024);
  let position = 0;
  let size = 0;
  let lineCount = 0;
  for (;;) {
    const read = readSync(file, chunk, 0, chunk.length, position);
    if (read === 0) break;
    const bytes = chunk.subarray(0, read);
    const last = bytes.lastIndexOf(LINE_END);
    if (last !== -1) size = position + last + 1;
    lineCount += countLines(bytes);
    position += read;
  }
  invariant(size <= position, "a segment is not longer than its file");
  return { size, lineCount };
}
