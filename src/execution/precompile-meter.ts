/**
 * How much of the slow precompiles one block may use (docs/adr/0010). Their gas prices come from
 * Ethereum, where native code runs them; here some take several times longer per gas than any
 * opcode. So that a full block stays executable in about a second, a block may spend on them only
 * as much gas as one whole transaction may have. What does not fit waits for the next block.
 */
import { invariant } from "../base/invariant.ts";
import type { Precompile } from "../evm/precompile.ts";

/** sha256, ripemd160 and identity keep pace with the opcodes. */
const QUICK: ReadonlySet<bigint> = new Set([0x02n, 0x03n, 0x04n]);

export class PrecompileMeter {
  #gasLeft: number;
  #isExhausted = false;

  /** One transaction on its own must always fit, so `gasMax` is at least its most gas. */
  constructor(gasMax: number) {
    invariant(gasMax > 0, "a block has room for precompiles");
    this.#gasLeft = gasMax;
  }

  /** Whether the current transaction asked for more than was left; its result means nothing. */
  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  beginTransaction(): void {
    this.#isExhausted = false;
  }

  /** The same precompiles, counted. */
  meter(precompiles: ReadonlyMap<bigint, Precompile>): ReadonlyMap<bigint, Precompile> {
    const metered = new Map<bigint, Precompile>();
    for (const [address, precompile] of precompiles) {
      metered.set(address, QUICK.has(address) ? precompile : this.#counted(precompile));
    }
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
