/**
 * The end of all log lines of a process. Writing never waits and never fails: a reader that does
 * not read costs lines, not the node (SPEC L5).
 */
import { pino } from "pino";
import { formatEntry } from "./pretty-entry.ts";

export type LogFormat = "json" | "pretty";

const STDOUT = 1;
/** What may wait for the reader; after that lines are dropped. */
const BUFFERED_LENGTH_MAX = 4 * 1024 * 1024;

type Destination = ReturnType<typeof pino.destination>;

export class LogWriter {
  readonly format: LogFormat;
  readonly #destination: Destination;
  readonly #hasColour: boolean;
  #droppedCount = 0;

  constructor(format: LogFormat, hasColour: boolean, file = STDOUT) {
    this.format = format;
    this.#hasColour = hasColour;
    this.#destination = pino.destination({
      dest: file,
      sync: false,
      minLength: 0,
      maxLength: BUFFERED_LENGTH_MAX,
    });
    // Whoever read has gone: there is nobody to tell.
    this.#destination.on("error", () => undefined);
    this.#destination.on("drop", () => this.#droppedCount++);
  }

  get droppedCount(): number {
    return this.#droppedCount;
  }

  /** One entry as JSON with the end of its line. */
  write(text: string): void {
    if (this.format === "json") this.#destination.write(text);
    else this.line(formatEntry(text.trimEnd(), { hasColour: this.#hasColour }));
  }

  /** A line as it is, in every format. */
  line(text: string): void {
    this.#destination.write(`${text}\n`);
  }

  /** Before the process ends. */
  flush(): void {
    try {
      this.#destination.flushSync();
    } catch {
      // The reader has gone, or never was.
    }
  }
}

/** `auto` is for people on a terminal and for machines elsewhere. */
export function logFormatOf(wanted: LogFormat | "auto", isTerminal: boolean): LogFormat {
  if (wanted !== "auto") return wanted;
  return isTerminal ? "pretty" : "json";
}
