/** Transactions for pool tests. The pool never looks at signatures, so these carry none. */
import type { RecoveredTransaction } from "../../../src/chain/transaction-sender.ts";
import { DEFAULT_POOL_OPTIONS, type TxPoolOptions } from "../../../src/txpool/pool-options.ts";
import { TxPool } from "../../../src/txpool/tx-pool.ts";

export type Wish = {
  readonly sender?: number;
  readonly nonce?: number;
  readonly value?: number;
  readonly price?: number;
  readonly size?: number;
  /** Makes otherwise equal transactions different ones. */
  readonly salt?: number;
};

export function transactionOf(wish: Wish): RecoveredTransaction {
  const { sender = 1, nonce = 0, value = 0, price = 0, size = 100, salt = 0 } = wish;
  const hash = new Uint8Array(32);
  const view = new DataView(hash.buffer);
  [sender, nonce, value, price, size, salt].forEach((part, index) => {
    view.setUint32(4 * index, part);
  });
  return {
    transaction: {
      type: 0,
      chainId: 5_000n,
      nonce: BigInt(nonce),
      gasPrice: BigInt(price),
      gasLimit: 1n,
      to: 0xabcn,
      value: BigInt(value),
      data: new Uint8Array(0),
      yParity: 0,
      r: 1n,
      s: 1n,
    },
    encoded: new Uint8Array(size),
    hash,
    sender: BigInt(sender),
  };
}

export type Account = { nonce: bigint; balance: bigint };

/** A state of accounts that start empty with a fixed balance, and a pool over it. */
export class PoolWorld {
  readonly accounts = new Map<bigint, Account>();
  readonly pool: TxPool;
  readonly #balance: bigint;

  constructor(options: Partial<TxPoolOptions> = {}, balance = 1_000_000n) {
    this.#balance = balance;
    this.pool = new TxPool(
      { ...DEFAULT_POOL_OPTIONS, ...options },
      {
        nonceOf: (sender) => this.account(sender).nonce,
        balanceOf: (sender) => this.account(sender).balance,
      },
    );
  }

  account(address: bigint): Account {
    const known = this.accounts.get(address);
    if (known !== undefined) return known;
    const account = { nonce: 0n, balance: this.#balance };
    this.accounts.set(address, account);
    return account;
  }

  /** The code of the refusal, or "ok". */
  add(wish: Wish, source = "rpc", nowMs = 0, isPromised = false): string {
    const promisedMs = isPromised ? nowMs : undefined;
    const added = this.pool.add(transactionOf(wish), { source, nowMs, promisedMs });
    return added.ok ? "ok" : added.error.code;
  }

  executables(): string[] {
    return [...this.pool.executables()].map(nameOf);
  }

  block(changes: readonly { sender: number; nonce: number; balance?: number }[]): void {
    for (const { sender, nonce, balance } of changes) {
      const account = this.account(BigInt(sender));
      account.nonce = BigInt(nonce);
      if (balance !== undefined) account.balance = BigInt(balance);
    }
  }
}

export function nameOf({ sender, transaction }: RecoveredTransaction): string {
  return `${sender}:${transaction.nonce}`;
}
