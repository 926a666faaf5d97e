/**
 * Where transactions come in (docs/adr/0009): form and signature, then the rules
 * of the pool on the executed state, then the core's queue, which gets only what can be ordered
 * now: gap-free runs of nonces that their senders can pay for.
 *
 * Hashes are bytes towards the mempool and execution, text (`Hash`) towards the core.
 */
import { hexToBytes } from "../../base/hex.ts";
import { RecentMap } from "../../base/recent-map.ts";
import type { RecoveredTransaction } from "../../chain/transaction-sender.ts";
import type { Hash, Transaction } from "../../consensus/block.ts";
import type { RejectedSubmission } from "../../consensus/replica.ts";
import { keccak256 } from "../../crypto/keccak256.ts";
import type { TxPoolOptions } from "../../txpool/pool-options.ts";
import { TxPool, type AccountState, type Moved, type PoolStatus } from "../../txpool/tx-pool.ts";
import { bytesToHash } from "../../wire/hash-text.ts";
import type { PermissionQuestion } from "../execution/execution-messages.ts";
import type { ExecutionReport } from "../execution/execution-report.ts";
import type { CheckedTransactions } from "./checked-transactions.ts";
import { DEFAULT_INTAKE_LIMITS, Intake, type Refuse, type Unchecked } from "./intake.ts";
import { isForged } from "../peers/forged.ts";

export type AdmissionDependencies = {
  readonly checked: CheckedTransactions;
  /** The accounts as of the last executed height that was reported before the answer. */
  readonly accounts: (addresses: readonly bigint[]) => Promise<readonly AccountState[]>;
  /** Whether each may write, as of that height, too; undefined where everyone may. */
  readonly permissions?:
    ((questions: readonly PermissionQuestion[]) => Promise<readonly boolean[]>) | undefined;
  readonly submit: (
    transactions: readonly Transaction[],
    onRefused: (refused: readonly RejectedSubmission[]) => void,
  ) => void;
  readonly withdraw: (id: Hash) => void;
  readonly onAdmitted?: ((hash: Uint8Array) => void) | undefined;
  /** Stops reading from a source, or goes on. */
  readonly hold?: ((source: string, isHeld: boolean) => void) | undefined;
  /** A source sent what no correct one sends. */
  readonly onForged?: ((source: string, code: string) => void) | undefined;
};

type Arrival = {
  readonly transaction: RecoveredTransaction;
  readonly source: string;
  readonly refuse: Refuse | undefined;
};

type Identified = Unchecked & { readonly hash: Uint8Array; readonly id: Hash };

/** About 5 ms of signature recovery; then others get their turn. */
const CHECKS_PER_TURN = 64;
/** Where other threads recover: enough for all of them. */
const CHECKS_PER_ROUND_TRIP = 512;
const ACCOUNTS_MAX = 65_536;
const EXECUTED_MAX = 32_768;
/** While so much waits for accounts from the execution thread, nothing more is checked. */
const WAITING_MAX = 8_192;
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
/** Of a transaction that was ordered too early: it was accepted once, somewhere. */
const RETURNED_SOURCE = "returned";

export class Admission {
  readonly #pool: TxPool;
  readonly #dependencies: AdmissionDependencies;
  /** Accounts as of the last executed height, the oldest known first. */
  readonly #accounts = new Map<bigint, AccountState>();
  /** Ids of the last blocks: a client that has not seen them yet sends the same bytes again. */
  readonly #executed = new RecentMap<Hash, true>(EXECUTED_MAX);
  /** In the order of arrival, while the accounts of some senders are being asked for. */
  #waiting: Arrival[] = [];
  #waitingBytes = 0;
  #isAsking = false;
  readonly #intake: Intake;
  #isTakingIn = false;
  /** For the core's queue, which costs less when it gets many at once. */
  #promoted: Transaction[] = [];
  /** Set while the disk is full: nothing new is let in. */
  isClosed = false;

