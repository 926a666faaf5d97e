/** What the snippets of random programs share: words, addresses, sizes, and where results go. */
import type { Prng } from "../../../src/base/prng.ts";
import { type Assembler, OP } from "./assembler.ts";

export type ProgramContext = {
  readonly prng: Prng;
  /** Addresses worth calling: contracts, senders, precompiles, the coinbase, absent accounts. */
  readonly addresses: readonly bigint[];
  /** Programs left to write for contracts that this program creates. */
  readonly depth: number;
};

const EDGE_WORDS: readonly bigint[] = [
  0n,
  1n,
  2n,
  31n,
  32n,
  255n,
  256n,
  (1n << 64n) - 1n,
  (1n << 128n) - 1n,
  1n << 255n,
  (1n << 255n) - 1n,
  (1n << 256n) - 1n,
  (1n << 256n) - 2n,
];

export function randomWord(prng: Prng): bigint {
  const kind = prng.below(10);
  if (kind < 4) return prng.pick(EDGE_WORDS);
  if (kind < 7) return BigInt(prng.below(300));
  const size = prng.between(1, 32);
  return prng.bytes(size).reduce((word, byte) => (word << 8n) | BigInt(byte), 0n);
}

export function pickAddress({ prng, addresses }: ProgramContext): bigint {
  if (prng.chance(0.03)) return randomWord(prng);
  return prng.pick(addresses);
}

/** A memory offset or size: mostly small, sometimes costly, rarely beyond all gas. */
export function extent(prng: Prng): bigint {
  const kind = prng.below(60);
  if (kind === 0) return randomWord(prng);
  if (kind < 4) return BigInt(prng.below(20_000));
  return BigInt(prng.below(100));
}

export function slot(prng: Prng): number {
  return prng.below(4);
}

/** Leaves what is on top of the stack somewhere it counts, or drops it. */
export function sink(code: Assembler, prng: Prng): void {
  const kind = prng.below(10);
  if (kind < 5) code.push(slot(prng)).op(OP.SSTORE);
  else if (kind < 7) code.push(32 * prng.below(4)).op(OP.MSTORE);
  else if (kind < 8) code.push(slot(prng)).op(OP.TSTORE);
  else code.op(OP.POP);
}

export function callGas(code: Assembler, prng: Prng): void {
  const kind = prng.below(10);
  if (kind < 4) code.op(OP.GAS);
  else if (kind < 5) code.push((1n << 256n) - 1n);
  else if (kind < 6) code.push(prng.below(3000));
  else code.push(prng.between(2000, 90_000));
}

export function transferred(prng: Prng): bigint {
  const kind = prng.below(10);
  if (kind < 6) return 0n;
  return kind < 9 ? BigInt(prng.below(50)) : randomWord(prng);
}
