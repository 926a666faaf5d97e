/** The rules that hold for every transaction and every block of one chain. */
import type { GenesisConfig } from "./genesis.ts";
import type { TransactionRules } from "./transaction-validity.ts";

export type ChainRules = TransactionRules & {
  /** 0 where gas is free. */
  readonly baseFee: bigint;
};

/**
 * The rules as the genesis sets them; gas is free. This is the only place that names the fork of a
 * network: a fork field of the genesis would be read here.
 */
export function chainRules({
  chainId,
  transactionGasMax,
}: Pick<GenesisConfig, "chainId" | "transactionGasMax">): ChainRules {
  return { chainId, fork: "prague", transactionGasMax, baseFee: 0n };
}
