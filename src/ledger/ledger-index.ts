/** What a kind of node remembers of the chain besides its end. */
import type { StateChange } from "../storage/state-store.ts";
import type { ChainHead } from "./chain-records.ts";

/** A height that was executed; `head` is new with it if it made an Ethereum block. */
export type LedgerStep = {
  readonly height: number;
  readonly result: Uint8Array;
  readonly head: ChainHead | undefined;
};

/** A replica keeps the last 256 blocks (a ring), a client node every block number. */
export type LedgerIndex = {
  /** Called once, with the head of the store that was opened or just made. */
  open(head: ChainHead): void;
  /** Of one of the last 256 blocks. */
  blockHash(number: bigint): Uint8Array | undefined;
  /** Records of a height, to be written with its state. */
  note(step: LedgerStep): readonly StateChange[];
  /** What was noted is in the store. */
  onWritten(): void;
};
