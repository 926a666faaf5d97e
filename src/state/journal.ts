/**
 * The state during a block: what transactions read and write, with undo. It satisfies the port
 * `WorldState` of src/evm. A mark is the length of the undo log; returning to it replays the log
 * backwards, so that a snapshot costs nothing and a revert costs what it undoes.
 */
import { invariant } from "../base/invariant.ts";
import { EMPTY_CODE, EMPTY_STORAGE_ROOT, type AccountCode } from "./account.ts";
import type { AccountChange, BlockChanges, SlotChange } from "./block-changes.ts";
import { JournalAccount, JournalSlot } from "./journal-account.ts";
import type { StateReader } from "./state-reader.ts";
import { WordMap } from "./word-map.ts";

export type JournalLog = {
  readonly address: bigint;
  readonly topics: readonly bigint[];
  readonly data: Uint8Array;
};

type UndoKind =
  | "balance"
  | "nonce"
  | "code"
  | "storage"
  | "transient"
  | "warmAddress"
  | "warmSlot"
  | "touched"
  | "created"
  | "destroyed"
  | "refund"
  | "log";

/** One step back. One shape for all kinds keeps the log fast; unused fields hold a default. */
type Undo = {
  kind: UndoKind;
  account: JournalAccount | undefined;
  slot: JournalSlot | undefined;
  word: bigint;
  /** For transient storage: the slot, whose earlier value is `word`. */
  key: bigint;
  /** A transaction's number or the refund counter. */
  mark: number;
  code: AccountCode | undefined;
  flag: boolean;
};

/** The precompile whose touch outlives a revert, as on mainnet since block 2,675,119. */
const RIPEMD_ADDRESS = 3n;

/** Steps kept for the next transaction. */
const UNDO_KEPT_MAX = 4096;
/** Later than every transaction. */
const ALWAYS = Infinity;

export class Journal {
  readonly #state: StateReader;
  readonly #accounts = new WordMap<JournalAccount>();
  #lastAccount: JournalAccount | undefined;
  /** The first `#undoCount` count; the others wait to be used again. */
  readonly #undo: Undo[] = [];
  #undoCount = 0;
  /** The number of the running transaction; marks with another number do not count. */
  #transaction = 1;
  readonly #touched: JournalAccount[] = [];
  readonly #destroyed: JournalAccount[] = [];
  #logs: JournalLog[] = [];
  #refund = 0;
  #keptWarm: ReadonlyMap<bigint, unknown> | undefined;

  constructor(state: StateReader) {
    this.#state = state;
  }

