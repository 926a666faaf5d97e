/**
 * Writes all log lines of a process. Writing never waits and never fails: when the reader does not
 * read, lines are dropped and the node goes on (SPEC L5). pino's own destination is not used: when
 * its reader has gone, its last flush tries for ever, and the process never ends.
 */
import { write } from "node:fs";
import { formatEntry } from "./pretty-entry.ts";

export type LogFormat = "json" | "pretty";

const STDOUT = 1;
/** What may wait for the reader; after that lines are dropped. */
const WAITING_LENGTH_MAX = 4 * 1024 * 1024;
/** The reader's buffer is full. */
const RETRY_MS = 10;
/** How long the end of the process waits for a slow reader. */
const FLUSH_TIMEOUT_MS = 500;

export class LogWriter {
  readonly format: LogFormat;
  readonly #hasColour: boolean;
  readonly #file: number;
  #waiting: string[] = [];
  #waitingLength = 0;
  #isWriting = false;
  #isBroken = false;
  #droppedCount = 0;
  #onEmpty: (() => void)[] = [];

  constructor(format: LogFormat, hasColour: boolean, file = STDOUT) {
    this.format = format;
    this.#hasColour = hasColour;
    this.#file = file;
  }

  /** Lines that no reader took. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  /** One entry as JSON with the end of its line. */
  write(text: string): void {
    if (this.format === "json") this.#append(text);
    else this.line(formatEntry(text.trimEnd(), { hasColour: this.#hasColour }));
  }

  /** A line as it is, in every format. */
  line(text: string): void {
    this.#append(`${text}\n`);
  }

  /** Before the process ends: resolves when all is written, or the reader accepts no more. */
  async flush(): Promise<void> {
    if (!this.#isWriting) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, FLUSH_TIMEOUT_MS);
      this.#onEmpty.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #append(text: string): void {
    if (this.#isBroken || this.#waitingLength + text.length > WAITING_LENGTH_MAX) {
      this.#droppedCount++;
      return;
    }
    this.#waiting.push(text);
    this.#waitingLength += text.length;
    if (!this.#isWriting) this.#writeWaiting();
  }

  #writeWaiting(): void {
    const bytes = Buffer.from(this.#waiting.join(""));
    this.#waiting = [];
    this.#waitingLength = 0;
    this.#isWriting = true;
    this.#writeFrom(bytes, 0);
  }

  #writeFrom(bytes: Buffer, offset: number): void {
    write(this.#file, bytes, offset, bytes.length - offset, null, (error, written) => {
      if (error === null) this.#onWritten(bytes, offset + written);
      else if (error.code === "EAGAIN") {
        setTimeout(() => this.#writeFrom(bytes, offset), RETRY_MS).unref();
      } else this.#onReaderGone();
    });
  }

  #onWritten(bytes: Buffer, offset: number): void {
    if (offset < bytes.length) this.#writeFrom(bytes, offset);
    else if (this.#waiting.length > 0) this.#writeWaiting();
    else this.#becomeEmpty();
  }

  #onReaderGone(): void {
    this.#isBroken = true;
    this.#droppedCount += this.#waiting.length;
    this.#waiting = [];
    this.#waitingLength = 0;
    this.#becomeEmpty();
  }

  #becomeEmpty(): void {
    this.#isWriting = false;
    for (const resolve of this.#onEmpty.splice(0)) resolve();
  }
}

/** `auto` is for people on a terminal and for machines elsewhere. */
export function logFormatOf(wanted: LogFormat | "auto", isTerminal: boolean): LogFormat {
  if (wanted !== "auto") return wanted;
  return isTerminal ? "pretty" : "json";
}
