/** The rules that differ between the forks this EVM knows. Everything else is common to both. */
export type Fork = "cancun" | "prague";

export type ForkRules = {
  readonly fork: Fork;
  /** EIP-7702: an account may delegate its code (set-code transactions, type 4). */
  readonly hasDelegation: boolean;
  /** EIP-7623: calldata has a floor price. */
  readonly hasCalldataFloor: boolean;
  /** EIP-2537: the BLS12-381 precompiles, at the addresses 0x0b to 0x11. */
  readonly hasBlsPrecompiles: boolean;
  /** EIP-2935: the parent's hash is kept in the storage of a system contract. */
  readonly hasBlockHashHistory: boolean;
  /** EIP-7685: the header commits to requests to the consensus layer. */
  readonly hasRequests: boolean;
};

export const DEFAULT_FORK: Fork = "prague";

export function rulesOf(fork: Fork): ForkRules {
  return FORK_RULES[fork];
}

const FORK_RULES: Readonly<Record<Fork, ForkRules>> = Object.freeze({
  cancun: Object.freeze({
    fork: "cancun",
    hasDelegation: false,
    hasCalldataFloor: false,
    hasBlsPrecompiles: false,
    hasBlockHashHistory: false,
    hasRequests: false,
  }),
  prague: Object.freeze({
    fork: "prague",
    hasDelegation: true,
    hasCalldataFloor: true,
    hasBlsPrecompiles: true,
    hasBlockHashHistory: true,
    hasRequests: true,
  }),
});
