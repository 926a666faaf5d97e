/**
 * Every state seen, in the order found, with the state it was found from. A state is a number below
 * 2^53; a hundred million of them take about two gigabytes.
 */
const CHUNK_BITS = 20;
const CHUNK_SIZE = 1 << CHUNK_BITS;
const CHUNK_MASK = CHUNK_SIZE - 1;

export class StateSet {
  #count = 0;
  readonly #states: Float64Array[] = [];
  readonly #parents: Int32Array[] = [];
  /** Open addressing: position + 1 of a state, or 0. */
  #table = new Int32Array(1 << 16);
  #mask = (1 << 16) - 1;

  get count(): number {
    return this.#count;
  }

  at(position: number): number {
    return this.#states[position >> CHUNK_BITS]![position & CHUNK_MASK]!;
  }

  parentOf(position: number): number {
    return this.#parents[position >> CHUNK_BITS]![position & CHUNK_MASK]!;
  }

  /** Whether the state is new; it is then the last one of the set. */
  add(state: number, parent: number): boolean {
    let slot = hash(state) & this.#mask;
    for (let entry = this.#table[slot]!; entry !== 0; entry = this.#table[slot]!) {
      if (this.at(entry - 1) === state) return false;
      slot = (slot + 1) & this.#mask;
    }
    const position = this.#count;
    if ((position & CHUNK_MASK) === 0) {
      this.#states.push(new Float64Array(CHUNK_SIZE));
      this.#parents.push(new Int32Array(CHUNK_SIZE));
    }
    this.#states[position >> CHUNK_BITS]![position & CHUNK_MASK] = state;
    this.#parents[position >> CHUNK_BITS]![position & CHUNK_MASK] = parent;
    this.#table[slot] = position + 1;
    this.#count += 1;
    if (this.#count * 2 > this.#table.length) this.#grow();
    return true;
  }

  #grow(): void {
    const table = new Int32Array(this.#table.length * 2);
    const mask = table.length - 1;
    for (let position = 0; position < this.#count; position++) {
      let slot = hash(this.at(position)) & mask;
      while (table[slot] !== 0) slot = (slot + 1) & mask;
      table[slot] = position + 1;
    }
    this.#table = table;
    this.#mask = mask;
  }
}

function hash(state: number): number {
  const high = Math.floor(state / 0x1_0000_0000);
  let mixed = Math.imul(state | 0, 0x9e3779b1) ^ Math.imul(high, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
