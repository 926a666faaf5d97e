/** What moves a replica, and what it asks of the world (PROTOCOL §4). */
import type { Block, Hash, ReplicaIndex, Transaction } from "./block.ts";
import type { ExecCert, FinalCert } from "./certificate.ts";
import type { LogRecord } from "./log-record.ts";
import type { Message } from "./message.ts";

/** Time is an input: `nowMs` never runs backwards (timers), `wallMs` may (block timestamps). */
export type Clock = { readonly nowMs: number; readonly wallMs: number };

export type Input =
  /** From an authenticated link; every signature in it was verified. */
  | {
      readonly kind: "message";
      readonly from: ReplicaIndex;
      readonly message: Message;
      /**
       * Whether every transaction in its bodies is well-formed and signed by its sender.
       * The driver finds out, because that work belongs to other threads.
       */
      readonly transactionsValid: boolean;
    }
  /** Transactions that passed admission: together, because the rules then run only once. */
  | { readonly kind: "submit"; readonly transactions: readonly Transaction[] }
  /** The pool gave a transaction up (expired, replaced): it must not count as waiting. */
  | { readonly kind: "withdraw"; readonly id: Hash }
  /** All records up to this one are durable. */
  | { readonly kind: "synced"; readonly lsn: number }
  | { readonly kind: "executed"; readonly height: number; readonly result: Hash }
  | { readonly kind: "link"; readonly peer: ReplicaIndex; readonly isUp: boolean }
  /** This replica is about to be stopped: as leader it hands its view on. */
  | { readonly kind: "retire" }
  /** Time passed; due when `wakeAtMs` says so. */
  | { readonly kind: "tick" };

/**
 * In the order they must be carried out. A `send` is emitted only after the driver reported the
 * records it depends on as synced, so a driver cannot send too early.
 */
export type Effect =
  | { readonly kind: "append"; readonly lsn: number; readonly record: LogRecord }
  /** A queued message waits for the records up to `lsn`: make them durable, then input `synced`. */
  | { readonly kind: "sync"; readonly lsn: number }
  | { readonly kind: "send"; readonly to: ReplicaIndex | "all"; readonly message: Message }
  /** Consecutive blocks became final: store and execute them, then input `executed` for each. */
  | {
      readonly kind: "finalize";
      readonly blocks: readonly Block[];
      readonly certificate: FinalCert;
    }
  /** Read final blocks from the store and send them to `to` as a BlockResponse. */
  | {
      readonly kind: "serveBlocks";
      readonly to: ReplicaIndex;
      readonly fromHeight: number;
      readonly toHeight: number;
    }
  /** A certified result: a state snapshot of this height can be proved to others. */
  | { readonly kind: "checkpoint"; readonly certificate: ExecCert }
  | { readonly kind: "notice"; readonly notice: Notice };

/** Rare changes of state, for logs and metrics. Nothing here is needed for correctness. */
export type Notice =
  | { readonly code: "VIEW_ENTERED"; readonly epoch: number; readonly view: number }
  | { readonly code: "VIEW_ACCEPTED"; readonly epoch: number; readonly view: number }
  | { readonly code: "EPOCH_ENTERED"; readonly epoch: number }
  | { readonly code: "LEADER_SUSPECTED"; readonly view: number; readonly reason: string }
  | { readonly code: "EVIDENCE_FOUND"; readonly accused: ReplicaIndex }
  | { readonly code: "ROLLED_BACK"; readonly nonce: Hash }
  | { readonly code: "EPOCH_JOINED"; readonly epoch: number }
  | { readonly code: "CATCHING_UP"; readonly from: number; readonly to: number }
  /** From here on the operator must act. */
  | {
      readonly code: "EXECUTION_DIVERGED";
      readonly height: number;
      readonly own: Hash;
      readonly others: Hash;
    }
  | { readonly code: "FINALITY_CONFLICT"; readonly height: number }
  | { readonly code: "KEY_SUPERSEDED"; readonly nonce: Hash };