  /** Forgets warmth, transient storage, logs, refund and marks. Earlier marks become invalid. */
  beginTransaction(): void {
    this.#transaction++;
    this.#undoCount = 0;
    if (this.#undo.length > UNDO_KEPT_MAX) this.#undo.length = UNDO_KEPT_MAX;
    this.#touched.length = 0;
    this.#destroyed.length = 0;
    // These may have been handed out.
    if (this.#logs.length > 0) this.#logs = [];
    this.#refund = 0;
  }

  /** Removes what self-destructed and what was touched and is empty; returns the logs. */
  endTransaction(): readonly JournalLog[] {
    // The next transaction writes into the list that this one left empty: it must not be handed
    // out.
    const logs = this.#logs.length === 0 ? NO_LOGS : this.#logs;
    for (const account of this.#destroyed) {
      if (account.destroyedIn === this.#transaction) account.clear();
    }
    for (const account of this.#touched) {
      if (account.touchedIn === this.#transaction && account.exists && account.isEmpty()) {
        account.clear();
      }
    }
    this.beginTransaction();
    return logs;
  }

  /** What all transactions since the journal was made changed together. */
  blockChanges(): BlockChanges {
    const accounts: AccountChange[] = [];
    for (const account of this.#accounts.values()) {
      const change = accountChange(account);
      if (change !== undefined) accounts.push(change);
    }
    accounts.sort((a, b) => compareWords(a.address, b.address));
    return { accounts };
  }

  /** Whether the account is in the state, which an empty one may be before EIP-161 removes it. */
  exists(address: bigint): boolean {
    return this.#account(address).exists;
  }

  isEmpty(address: bigint): boolean {
    return this.#account(address).isEmpty();
  }

  balance(address: bigint): bigint {
    return this.#account(address).balance;
  }

  setBalance(address: bigint, value: bigint): void {
    const account = this.#touchedAccount(address);
    if (account.balance === value) return;
    this.#push("balance", account, undefined, account.balance);
    account.balance = value;
  }

  nonce(address: bigint): bigint {
    return this.#account(address).nonce;
  }

  setNonce(address: bigint, value: bigint): void {
    const account = this.#touchedAccount(address);
    if (account.nonce === value) return;
    this.#push("nonce", account, undefined, account.nonce);
    account.nonce = value;
  }

  code(address: bigint): AccountCode {
    return this.#codeOf(this.#account(address));
  }

  setCode(address: bigint, bytes: Uint8Array): void {
    const account = this.#touchedAccount(address);
    const code = bytes.length === 0 ? EMPTY_CODE : this.#state.internCode(bytes);
    if (code.hash === account.codeHash) return;
    const step = this.#push("code", account, undefined, account.codeHash);
    step.code = account.code;
    step.flag = account.isCodeSet;
    account.code = code;
    account.codeHash = code.hash;
    account.isCodeSet = true;
  }

  storage(address: bigint, slot: bigint): bigint {
    return this.#slot(this.#account(address), slot).current;
  }

  originalStorage(address: bigint, slot: bigint): bigint {
    const entry = this.#slot(this.#account(address), slot);
    return entry.originalIn === this.#transaction ? entry.original : entry.current;
  }

  setStorage(address: bigint, slot: bigint, value: bigint): void {
    const account = this.#account(address);
    const entry = this.#slot(account, slot);
    if (entry.originalIn !== this.#transaction) {
      entry.original = entry.current;
      entry.originalIn = this.#transaction;
    }
    if (entry.current === value) return;
    this.#push("storage", account, entry, entry.current);
    entry.current = value;
  }

  /** Slots zeroed in this block count as present: no such account can be created over anyway. */
  hasStorage(address: bigint): boolean {
    const account = this.#account(address);
    if (account.before !== undefined && !account.isStorageCleared) {
      if (account.before.storageRoot !== EMPTY_STORAGE_ROOT) return true;
    }
    if (account.slots === undefined) return false;
    for (const slot of account.slots.values()) if (slot.current !== 0n) return true;
    return false;
  }

  transient(address: bigint, slot: bigint): bigint {
    const account = this.#account(address);
    if (account.transientIn !== this.#transaction) return 0n;
    return account.transient?.get(slot) ?? 0n;
  }

  setTransient(address: bigint, slot: bigint, value: bigint): void {
    const account = this.#account(address);
    if (account.transientIn !== this.#transaction || account.transient === undefined) {
      account.transient = new WordMap();
      account.transientIn = this.#transaction;
    }
    const word = account.transient.get(slot) ?? 0n;
    this.#push("transient", account, undefined, word, 0, slot);
    account.transient.set(slot, value);
  }

  /** For the keys of a table that are warm in every transaction; saying it again costs nothing. */
  keepWarm(table: ReadonlyMap<bigint, unknown>): void {
    if (this.#keptWarm === table) return;
    this.#keptWarm = table;
    // Most of them are never asked for: those that are not here yet are warm when they come.
    for (const account of this.#accounts.values()) {
      if (table.has(account.address)) account.warmIn = ALWAYS;
    }
  }

  warmAddress(address: bigint): boolean {
    const account = this.#account(address);
    if (account.warmIn >= this.#transaction) return true;
    this.#push("warmAddress", account, undefined, 0n, account.warmIn);
    account.warmIn = this.#transaction;
    return false;
  }

  warmSlot(address: bigint, slot: bigint): boolean {
    const account = this.#account(address);
    const entry = this.#slot(account, slot);
    if (entry.warmIn === this.#transaction) return true;
    this.#push("warmSlot", account, entry, 0n, entry.warmIn);
    entry.warmIn = this.#transaction;
    return false;
  }

  isAddressWarm(address: bigint): boolean {
    return this.#account(address).warmIn >= this.#transaction;
  }

  isSlotWarm(address: bigint, slot: bigint): boolean {
    return this.#account(address).slots?.get(slot)?.warmIn === this.#transaction;
  }

  markCreated(address: bigint): void {
    const account = this.#touchedAccount(address);
    this.#push("created", account, undefined, 0n, account.createdIn);
    account.createdIn = this.#transaction;
  }

  isCreated(address: bigint): boolean {
    return this.#account(address).createdIn === this.#transaction;
  }

  touch(address: bigint): void {
    this.#touchedAccount(address);
  }

  selfDestruct(address: bigint): void {
    const account = this.#touchedAccount(address);
    if (account.destroyedIn === this.#transaction) return;
    this.#push("destroyed", account, undefined, 0n, account.destroyedIn);
    account.destroyedIn = this.#transaction;
    this.#destroyed.push(account);
  }

  addLog(log: JournalLog): void {
    this.#push("log", undefined, undefined, 0n);
    this.#logs.push(log);
  }

  refund(): number {
    return this.#refund;
  }

  addRefund(change: number): void {
    this.#push("refund", undefined, undefined, 0n, this.#refund);
    this.#refund += change;
  }

  snapshot(): number {
    return this.#undoCount;
  }

  revertTo(mark: number): void {
    invariant(mark <= this.#undoCount, "a mark lies in the past");
    while (this.#undoCount > mark) {
      const step = this.#undo[--this.#undoCount];
      if (step !== undefined) this.#stepBack(step);
    }
  }

  #stepBack(step: Undo): void {
    if (step.kind === "refund") this.#refund = step.mark;
    else if (step.kind === "log") this.#logs.pop();
    else if (step.account !== undefined) undoAccount(step, step.account);
  }

  #account(address: bigint): JournalAccount {
    // An executing contract asks for itself again and again.
    const last = this.#lastAccount;
    if (last?.address === address) return last;
    let account = this.#accounts.get(address);
    if (account === undefined) {
      account = new JournalAccount(address, this.#state.account(address));
      if (this.#keptWarm?.has(address) === true) account.warmIn = ALWAYS;
      this.#accounts.set(address, account);
    }
    this.#lastAccount = account;
    return account;
  }

  #touchedAccount(address: bigint): JournalAccount {
    const account = this.#account(address);
    // The second condition holds for the address whose touch outlived the revert of its creation.
    if (account.touchedIn === this.#transaction && account.exists) return account;
    const step = this.#push("touched", account, undefined, 0n, account.touchedIn);
    step.flag = account.exists;
    account.touchedIn = this.#transaction;
    account.exists = true;
    this.#touched.push(account);
    return account;
  }

  #slot(account: JournalAccount, slot: bigint): JournalSlot {
    const last = account.lastSlot;
    if (last?.slot === slot) return last;
    account.slots ??= new WordMap();
    const known = account.slots.get(slot);
    if (known !== undefined) {
      account.lastSlot = known;
      return known;
    }
    const isFresh = account.before === undefined || account.isStorageCleared;
    const before = account.before === undefined ? 0n : this.#state.storage(account.address, slot);
    const entry = new JournalSlot(slot, before);
    if (isFresh) entry.current = 0n;
    account.slots.set(slot, entry);
    account.lastSlot = entry;
    return entry;
  }

  #codeOf(account: JournalAccount): AccountCode {
    account.code ??=
      account.codeHash === EMPTY_CODE.hash ? EMPTY_CODE : this.#state.code(account.codeHash);
    return account.code;
  }

  #push(
    kind: UndoKind,
    account: JournalAccount | undefined,
    slot: JournalSlot | undefined,
    word: bigint,
    mark = 0,
    key = 0n,
  ): Undo {
    const step = this.#undo[this.#undoCount];
    this.#undoCount++;
    if (step === undefined) {
      const added = { kind, account, slot, word, key, mark, code: undefined, flag: false };
      this.#undo.push(added);
      return added;
    }
    step.kind = kind;
    step.account = account;
    step.slot = slot;
    step.word = word;
    step.key = key;
    step.mark = mark;
    return step;
  }
}

function undoAccount(step: Undo, account: JournalAccount): void {
  switch (step.kind) {
    case "balance":
      account.balance = step.word;
      break;
    case "nonce":
      account.nonce = step.word;
      break;
    case "code":
      account.codeHash = step.word;
      account.code = step.code;
      account.isCodeSet = step.flag;
      break;
    case "storage":
      if (step.slot !== undefined) step.slot.current = step.word;
      break;
    case "transient":
      account.transient?.set(step.key, step.word);
      break;
    case "warmAddress":
      account.warmIn = step.mark;
      break;
    case "warmSlot":
      if (step.slot !== undefined) step.slot.warmIn = step.mark;
      break;
    case "touched":
      account.exists = step.flag;
      if (account.address !== RIPEMD_ADDRESS) account.touchedIn = step.mark;
      break;
    case "created":
      account.createdIn = step.mark;
      break;
    case "destroyed":
      account.destroyedIn = step.mark;
      break;
    case "refund":
    case "log":
      break;
  }
}

function accountChange(account: JournalAccount): AccountChange | undefined {
  const { before } = account;
  const slots = slotChanges(account);
  const isSame =
    account.exists === (before !== undefined) &&
    account.nonce === (before?.nonce ?? 0n) &&
    account.balance === (before?.balance ?? 0n) &&
    account.codeHash === (before?.codeHash ?? EMPTY_CODE.hash);
  const hadStorage = before !== undefined && before.storageRoot !== EMPTY_STORAGE_ROOT;
  const isStorageCleared = account.isStorageCleared && hadStorage;
  if (isSame && slots.length === 0 && !isStorageCleared) return undefined;
  const { nonce, balance, codeHash } = account;
  const code = account.isCodeSet ? account.code : undefined;
  const after = account.exists ? { nonce, balance, codeHash, code } : undefined;
  return { address: account.address, before, after, isStorageCleared, slots };
}

function slotChanges({ slots, isStorageCleared }: JournalAccount): readonly SlotChange[] {
  if (slots === undefined) return NO_SLOTS;
  const changes: SlotChange[] = [];
  for (const { slot, before, current } of slots.values()) {
    // After clearing, a slot that got its value back must be listed too, or it would be cleared.
    const isRestored = isStorageCleared && current !== 0n;
    if (before !== current || isRestored) changes.push({ slot, before, after: current });
  }
  changes.sort((a, b) => compareWords(a.slot, b.slot));
  return changes;
}

const NO_SLOTS: readonly SlotChange[] = [];
const NO_LOGS: readonly JournalLog[] = [];

function compareWords(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
