/** A case of the differential fuzz: a pre-state, a block and transactions, all as text. */
import type { Hex } from "../../../src/base/hex.ts";

export type FuzzFork = "cancun" | "prague";

export type FuzzCase = {
  readonly fork: FuzzFork;
  readonly baseFee: number;
  readonly coinbase: Hex;
  /** Accounts without a key; those of the senders are made by `SENDER_KEYS`. */
  readonly accounts: readonly FuzzAccount[];
  readonly transactions: readonly FuzzTransaction[];
};

export type FuzzAccount = {
  readonly address: Hex;
  readonly balance: Hex;
  readonly nonce: number;
  readonly code: Hex;
  readonly storage: Readonly<Record<Hex, Hex>>;
};

export type FuzzTransaction = {
  readonly type: 0 | 1 | 2 | 4;
  /** Index of the sender's key. */
  readonly sender: number;
  /** Added to the sender's right nonce: 0 unless the case is about a wrong one. */
  readonly nonceSkew: number;
  readonly to: Hex | undefined;
  readonly gasLimit: number;
  readonly value: Hex;
  readonly data: Hex;
  /** The price (types 0, 1) or the cap on it (types 2, 4). */
  readonly maxFee: number;
  readonly priorityFee: number;
  readonly accessList: readonly { readonly address: Hex; readonly slots: readonly Hex[] }[];
  readonly authorizations: readonly FuzzAuthorization[];
};

export type FuzzAuthorization = {
  readonly chainId: number;
  readonly address: Hex;
  readonly signer: number;
  /** Added to the nonce that is right when the list is processed. */
  readonly nonceSkew: number;
  /** How the signature is spoilt, if it is. */
  readonly spoilt: "no" | "high-s" | "bad-r" | "bad-parity";
};

export const FUZZ_CHAIN_ID = 5000;
export const FUZZ_BLOCK_GAS_LIMIT = 30_000_000;
export const FUZZ_BLOCK_NUMBER = 300;
export const FUZZ_TIMESTAMP = 1_700_000_000;

/** Keys made for the tests: the senders and authorities of all cases. */
export const SENDER_KEYS: readonly Hex[] = [1, 2, 3, 4, 5].map(
  (index) => `0x${index.toString(16).padStart(2, "0").repeat(32)}` as const,
);
