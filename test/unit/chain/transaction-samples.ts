/** Random transactions for property tests, signed by a key that belongs to the test. */
import fc from "fast-check";
import { signAuthorization, signTransaction } from "../../../src/chain/transaction-sender.ts";
import type {
  AccessList,
  Authorization,
  Transaction,
  UnsignedTransaction,
} from "../../../src/chain/transaction.ts";

export const PRIVATE_KEY = new Uint8Array(32).fill(0x46);
export const CHAIN_ID = 5000n;

const uint = (bits: number): fc.Arbitrary<bigint> =>
  fc.oneof(fc.bigInt({ min: 0n, max: 200n }), fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }));

const address = uint(160);
const accessList: fc.Arbitrary<AccessList> = fc.array(
  fc
    .tuple(address, fc.array(uint(256), { maxLength: 3 }))
    .map(([account, storageKeys]) => ({ address: account, storageKeys })),
  { maxLength: 3 },
);

const authorization: fc.Arbitrary<Authorization> = fc
  .record({ chainId: fc.constantFrom(0n, CHAIN_ID), address, nonce: uint(32) })
  .map((consent) => signAuthorization(consent, PRIVATE_KEY));

const shared = {
  nonce: uint(63),
  gasLimit: fc.bigInt({ min: 10_000_000n, max: 16_000_000n }),
  value: uint(128),
  data: fc.uint8Array({ maxLength: 100 }),
};
const to = fc.option(address, { nil: undefined });
const chainId = fc.constant(CHAIN_ID);
const fees = fc
  .tuple(uint(100), uint(100))
  .map(([a, b]) => (a < b ? { low: a, high: b } : { low: b, high: a }));

export const unsignedTransaction: fc.Arbitrary<UnsignedTransaction> = fc.oneof(
  fc.record({
    type: fc.constant(0 as const),
    chainId: fc.option(chainId, { nil: undefined }),
    gasPrice: uint(100),
    to,
    ...shared,
  }),
  fc.record({
    type: fc.constant(1 as const),
    chainId,
    gasPrice: uint(100),
    to,
    accessList,
    ...shared,
  }),
  fc
    .record({ type: fc.constant(2 as const), chainId, fees, to, accessList, ...shared })
    .map(({ fees: { low, high }, ...rest }) => withFees(rest, low, high)),
  fc
    .record({
      type: fc.constant(4 as const),
      chainId,
      fees,
      to: address,
      accessList,
      authorizationList: fc.array(authorization, { minLength: 1, maxLength: 2 }),
      ...shared,
    })
    .map(({ fees: { low, high }, ...rest }) => withFees(rest, low, high)),
);

export const signedTransaction: fc.Arbitrary<Transaction> = unsignedTransaction.map((transaction) =>
  signTransaction(transaction, PRIVATE_KEY),
);

function withFees<Rest extends object>(
  rest: Rest,
  maxPriorityFeePerGas: bigint,
  maxFeePerGas: bigint,
): Rest & { readonly maxPriorityFeePerGas: bigint; readonly maxFeePerGas: bigint } {
  return { ...rest, maxPriorityFeePerGas, maxFeePerGas };
}
