/**
 * How much slow work one block may do (docs/adr/0010). Gas prices come from Ethereum, where native
 * code runs; here most precompiles, and a few opcodes on wide words, take longer per gas than all
 * else. So that a full block stays executable in about a second, a block may do only as much of it
 * as is worth the gas of one whole transaction. What does not fit waits for the next block; what no
 * block has room for is dropped.
 */
import { invariant } from "../base/invariant.ts";
import type { Precompile } from "../evm/precompile.ts";
import { slowGasOf } from "../evm/precompiles/slow-gas.ts";

/** Slow opcodes are free up to this part of the transaction's gas: ordinary code has far fewer. */
const FREE_DIVISOR = 8;

/** What runs the transactions and counts the gas of slow opcodes (src/evm/slow-work.ts). */
type SlowOpcodes = { readonly slowGas: number };

type PrecompileMap = ReadonlyMap<bigint, Precompile>;

const NO_OPCODES: SlowOpcodes = { slowGas: 0 };

export class SlowWorkMeter {
  readonly #gasMax: number;
  #gasLeft: number;
  #isExhausted = false;
  /** Means something once it is exhausted. */
  #isOversized = false;
  #opcodes: SlowOpcodes = NO_OPCODES;
  #freeGas = 0;
  /** What the precompiles of the current transaction count, with the one that did not fit. */
  #countedGas = 0;
  /** Nearly always those of the fork: a short call takes less time than to make them anew. */
  #last: { readonly precompiles: PrecompileMap; readonly metered: PrecompileMap } | undefined;

  constructor(gasMax: number) {
    invariant(gasMax > 0, "a block has room for slow work");
    this.#gasMax = gasMax;
    this.#gasLeft = gasMax;
  }

  /** As it was at first: for calls, which come one after the other and count each for itself. */
  renew(): void {
    this.#gasLeft = this.#gasMax;
    this.#isExhausted = false;
    this.#opcodes = NO_OPCODES;
    this.#freeGas = 0;
    this.#countedGas = 0;
  }

  /** Whether the current transaction asked for more than was left; its result means nothing. */
  get isExhausted(): boolean {
    return this.#isExhausted || this.#opcodes.slowGas - this.#freeGas > this.#gasLeft;
  }

  /** Whether it asked for more than a whole block has: then it fits into no other block either. */
  get isOversized(): boolean {
    if (this.#isExhausted) return this.#isOversized;
    return this.#countedGas + this.#countedOpcodes() > this.#gasMax;
  }

  beginTransaction(opcodes: SlowOpcodes, gasLimit: number): void {
    this.#isExhausted = false;
    this.#opcodes = opcodes;
    this.#freeGas = Math.floor(gasLimit / FREE_DIVISOR);
    this.#countedGas = 0;
  }

  /** Takes its slow opcodes off what is left, also if it did not fit: the time was spent. */
  endTransaction(): void {
    this.#gasLeft = Math.max(0, this.#gasLeft - this.#countedOpcodes());
    this.#opcodes = NO_OPCODES;
  }

  /** The same precompiles, counted. */
  meter(precompiles: PrecompileMap): PrecompileMap {
    if (this.#last?.precompiles === precompiles) return this.#last.metered;
    const metered = new Map<bigint, Precompile>();
    for (const [address, precompile] of precompiles) {
      const slowGas = slowGasOf(address, precompile);
      metered.set(address, slowGas === undefined ? precompile : this.#counted(precompile, slowGas));
    }
    this.#last = { precompiles, metered };
    return metered;
  }

  #counted(precompile: Precompile, slowGas: (input: Uint8Array) => number): Precompile {
    return {
      name: precompile.name,
      gasCost: (input) => precompile.gasCost(input),
      run: (input) => {
        // What runs on after a call that did not fit, until it is stopped, counts no more.
        if (this.#isExhausted) return undefined;
        const cost = slowGas(input);
        this.#countedGas += cost;
        if (cost > this.#gasLeft) {
          this.#isOversized = this.#countedGas + this.#countedOpcodes() > this.#gasMax;
          this.#isExhausted = true;
          return undefined;
        }
        // Not given back when the call reverts: the time was spent.
        this.#gasLeft -= cost;
        return precompile.run(input);
      },
    };
  }

  #countedOpcodes(): number {
    return Math.max(0, this.#opcodes.slowGas - this.#freeGas);
  }
}
