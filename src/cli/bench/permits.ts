/** How many requests may still go; who finds none waits in line, and costs nothing meanwhile. */
type Waiter = { readonly max: number; readonly resolve: (taken: number) => void };

export class Permits {
  readonly #line: Waiter[] = [];
  #free = 0;

  /** Up to `max`, and at least one: when there is one, in the order of asking. */
  take(max: number): number | Promise<number> {
    if (this.#free === 0) return new Promise((resolve) => this.#line.push({ max, resolve }));
    const taken = Math.min(max, this.#free);
    this.#free -= taken;
    return taken;
  }

  /** Those in line share them. */
  give(count: number): void {
    this.#free += count;
    let waiting = this.#line.length;
    for (; waiting > 0 && this.#free > 0; waiting--) {
      const { max, resolve } = this.#line.shift() as Waiter;
      const taken = Math.min(max, Math.ceil(this.#free / waiting));
      this.#free -= taken;
      resolve(taken);
    }
  }
}
