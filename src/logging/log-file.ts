/**
 * A file of log lines that does not grow without end: when it is full it becomes `.1`, the one
 * before becomes `.2`, and the oldest goes. On a disk that accepts no writes only log lines are
 * lost.
 */
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import path from "node:path";

export type LogFileOptions = { readonly sizeMax: number; readonly keptCount: number };

export const DEFAULT_LOG_FILE_OPTIONS: LogFileOptions = {
  sizeMax: 10 * 1024 * 1024,
  keptCount: 3,
};

export class LogFile {
  readonly #path: string;
  readonly #options: LogFileOptions;
  #file: number | undefined;
  #size = 0;

  constructor(filePath: string, options: LogFileOptions = DEFAULT_LOG_FILE_OPTIONS) {
    this.#path = filePath;
    this.#options = options;
  }

  append(text: string | Uint8Array): void {
    const bytes = typeof text === "string" ? Buffer.from(text) : text;
    try {
      if (this.#size + bytes.length > this.#options.sizeMax && this.#size > 0) this.#rotate();
      this.#file ??= this.#open();
      this.#size += writeSync(this.#file, bytes);
    } catch {
      // A failed log write must not stop the node. Parts that need the disk report its failures.
      this.close();
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#size = 0;
  }

  #open(): number {
    mkdirSync(path.dirname(this.#path), { recursive: true, mode: 0o700 });
    const file = openSync(this.#path, "a", 0o600);
    this.#size = fstatSync(file).size;
    return file;
  }

  #rotate(): void {
    this.close();
    for (let age = this.#options.keptCount - 1; age >= 0; age--) {
      const from = age === 0 ? this.#path : `${this.#path}.${age}`;
      try {
        renameSync(from, `${this.#path}.${age + 1}`);
      } catch {
        // The file does not exist yet.
      }
    }
  }
}
