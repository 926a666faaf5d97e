/**
 * A 32-bit hash of a 256-bit word for hash tables, with a secret key that is drawn when the process
 * starts: an attacker who chooses the words (slots, addresses) cannot choose collisions. The hash
 * differs from process to process, so nothing that replicas agree on may depend on it, nor may a
 * table's order.
 *
 * The sum of the word's 16-bit pieces times secret odd factors: two different words have the same
 * sum with a chance of one in 2^16 at most, and never if they differ in one piece only. Sums of
 * neighbours (the slots of an array) are evenly spaced, and for one factor in a hundred so that
 * their upper bits are nearly all the same; so the sum is mixed, which keeps different sums apart.
 */
import { randomFillSync } from "node:crypto";

const PIECES = 16;
const UINT64_MAX = 0xffff_ffff_ffff_ffffn;

/** The factor of each piece, and one more number to begin the sum with. */
const factors = randomFillSync(new Int32Array(PIECES + 1)).map((factor) => factor | 1);
const addend = factors[PIECES] ?? 0;
const limbs = new BigUint64Array(4);
const pieces = new Uint16Array(limbs.buffer);

/** Of an unsigned word of at most 256 bits; higher bits are ignored. */
export function keyedWordHash(word: bigint): number {
  // The array keeps the low 64 bits of what it is given.
  limbs[0] = word;
  let sum = addend;
  let end = 4;
  if (word > UINT64_MAX) {
    const high = word >> 128n;
    limbs[1] = word >> 64n;
    limbs[2] = high;
    limbs[3] = high >> 64n;
    end = PIECES;
  }
  for (let index = 0; index < end; index++) {
    sum = (sum + Math.imul(pieces[index] ?? 0, factors[index] ?? 0)) | 0;
  }
  return mix(sum);
}

/** One to one on 32 bits, every bit of the result depends on every bit of the sum. */
function mix(sum: number): number {
  let mixed = Math.imul(sum ^ (sum >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
