/**
 * Memory that all connections of all transports together may hold in bodies and answers. One client
 * address has at most half of it, so that a client that does not read leaves room for the others.
 */
export class ByteBudget {
  readonly #bytesMax: number;
  /** Only clients that hold something. */
  readonly #byClient = new Map<string, number>();
  #used = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get used(): number {
    return this.#used;
  }

  shareOf(client: string): BudgetShare {
    return {
      reserve: (bytes) => this.#reserve(client, bytes),
      release: (bytes) => this.#release(client, bytes),
    };
  }

  #reserve(client: string, bytes: number): boolean {
    const own = (this.#byClient.get(client) ?? 0) + bytes;
    if (this.#used + bytes > this.#bytesMax || own > this.#bytesMax / 2) return false;
    this.#used += bytes;
    if (own > 0) this.#byClient.set(client, own);
    return true;
  }

  #release(client: string, bytes: number): void {
    const own = (this.#byClient.get(client) ?? 0) - bytes;
    this.#used -= bytes;
    if (own > 0) this.#byClient.set(client, own);
    else this.#byClient.delete(client);
  }
}

/** The budget as one client sees it. */
export type BudgetShare = {
  /** False if there is no room: then nothing is taken. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
};
