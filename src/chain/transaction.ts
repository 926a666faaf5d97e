/**
 * A transaction as data. `type` is the EIP-2718 envelope: 0 stands for the legacy form, with or
 * without the chain id of EIP-155.
 */
export type Transaction = UnsignedTransaction & TransactionSignature;

export type UnsignedTransaction =
  LegacyPayload | AccessListPayload | FeeMarketPayload | SetCodePayload;

export type TransactionSignature = {
  readonly yParity: 0 | 1;
  readonly r: bigint;
  readonly s: bigint;
};

type SharedPayload = {
  readonly nonce: bigint;
  readonly gasLimit: bigint;
  /** Undefined creates a contract from `data`. */
  readonly to: bigint | undefined;
  readonly value: bigint;
  readonly data: Uint8Array;
};

export type LegacyPayload = SharedPayload & {
  readonly type: 0;
  /** Undefined before EIP-155: such a transaction is valid on every chain. */
  readonly chainId: bigint | undefined;
  readonly gasPrice: bigint;
};

/** EIP-2930. */
export type AccessListPayload = SharedPayload & {
  readonly type: 1;
  readonly chainId: bigint;
  readonly gasPrice: bigint;
  readonly accessList: AccessList;
};

/** EIP-1559. */
export type FeeMarketPayload = SharedPayload & {
  readonly type: 2;
  readonly chainId: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly accessList: AccessList;
};

/** EIP-7702. It cannot create a contract. */
export type SetCodePayload = Omit<FeeMarketPayload, "type" | "to"> & {
  readonly type: 4;
  readonly to: bigint;
  readonly authorizationList: readonly Authorization[];
};

export type AccessList = readonly AccessListEntry[];

export type AccessListEntry = {
  readonly address: bigint;
  readonly storageKeys: readonly bigint[];
};

/**
 * An account's consent that `address` holds its code. A transaction may carry authorizations with
 * an impossible signature: they are skipped when it runs, so their fields are only bounded here.
 */
export type Authorization = {
  readonly chainId: bigint;
  readonly address: bigint;
  readonly nonce: bigint;
  readonly yParity: number;
  readonly r: bigint;
  readonly s: bigint;
};

/** The highest price per gas that the sender agreed to. */
export function maxGasPrice(transaction: UnsignedTransaction): bigint {
  return transaction.type === 0 || transaction.type === 1
    ? transaction.gasPrice
    : transaction.maxFeePerGas;
}

/** The most that a transaction can take from its sender's balance. */
export function maxCost(transaction: UnsignedTransaction): bigint {
  const price = maxGasPrice(transaction);
  return price === 0n ? transaction.value : transaction.gasLimit * price + transaction.value;
}

export function accessListOf(transaction: UnsignedTransaction): AccessList {
  return transaction.type === 0 ? NO_ACCESS_LIST : transaction.accessList;
}

export function authorizationListOf(transaction: UnsignedTransaction): readonly Authorization[] {
  return transaction.type === 4 ? transaction.authorizationList : NO_AUTHORIZATIONS;
}

const NO_ACCESS_LIST: AccessList = [];
const NO_AUTHORIZATIONS: readonly Authorization[] = [];
