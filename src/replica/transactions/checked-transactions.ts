/**
 * Transactions whose form, rules and signature were found right, by id: one that arrived before,
 * from a client or in an earlier proposal, costs nothing the second time. Only the sender and the
 * gas are kept, so the cache is small.
 */
import { writeBigEndian } from "../../base/big-endian.ts";
import { hexToBytes } from "../../base/hex.ts";
import { RecentMap } from "../../base/recent-map.ts";
import type { Result } from "../../base/result.ts";
// Not from the executor: the main thread would load the whole EVM for it.
import { ADDRESS_SIZE } from "../../chain/address.ts";
import type { TransactionError } from "../../chain/transaction-error.ts";
import { recoverSender, type RecoveredTransaction } from "../../chain/transaction-sender.ts";
import {
  checkEncodedTransaction,
  type TransactionRules,
} from "../../chain/transaction-validity.ts";
import type { Transaction as EthereumTransaction } from "../../chain/transaction.ts";
import type { Hash, Transaction } from "../../consensus/block.ts";
import type { SignatureRecoveryPool } from "../../ledger/signature-recovery-pool.ts";

type Checked = { readonly sender: bigint; readonly gas: number };

const GENERATION_MAX = 32_768;

export class CheckedTransactions {
  readonly #rules: TransactionRules;
  readonly #pool: SignatureRecoveryPool | undefined;
  /** Senders that other threads found, until the transaction is checked. */
  readonly #found = new Map<Hash, bigint>();
  readonly #checked = new RecentMap<Hash, Checked>(GENERATION_MAX);
  /** How many signatures were recovered on this thread, ever. */
  recoveredCount = 0;

  constructor(rules: TransactionRules, pool?: SignatureRecoveryPool) {
    this.#rules = rules;
    this.#pool = pool;
  }

  /** Whether other threads recover: then more can be taken at once. */
  get hasThreads(): boolean {
    return this.#pool !== undefined;
  }

  /**
   * Lets other threads find the senders of those that are new, before they are checked one by one.
   * Undefined where that is not worth waiting for.
   */
  recoverAhead(
    transactions: readonly { readonly id: Hash; readonly bytes: Uint8Array }[],
  ): Promise<void> | undefined {
    const pool = this.#pool;
    const unknown = transactions.filter(({ id }) => !this.has(id));
    if (pool?.isWorth(unknown.length) !== true) return undefined;
    return pool.recover(unknown.map(({ bytes }) => bytes)).then((senders) => {
      // Left by some whose transactions were never checked.
      if (this.#found.size > GENERATION_MAX) this.#found.clear();
      senders.forEach((sender, index) => {
        const id = unknown[index]?.id;
        if (id !== undefined && sender !== undefined) this.#found.set(id, sender);
      });
    });
  }

  has(id: Hash): boolean {
    return this.#checked.has(id);
  }

  /** Decodes, checks against the rules of the chain and recovers; the work of admission. */
  check(
    id: Hash,
    bytes: Uint8Array,
    hash = hexToBytes(id),
  ): Result<RecoveredTransaction, TransactionError> {
    const checked = checkEncodedTransaction(bytes, hash, this.#rules, (transaction) =>
      this.#senderOf(id, transaction),
    );
    if (!checked.ok) return checked;
    const { sender, transaction } = checked.value;
    this.#checked.set(id, { sender, gas: Number(transaction.gasLimit) });
    return checked;
  }

  /** Whether a transaction of a body is valid and declares the gas that it says. */
  isValid({ id, gas, bytes }: Transaction): boolean {
    const known = this.#checked.get(id);
    if (known !== undefined) return known.gas === gas;
    const checked = this.check(id, bytes);
    return checked.ok && checked.value.transaction.gasLimit === BigInt(gas);
  }

  /** The senders that are known, 20 bytes each and zeros for the others. */
  sendersOf(transactions: readonly Transaction[]): Uint8Array {
    const packed = new Uint8Array(transactions.length * ADDRESS_SIZE);
    transactions.forEach(({ id }, index) => {
      const known = this.#checked.get(id);
      if (known !== undefined) {
        writeBigEndian(known.sender, packed, index * ADDRESS_SIZE, ADDRESS_SIZE);
      }
    });
    return packed;
  }

  #senderOf(id: Hash, transaction: EthereumTransaction): bigint | undefined {
    const found = this.#checked.get(id)?.sender ?? this.#found.get(id);
    this.#found.delete(id);
    if (found !== undefined) return found;
    this.recoveredCount++;
    return recoverSender(transaction);
  }
}
