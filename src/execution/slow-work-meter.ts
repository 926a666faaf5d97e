/**
 * How much slow work one block may do (docs/adr/0010). Gas prices come from Ethereum, where native
 * code runs; here most precompiles, and a few opcodes on wide words, take longer per gas than all
 * else. So that a full block stays executable in about a second, a block may spend on them only
 * as much gas as one whole transaction may have. What does not fit waits for the next block.
 */
import { invariant } from "../base/invariant.ts";
import type { Precompile } from "../evm/precompile.ts";

/** sha256, ripemd160 and identity keep pace with the opcodes. */
const QUICK: ReadonlySet<bigint> = new Set([0x02n, 0x03n, 0x04n]);
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
  #opcodes: SlowOpcodes = NO_OPCODES;
  #freeGas = 0;
  /** Nearly always those of the fork: a short call takes less time than to make them anew. */
  #last: { readonly precompiles: PrecompileMap; readonly metered: PrecompileMap } | undefined;

  /** One transaction on its own must always fit, so `gasMax` is at least its most gas. */
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
  }

  /** Whether the current transaction asked for more than was left; its result means nothing. */
  get isExhausted(): boolean {
    return this.#isExhausted || this.#opcodes.slowGas - this.#freeGas > this.#gasLeft;
  }

  beginTransaction(opcodes: SlowOpcodes, gasLimit: number): void {
    this.#isExhausted = false;
    this.#opcodes = opcodes;
    this.#freeGas = Math.floor(gasLimit / FREE_DIVISOR);
  }

  /** Takes its slow opcodes off what is left, also if it did not fit: the time was spent. */
  endTransaction(): void {
    const counted = Math.max(0, this.#opcodes.slowGas - this.#freeGas);
    this.#gasLeft = Math.max(0, this.#gasLeft - counted);
    this.#opcodes = NO_OPCODES;
  }

  /** The same precompiles, counted. */
  meter(precompiles: PrecompileMap): PrecompileMap {
    if (this.#last?.precompiles === precompiles) return this.#last.metered;
    const metered = new Map<bigint, Precompile>();
    for (const [address, precompile] of precompiles) {
      metered.set(address, QUICK.has(address) ? precompile : this.#counted(precompile));
    }
    this.#last = { precompiles, metered };
    return metered;
  }

  #counted(precompile: Precompile): Precompile {
    return {
      name: precompile.name,
      gasCost: (input) => precompile.gasCost(input),
      run: (input) => {
        const cost = precompile.gasCost(input);
        if (this.#isExhausted || cost > this.#gasLeft) {
          this.#isExhausted = true;
          return undefined;
        }
        // Not given back when the call reverts: the time was spent.
        this.#gasLeft -= cost;
        return precompile.run(input);
      },
    };
  }
}
