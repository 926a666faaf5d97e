/** The forks this EVM knows. Their opcodes are the same; precompiles and delegation differ. */
export type EvmFork = "cancun" | "prague";

export type ForkRules = {
  /** EIP-7702: code may be a designator of the account whose code runs in its place. */
  readonly hasDelegation: boolean;
};

export function rulesOf(fork: EvmFork): ForkRules {
  return FORK_RULES[fork];
}

const FORK_RULES: Readonly<Record<EvmFork, ForkRules>> = Object.freeze({
  cancun: Object.freeze({ hasDelegation: false }),
  prague: Object.freeze({ hasDelegation: true }),
});
