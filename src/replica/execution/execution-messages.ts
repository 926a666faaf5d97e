/** What the main thread and the execution thread of a replica say to each other. */
import type { Result } from "../../base/result.ts";
import type { GenesisRecord } from "../../ledger/chain-records.ts";
import type { AccountState } from "../../txpool/tx-pool.ts";
import type { StateCursor } from "../../wire/state-codec.ts";
import type { ProvedOffer } from "../state-sync/snapshot-proof.ts";
import type { ExecutionReport } from "./execution-report.ts";

/** Asks whether the sender may write. Form and signature of the transaction were checked. */
export type PermissionQuestion = { readonly bytes: Uint8Array; readonly sender: bigint };

export type ExecutionRequest =
  | { readonly kind: "execute"; readonly block: Uint8Array; readonly senders?: Uint8Array }
  | { readonly kind: "accounts"; readonly ticket: number; readonly addresses: readonly bigint[] }
  | {
      readonly kind: "permissions";
      readonly ticket: number;
      readonly questions: readonly PermissionQuestion[];
    }
  | { readonly kind: "import"; readonly ticket: number; readonly command: ImportCommand }
  | { readonly kind: "close" };

/** A state is taken from a peer, in this order. Only `finish` touches the state that is in use. */
export type ImportCommand =
  | { readonly kind: "begin"; readonly offer: ProvedOffer }
  | { readonly kind: "add"; readonly chunk: Uint8Array }
  | { readonly kind: "finish" }
  | { readonly kind: "abandon" };

/** What a command led to; `ready` after `finish`, when the new state is in use. */
export type ImportOutcome = Result<
  { readonly next: StateCursor | undefined; readonly ready: ExecutionReady | undefined },
  string
>;

export type ExecutionReady = {
  readonly kind: "ready";
  readonly genesis: GenesisRecord;
  readonly height: number;
  readonly blockNumber: bigint;
  /** Of the last heights. */
  readonly results: ReadonlyMap<number, Uint8Array>;
  /** The state was damaged and begins again at genesis. */
  readonly isRebuilt: boolean;
};

export type ExecutionEvent =
  | ExecutionReady
  | {
      readonly kind: "executed";
      readonly executed: ExecutionReport;
      readonly durationMs: number;
    }
  | {
      readonly kind: "accounts";
      readonly ticket: number;
      readonly accounts: readonly AccountState[];
    }
  | {
      readonly kind: "permissions";
      readonly ticket: number;
      readonly answers: readonly boolean[];
    }
  | { readonly kind: "import"; readonly ticket: number; readonly outcome: ImportOutcome }
  | { readonly kind: "diskFull"; readonly isFull: boolean }
  | { readonly kind: "failed"; readonly code: string; readonly message: string }
  | { readonly kind: "closed" };
