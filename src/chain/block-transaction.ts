import type { GenesisTransaction } from "./genesis-block.ts";
import type { RecoveredTransaction } from "./transaction-sender.ts";

/** A transaction of a block. That of block 0 is unsigned. */
export type BlockTransaction = RecoveredTransaction | GenesisTransaction;
