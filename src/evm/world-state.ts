/**
 * The state of the world as the EVM sees it: a port that src/state implements.
 *
 * Addresses are 160-bit and slots 256-bit unsigned bigints, because they are that on the EVM's
 * stack: the interpreter converts nothing on its hot path. Every change is undone by `revertTo`,
 * including warmth, transient storage, logs, the refund counter and creation marks.
 */
export type WorldState = {
  /** EIP-161: no code, nonce 0 and balance 0 (an account that does not exist is empty). */
  isEmpty(address: bigint): boolean;

  balance(address: bigint): bigint;
  setBalance(address: bigint, value: bigint): void;
  nonce(address: bigint): bigint;
  setNonce(address: bigint, value: bigint): void;

  /** The account's code, with what is known of it. The same object for equal code. */
  code(address: bigint): Code;
  setCode(address: bigint, bytes: Uint8Array): void;

  storage(address: bigint, slot: bigint): bigint;
  /** The slot's value at the start of the transaction (EIP-2200, EIP-3529). */
  originalStorage(address: bigint, slot: bigint): bigint;
  setStorage(address: bigint, slot: bigint, value: bigint): void;
  /** Whether the account has any non-zero slot (EIP-7610: such an address cannot be created). */
  hasStorage(address: bigint): boolean;

  transient(address: bigint, slot: bigint): bigint;
  setTransient(address: bigint, slot: bigint, value: bigint): void;

  /** Marks the address as accessed; true if it was already warm (EIP-2929). */
  warmAddress(address: bigint): boolean;
  warmSlot(address: bigint, slot: bigint): boolean;
  isAddressWarm(address: bigint): boolean;
  isSlotWarm(address: bigint, slot: bigint): boolean;

  /** Makes an account exist and marks it as created in this transaction (EIP-6780). */
  markCreated(address: bigint): void;
  isCreated(address: bigint): boolean;
  /** Makes an account exist even if it stays empty (touch); EIP-161 removes it at the end. */
  touch(address: bigint): void;
  /** Registers the account for removal at the end of the transaction. */
  selfDestruct(address: bigint): void;

  addLog(log: EvmLog): void;
  refund(): number;
  addRefund(change: number): void;

  /** A mark to return to. Marks nest; reverting to one drops all later ones. */
  snapshot(): number;
  revertTo(mark: number): void;
};

export type EvmLog = {
  readonly address: bigint;
  readonly topics: readonly bigint[];
  readonly data: Uint8Array;
};

export type Code = {
  readonly bytes: Uint8Array;
  /** keccak256 of the bytes as a word; of the empty string for an account without code. */
  readonly hash: bigint;
};
