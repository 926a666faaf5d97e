import type { GenesisTransaction } from "./genesis-block.ts";
import type { RecoveredTransaction } from "./transaction-sender.ts";

/** A transaction of a block. Block 0 has one that nobody signed. */
export type BlockTransaction = RecoveredTransaction | GenesisTransaction;
