import type { Account, AccountCode } from "./account.ts";
import { EMPTY_CODE } from "./account.ts";
import type { WordMap } from "./word-map.ts";

/** A slot that the block has read or written. */
export class JournalSlot {
  readonly slot: bigint;
  /** At the start of the block. */
  readonly before: bigint;
  current: bigint;
  /** At the start of transaction `originalIn`; of no meaning in others. */
  original: bigint;
  originalIn = 0;
  /** The transaction in which the slot is warm. */
  warmIn = 0;

  constructor(slot: bigint, value: bigint) {
    this.slot = slot;
    this.before = value;
    this.current = value;
    this.original = value;
  }
}

/**
 * An account that the block has read or written. Marks of a transaction hold its number, so that
 * the next transaction starts clean without visiting the accounts.
 */
export class JournalAccount {
  readonly address: bigint;
  /** At the start of the block. */
  readonly before: Account | undefined;
  exists: boolean;
  nonce: bigint;
  balance: bigint;
  codeHash: bigint;
  /** Undefined until it is first read. */
  code: AccountCode | undefined;
  isCodeSet = false;
  /** Made with the first slot: most accounts have none. */
  slots: WordMap<JournalSlot> | undefined;
  /** The slot that was asked for last: an instruction asks for its slot several times. */
  lastSlot: JournalSlot | undefined;
  /** The slots of before the block are gone: they read as 0 without asking. */
  isStorageCleared = false;
  transient: WordMap<bigint> | undefined;
  transientIn = 0;
  warmIn = 0;
  touchedIn = 0;
  createdIn = 0;
  destroyedIn = 0;

  constructor(address: bigint, before: Account | undefined) {
    this.address = address;
    this.before = before;
    this.exists = before !== undefined;
    this.nonce = before?.nonce ?? 0n;
    this.balance = before?.balance ?? 0n;
    this.codeHash = before?.codeHash ?? EMPTY_CODE.hash;
  }

  /** EIP-161. */
  isEmpty(): boolean {
    return this.nonce === 0n && this.balance === 0n && this.codeHash === EMPTY_CODE.hash;
  }

  /** Removes the account; it cannot be undone, so only at the end of a transaction. */
  clear(): void {
    this.exists = false;
    this.nonce = 0n;
    this.balance = 0n;
    this.codeHash = EMPTY_CODE.hash;
    this.code = EMPTY_CODE;
    this.isCodeSet = false;
    this.isStorageCleared = true;
    if (this.slots === undefined) return;
    for (const slot of this.slots.values()) slot.current = 0n;
  }
}
