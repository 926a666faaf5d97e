/** What transactions offer, and what that lets them do. */
import { maxGasPrice, type Transaction } from "../chain/transaction.ts";
import type { FeeRules } from "./pool-options.ts";
import type { PoolRefusal } from "./pool-refusal.ts";

/**
 * Whether one transaction may take another's place; undefined means it may. Where gas is free it
 * never may: the first one was acknowledged, and a price of zero cannot outbid it.
 */
export function checkReplacement(
  fees: FeeRules | undefined,
  held: Transaction,
  offered: Transaction,
): PoolRefusal | undefined {
  if (fees === undefined) return { code: "TX_NONCE_TAKEN" };
  const { replacementBumpPercent } = fees;
  const priceMin = bumped(maxGasPrice(held), replacementBumpPercent);
  if (maxGasPrice(offered) < priceMin) {
    return { code: "TX_REPLACEMENT_UNDERPRICED", limit: priceMin };
  }
  // The tip counts as well: otherwise a replacement could lower what the proposer earns.
  const tipMin = bumped(tipOf(held), replacementBumpPercent);
  if (tipOf(offered) < tipMin) return { code: "TX_REPLACEMENT_UNDERPRICED", limit: tipMin };
  return undefined;
}

/** Rounded up, and always more than before: ten percent of nothing is no offer. */
function bumped(price: bigint, percent: bigint): bigint {
  const least = (price * (100n + percent) + 99n) / 100n;
  return least > price ? least : price + 1n;
}

function tipOf(transaction: Transaction): bigint {
  return transaction.type === 0 || transaction.type === 1
    ? transaction.gasPrice
    : transaction.maxPriorityFeePerGas;
}
