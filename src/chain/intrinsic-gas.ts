import { isActive, type Fork } from "./fork.ts";
import { accessListOf, authorizationListOf, type UnsignedTransaction } from "./transaction.ts";

const TRANSACTION_GAS = 21_000;
const CREATION_GAS = 32_000;
const ZERO_BYTE_GAS = 4;
const NONZERO_BYTE_GAS = 16; // EIP-2028
const INITCODE_WORD_GAS = 2; // EIP-3860
const ACCESS_LIST_ADDRESS_GAS = 2_400; // EIP-2930
const ACCESS_LIST_KEY_GAS = 1_900;
const AUTHORIZATION_GAS = 25_000; // EIP-7702: charged as if every authority were a new account
const FLOOR_TOKEN_GAS = 10; // EIP-7623
const NONZERO_BYTE_TOKENS = 4;

export type IntrinsicGas = {
  /** Charged before the first instruction runs. */
  readonly intrinsic: number;
  /** The least that the transaction pays in the end (EIP-7623); 0 before Prague. */
  readonly floor: number;
};

export function intrinsicGas(transaction: UnsignedTransaction, fork: Fork): IntrinsicGas {
  const { data } = transaction;
  const zeroCount = countZeros(data);
  const nonzeroCount = data.length - zeroCount;
  let intrinsic = TRANSACTION_GAS + zeroCount * ZERO_BYTE_GAS + nonzeroCount * NONZERO_BYTE_GAS;
  if (transaction.to === undefined) {
    intrinsic += CREATION_GAS + INITCODE_WORD_GAS * Math.ceil(data.length / 32);
  }
  for (const { storageKeys } of accessListOf(transaction)) {
    intrinsic += ACCESS_LIST_ADDRESS_GAS + ACCESS_LIST_KEY_GAS * storageKeys.length;
  }
  intrinsic += AUTHORIZATION_GAS * authorizationListOf(transaction).length;
  if (!isActive("prague", fork)) return { intrinsic, floor: 0 };
  const tokens = zeroCount + nonzeroCount * NONZERO_BYTE_TOKENS;
  return { intrinsic, floor: TRANSACTION_GAS + tokens * FLOOR_TOKEN_GAS };
}

function countZeros(data: Uint8Array): number {
  let count = 0;
  for (let index = 0; index < data.length; index++) if (data[index] === 0) count++;
  return count;
}
