/** What listeners of a client node can subscribe to. */
import type { RecoveredTransaction } from "../chain/transaction-sender.ts";
import type { StoredBlockRecord } from "./reads/block-record.ts";
import type { RejectedTransaction } from "./transactions/pending-transactions.ts";

export type ClientEvents = {
  /** In order, once each. */
  readonly blockPublished: StoredBlockRecord;
  /** The hash was given out. */
  readonly transactionAccepted: RecoveredTransaction;
  /** Refused for good or expired. */
  readonly transactionRefused: RejectedTransaction;
};
