/**
 * keccak256 of addresses and of words (storage slots, topics). The tries, the blooms and the next
 * block ask for the same ones again and again, so that the last few thousand are remembered. Each
 * has one place, given by its lowest bits: a sender that makes them collide costs one hash each
 * time.
 */
import { writeBigEndian } from "../base/big-endian.ts";
import { HASH_SIZE, keccak256Into } from "../crypto/keccak256.ts";

const PLACE_BITS = 13;
const PLACE_COUNT = 1 << PLACE_BITS;

class HashMemory {
  readonly #words: (bigint | undefined)[] = new Array<undefined>(PLACE_COUNT).fill(undefined);
  readonly #hashes: Uint8Array[] = [];
  readonly #input: Uint8Array;

  constructor(inputSize: number) {
    this.#input = new Uint8Array(inputSize);
    for (let place = 0; place < PLACE_COUNT; place++) this.#hashes.push(NO_HASH);
  }

  hash(word: bigint): Uint8Array {
    const place = Number(BigInt.asUintN(PLACE_BITS, word));
    let hash = this.#hashes[place] ?? NO_HASH;
    if (this.#words[place] === word) return hash;
    if (hash === NO_HASH) {
      hash = new Uint8Array(HASH_SIZE);
      this.#hashes[place] = hash;
    }
    this.#words[place] = word;
    const input = this.#input;
    writeBigEndian(word, input, 0, input.length);
    keccak256Into(input, 0, input.length, hash, 0);
    return hash;
  }
}

const NO_HASH = new Uint8Array(0);
const ofAddresses = new HashMemory(20);
const ofWords = new HashMemory(32);

/** The bytes are valid until the next call and are not to be changed. */
export function addressHash(address: bigint): Uint8Array {
  return ofAddresses.hash(address);
}

/** The bytes are valid until the next call and are not to be changed. */
export function wordHash(word: bigint): Uint8Array {
  return ofWords.hash(word);
}
