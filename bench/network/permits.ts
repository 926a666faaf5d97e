/** How many requests may still go; who finds none waits in line, and costs nothing meanwhile. */
export class Permits {
  readonly #line: (() => void)[] = [];
  #free = 0;

  /** Resolves when there is one, in the order of asking. */
  take(): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free--;
      return undefined;
    }
    return new Promise((resolve) => this.#line.push(resolve));
  }

  give(count: number): void {
    const served = this.#line.splice(0, count);
    this.#free += count - served.length;
    for (const resolve of served) resolve();
  }
}
