import type { Account, AccountCode } from "./account.ts";

/** What a block did to the state: net, each account and slot once, in the order of the keys. */
export type BlockChanges = { readonly accounts: readonly AccountChange[] };

export type AccountChange = {
  readonly address: bigint;
  readonly before: Account | undefined;
  /** Undefined when the account is gone; its storage root is not known yet. */
  readonly after: AccountContent | undefined;
  /** All slots that the account had before the block are gone, besides what `slots` says. */
  readonly isStorageCleared: boolean;
  readonly slots: readonly SlotChange[];
};

export type AccountContent = {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly codeHash: bigint;
  /** Present if the block set it. */
  readonly code: AccountCode | undefined;
};

export type SlotChange = { readonly slot: bigint; readonly before: bigint; readonly after: bigint };
