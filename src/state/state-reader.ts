import type { Account, AccountCode } from "./account.ts";

/** The state as of one block. Addresses are 160-bit and slots 256-bit unsigned words. */
export type StateReader = {
  account(address: bigint): Account | undefined;
  /** 0 for a slot that was never written. */
  storage(address: bigint, slot: bigint): bigint;
  /** The code of that hash, which an account of this state has. */
  code(hash: bigint): AccountCode;
  /** The object for this code: the known one if it is known. */
  internCode(bytes: Uint8Array): AccountCode;
};