  constructor(options: TxPoolOptions, dependencies: AdmissionDependencies) {
    this.#dependencies = dependencies;
    this.#intake = new Intake(DEFAULT_INTAKE_LIMITS, { hold: dependencies.hold });
    this.#pool = new TxPool(options, {
      nonceOf: (sender) => this.#accounts.get(sender)?.nonce ?? 0n,
      balanceOf: (sender) => this.#accounts.get(sender)?.balance ?? 0n,
    });
  }

  get pendingCount(): number {
    const { executable, queued } = this.#pool.status();
    return executable + queued + this.#waiting.length + this.#intake.size;
  }

  /** What came beyond the budget of its source, ever. */
  get droppedCount(): number {
    return this.#intake.droppedCount;
  }

  poolStatus(): PoolStatus {
    return this.#pool.status();
  }

  /** `source` names the peer; `refuse` gets what is refused for good. */
  arrive(transactions: readonly Uint8Array[], source: string, refuse?: Refuse): void {
    for (const bytes of transactions) this.#intake.push({ bytes, source, refuse });
    this.#resume();
  }

  /** The source was cut off. */
  forget(source: string): void {
    this.#intake.forget(source);
  }

  /** The state moved on: what it used up goes, what became possible is handed to the core. */
  onExecuted(executed: ExecutionReport): void {
    for (const account of executed.accounts) this.#remember(account);
    const outcome = this.#pool.onBlock(executed);
    for (const transaction of outcome.stale) this.#withdraw(idOf(transaction));
    for (const hash of executed.included) this.#executed.set(bytesToHash(hash), true);
    for (const { id, code, retry } of executed.drops) {
      // The core takes it for done; if it may still be ordered, it must forget that.
      if (retry === undefined) this.#drop(id, code);
      else this.#withdraw(bytesToHash(id));
    }
    this.#apply(outcome);
    for (const { id, retry } of executed.drops) if (retry !== undefined) this.#return(id, retry);
    this.#submitPromoted();
  }

  /** The state is another one, at a height that this replica did not execute. */
  onStateReplaced(): void {
    this.#accounts.clear();
    const senders = Array.from(this.#pool.content(), ({ sender }) => sender);
    if (senders.length === 0) return;
    this.#dependencies.accounts(senders).then(
      (accounts) => {
        for (const account of accounts) this.#remember(account);
        const outcome = this.#pool.onBlock({ accounts, included: [] });
        for (const transaction of outcome.stale) this.#withdraw(idOf(transaction));
        this.#apply(outcome);
        this.#handOnAgain();
        this.#submitPromoted();
      },
      () => undefined,
    );
  }

  /**
   * Blocks that this replica did not execute may have dropped some of these: the core takes such
   * ones for done, and only forgets that for those that are taken back.
   */
  #handOnAgain(): void {
    const executable = [...this.#pool.executables()];
    for (const transaction of executable) this.#withdraw(idOf(transaction));
    for (const transaction of executable) this.#promote(transaction);
  }

  /** Gives up what waited for its whole lifetime. */
  expire(nowMs: number): void {
    const { expired, demoted } = this.#pool.expire(nowMs);
    for (const transaction of expired) this.#withdraw(idOf(transaction));
    this.#apply({ promoted: [], demoted });
  }

  #resume(): void {
    if (!this.#isTakingIn && this.#intake.size > 0 && !this.#isCrowded()) this.#takeIn();
  }

  #isCrowded(): boolean {
    return this.#waiting.length >= WAITING_MAX || this.#waitingBytes >= WAITING_BYTES_MAX;
  }

  /** A slice at a time: recovering the signatures of a thousand takes most of 100 ms. */
  #takeIn(): void {
    const { checked } = this.#dependencies;
    this.#isTakingIn = true;
    const count = checked.hasThreads ? CHECKS_PER_ROUND_TRIP : CHECKS_PER_TURN;
    const slice = this.#intake.take(count).map((unchecked) => {
      const hash = keccak256(unchecked.bytes);
      return { ...unchecked, hash, id: bytesToHash(hash) };
    });
    const ahead = checked.hasThreads
      ? checked.recoverAhead(slice.filter((each) => !this.#isKnown(each)))
      : undefined;
    const checkAll = (): void => {
      for (const identified of slice) this.#check(identified);
      this.#handOn();
      this.#isTakingIn = this.#intake.size > 0 && !this.#isCrowded();
      if (this.#isTakingIn) setImmediate(() => this.#takeIn());
    };
    if (ahead === undefined) checkAll();
    else ahead.then(checkAll, checkAll);
  }

  #isKnown({ id, hash }: Identified): boolean {
    return this.#executed.has(id) || this.#pool.get(hash) !== undefined;
  }

  #check(identified: Identified): void {
    const { id, hash, bytes, source, refuse } = identified;
    if (this.isClosed) return refuse?.(id, "DISK_FULL");
    if (this.#isKnown(identified)) return;
    const checked = this.#dependencies.checked.check(id, bytes, hash);
    if (!checked.ok) {
      const { code } = checked.error;
      if (isForged(code)) this.#dependencies.onForged?.(source, code);
      return refuse?.(id, code);
    }
    this.#accept({ transaction: checked.value, source, refuse });
  }

  #accept(arrival: Arrival): void {
    // Behind others of its sender that wait: the order of arrival is the order of the pool.
    const isFree = this.#dependencies.permissions === undefined;
    const isKnown = isFree && this.#accounts.has(arrival.transaction.sender);
    const isBehind = this.#isAsking || this.#waiting.length > 0;
    if (isKnown && !isBehind) this.#add(arrival, true);
    else this.#wait(arrival);
  }

  #wait(arrival: Arrival): void {
    this.#waiting.push(arrival);
    this.#waitingBytes += arrival.transaction.encoded.length;
  }

  /** After some were added: once for all of them. */
  #handOn(): void {
    this.#submitPromoted();
    this.#ask();
    this.#resume();
  }

  #ask(): void {
    if (this.#isAsking || this.#waiting.length === 0) return;
    const arrivals = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    const senders = new Set(arrivals.map(({ transaction }) => transaction.sender));
    for (const sender of senders) if (this.#accounts.has(sender)) senders.delete(sender);
    const { accounts, permissions } = this.#dependencies;
    if (senders.size === 0 && permissions === undefined) {
      for (const arrival of arrivals) this.#add(arrival, true);
      this.#handOn();
      return;
    }
    this.#isAsking = true;
    const permitted = permissions?.(arrivals.map(questionOf)) ?? Promise.resolve([]);
    Promise.all([accounts([...senders]), permitted]).then(
      ([found, answers]) => {
        for (const account of found) this.#remember(account);
        arrivals.forEach((arrival, index) => {
          const isDenied = answers[index] === false;
          if (isDenied) arrival.refuse?.(idOf(arrival.transaction), "TX_PERMISSION_DENIED");
          else this.#add(arrival, false);
        });
        this.#isAsking = false;
        this.#handOn();
      },
      // The thread ended, and with it this node.
      () => undefined,
    );
  }

  #add(arrival: Arrival, isFromMemory: boolean): void {
    const { transaction, source, refuse } = arrival;
    const added = this.#pool.add(transaction, { source, nowMs: performance.now() });
    if (added.ok) {
      this.#dependencies.onAdmitted?.(transaction.hash);
      this.#apply(added.value);
      const { replaced } = added.value;
      if (replaced !== undefined) {
        this.#withdraw(idOf(replaced));
        // In the old place of the pool nothing was promoted, and the core had only the old one.
        if (this.#isExecutable(transaction)) this.#promote(transaction);
      }
      return;
    }
    const { code } = added.error;
    if (code === "TX_ALREADY_KNOWN") return;
    if (isFromMemory && code === "TX_INSUFFICIENT_BALANCE") {
      // A contract may have paid it, which no report of a height names.
      this.#accounts.delete(transaction.sender);
      this.#wait(arrival);
      return;
    }
    refuse?.(idOf(transaction), code);
  }

  #apply({ promoted, demoted }: Moved): void {
    for (const transaction of demoted) this.#withdraw(idOf(transaction));
    for (const transaction of promoted) this.#promote(transaction);
  }

  #promote({ hash, encoded, transaction: { gasLimit } }: RecoveredTransaction): void {
    this.#promoted.push({ id: bytesToHash(hash), gas: Number(gasLimit), bytes: encoded });
  }

  #submitPromoted(): void {
    if (this.#promoted.length === 0) return;
    const promoted = this.#promoted;
    this.#promoted = [];
    this.#dependencies.submit(promoted, (refused) => {
      for (const { id, code } of refused) {
        if (code === "TRANSACTION_KNOWN") continue;
        // The core's queue is larger than the pool: it refuses only what no block can hold.
        const moved = this.#pool.remove(hexToBytes(id));
        if (moved !== undefined) this.#apply(moved);
      }
      this.#submitPromoted();
    });
  }

  /** What is taken back may be among those that were not handed on yet: those go first. */
  #withdraw(id: Hash): void {
    this.#submitPromoted();
    this.#dependencies.withdraw(id);
  }

  /**
   * Ordered and left out. Only a nonce that was used is for good: a right may be granted, a balance
   * filled, and then the same bytes must find an open door, here and in the core.
   */
  #drop(id: Uint8Array, code: string): void {
    const hash = bytesToHash(id);
    if (code === "TX_NONCE_TOO_LOW") this.#executed.set(hash, true);
    else this.#withdraw(hash);
    const pooled = this.#pool.get(id);
    if (pooled === undefined) return;
    // What was known of the account led to this drop.
    this.#accounts.delete(pooled.sender);
    const moved = this.#pool.remove(id);
    if (moved !== undefined) this.#apply(moved);
  }

  /** Ordered too early: it waits again, as if it had just come. */
  #return(id: Uint8Array, bytes: Uint8Array): void {
    const pooled = this.#pool.get(id);
    if (pooled === undefined) this.arrive([bytes], RETURNED_SOURCE);
    else if (this.#isExecutable(pooled)) this.#promote(pooled);
  }

  #isExecutable({ hash }: RecoveredTransaction): boolean {
    return this.#pool.isExecutable(hash);
  }

  #remember(account: AccountState): void {
    this.#accounts.delete(account.address);
    this.#accounts.set(account.address, account);
    if (this.#accounts.size <= ACCOUNTS_MAX) return;
    for (const oldest of this.#accounts.keys()) {
      this.#accounts.delete(oldest);
      break;
    }
  }
}

/** A copy: a view would be sent with all of the memory that it is a view of. */
function questionOf({ transaction: { encoded, sender } }: Arrival): PermissionQuestion {
  return { bytes: Uint8Array.from(encoded), sender };
}

function idOf({ hash }: RecoveredTransaction): Hash {
  return bytesToHash(hash);
}
