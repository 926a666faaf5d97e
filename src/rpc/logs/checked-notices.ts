/**
 * Notices of subscriptions on a connection whose caller needs a right: the right is checked again
 * before each of them, in order, because a right can be revoked and a token ends.
 */
export type NoticeDependencies = {
  /** Rejects when the caller has lost its right. */
  readonly check: () => Promise<unknown>;
  readonly send: (text: string) => void;
  /** Once: nothing is sent after it. */
  readonly onDenied: (error: unknown) => void;
  readonly onTooMany: () => void;
};

export class CheckedNotices {
  readonly #lengthMax: number;
  readonly #dependencies: NoticeDependencies;
  #waiting: string[] = [];
  #length = 0;
  #isChecking = false;
  #isOver = false;

  /** `lengthMax` bounds what may wait while the right is being checked. */
  constructor(lengthMax: number, dependencies: NoticeDependencies) {
    this.#lengthMax = lengthMax;
    this.#dependencies = dependencies;
  }

  add(text: string): void {
    if (this.#isOver) return;
    this.#waiting.push(text);
    this.#length += text.length;
    if (this.#length > this.#lengthMax) {
      this.#end();
      this.#dependencies.onTooMany();
      return;
    }
    if (!this.#isChecking) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    const { check, send, onDenied } = this.#dependencies;
    this.#isChecking = true;
    while (this.#waiting.length > 0) {
      // What arrives during a check belongs to the next one: it may be newer than the revocation.
      const texts = this.#waiting;
      this.#waiting = [];
      this.#length = 0;
      try {
        await check();
      } catch (error) {
        this.#end();
        onDenied(error);
      }
      if (this.#isOver) return;
      for (const text of texts) send(text);
    }
    this.#isChecking = false;
  }

  #end(): void {
    this.#isOver = true;
    this.#waiting = [];
    this.#length = 0;
  }
}
