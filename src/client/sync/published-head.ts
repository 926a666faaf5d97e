/** The last height that reads may see: final, executed here, and matched by f+1 signed results. */
export class PublishedHead {
  #height: number;
  #number: bigint;

  constructor(height: number, number: bigint) {
    this.#height = height;
    this.#number = number;
  }

  /** By consensus height. */
  get height(): number {
    return this.#height;
  }

  /** The last Ethereum block up to this height. */
  get number(): bigint {
    return this.#number;
  }

  moveTo({ height, number }: { readonly height: number; readonly number: bigint }): void {
    this.#height = height;
    this.#number = number;
  }
}
