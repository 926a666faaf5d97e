/** A fuzz transaction with every nonce and signature filled in: what both engines run. */
import type { Hex } from "../../../src/base/hex.ts";
import { senderAddress, signAuthorization, type SignedAuthorization } from "./authorization.ts";
import { FUZZ_CHAIN_ID, type FuzzTransaction } from "./fuzz-case.ts";

export type ConcreteTransaction = Omit<
  FuzzTransaction,
  "sender" | "nonceSkew" | "authorizations" | "value"
> & {
  readonly sender: Hex;
  readonly nonce: bigint;
  readonly value: bigint;
  readonly authorizations: readonly SignedAuthorization[];
};

export type TransactionOutcome =
  | { readonly kind: "refused" }
  | {
      readonly kind: "executed";
      readonly succeeded: boolean;
      readonly gasUsed: bigint;
      readonly output: Hex;
      /** Each as "address topics data". */
      readonly logs: readonly string[];
      readonly createdAddress: Hex | undefined;
    };

/** `nonceOf` gives the nonces in the state before the transaction, by sender index. */
export function fillIn(
  transaction: FuzzTransaction,
  nonceOf: (sender: number) => bigint,
): ConcreteTransaction {
  const nonce = nonceOf(transaction.sender);
  const bumped = new Map<number, bigint>([[transaction.sender, nonce + 1n]]);
  const authorizations = transaction.authorizations.map((authorization) => {
    const { signer, nonceSkew, chainId, spoilt } = authorization;
    const right = bumped.get(signer) ?? nonceOf(signer);
    if (nonceSkew === 0 && spoilt === "no" && (chainId === 0 || chainId === FUZZ_CHAIN_ID)) {
      bumped.set(signer, right + 1n);
    }
    return signAuthorization(authorization, skewed(right, nonceSkew));
  });
  return {
    ...transaction,
    sender: senderAddress(transaction.sender),
    nonce: skewed(nonce, transaction.nonceSkew),
    value: BigInt(transaction.value),
    authorizations,
  };
}

function skewed(nonce: bigint, skew: number): bigint {
  const result = nonce + BigInt(skew);
  return result < 0n ? 7n : result;
}
