import { readBigEndian, writeBigEndian } from "../../base/big-endian.ts";
import { createModularInverse, type ModularInverse } from "../modular/modular-inverse.ts";

const NUMBER_SIZE = 48;

/** a + bi, or two independent numbers. */
export type Pair = readonly [bigint, bigint];

/** The few operations on a + bi (i^2 = -1) that set-up, decoding and answers need, by bigint. */
export class QuadraticField {
  readonly #prime: bigint;
  #inverse: ModularInverse | undefined;

  constructor(prime: bigint) {
    this.#prime = prime;
  }

  reduce(value: bigint): bigint {
    const rest = value % this.#prime;
    return rest < 0n ? rest + this.#prime : rest;
  }

  multiply([a, b]: Pair, [c, d]: Pair): Pair {
    return [this.reduce(a * c - b * d), this.reduce(a * d + b * c)];
  }

  add([a, b]: Pair, [c, d]: Pair): Pair {
    return [this.reduce(a + c), this.reduce(b + d)];
  }

  power(base: Pair, exponent: bigint): Pair {
    let result: Pair = [1n, 0n];
    for (const digit of exponent.toString(2)) {
      result = this.multiply(result, result);
      if (digit === "1") result = this.multiply(result, base);
    }
    return result;
  }

  invert([a, b]: Pair): Pair {
    const inverse = this.invertPrime(a * a + b * b);
    return [this.reduce(a * inverse), this.reduce(-b * inverse)];
  }

  /** The inverse in the prime field of a value that is not zero there. */
  invertPrime(value: bigint): bigint {
    this.#inverse ??= createModularInverse(this.#prime);
    const bytes = new Uint8Array(NUMBER_SIZE);
    writeBigEndian(this.reduce(value), bytes, 0, NUMBER_SIZE);
    this.#inverse(bytes);
    return readBigEndian(bytes, 0, bytes.length);
  }
}
