/** The least level of a process, which an operator can change while it runs. */
import type { LogLevel } from "./log-entry.ts";

export class LogThreshold {
  readonly #configured: LogLevel;
  readonly #followers: ((level: LogLevel) => void)[] = [];
  #level: LogLevel;

  constructor(configured: LogLevel) {
    this.#configured = configured;
    this.#level = configured;
  }

  get level(): LogLevel {
    return this.#level;
  }

  /**
   * Called on every change. There is one listener for each part of the program, for as long as it
   * runs.
   */
  follow(follower: (level: LogLevel) => void): void {
    this.#followers.push(follower);
  }

  /** Between `debug` and what is configured. */
  toggleDebug(): void {
    this.#level = this.#level === "debug" ? this.#configured : "debug";
    for (const follower of this.#followers) follower(this.#level);
  }
}
