/**
 * Writes at the end of the event loop's turn, once per connection, what all callbacks of that turn
 * wanted to send. setImmediate runs after every ready socket was read, a microtask would run after
 * each of them.
 */
export class FlushTurn {
  #waiting: { flush(): void }[] = [];

  /** The caller adds itself once per turn. */
  add(connection: { flush(): void }): void {
    this.#waiting.push(connection);
    if (this.#waiting.length === 1) setImmediate(() => this.#run());
  }

  #run(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const connection of waiting) connection.flush();
  }
}
