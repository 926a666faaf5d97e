/** Passes on what becomes of submitted transactions: to the log, waiting requests and listeners. */
import type { RecoveredTransaction } from "../../chain/transaction-sender.ts";
import type { ClientEvents } from "../client-events.ts";
import type { Emitter } from "../notifications.ts";
import type { FinalityWaiters } from "./finality-waiters.ts";
import type { RejectedTransaction, TransactionListener } from "./pending-transactions.ts";
import type { ClientTransactionLife } from "./transaction-life.ts";

export type TransactionObserversDependencies = {
  readonly life: ClientTransactionLife;
  readonly waiters: FinalityWaiters;
  readonly events: Emitter<ClientEvents>;
  /** For metrics. */
  readonly onFinal: ((latencyMs: number) => void) | undefined;
};

export class TransactionObservers implements TransactionListener {
  readonly #dependencies: TransactionObserversDependencies;

  constructor(dependencies: TransactionObserversDependencies) {
    this.#dependencies = dependencies;
  }

  onAccepted(transaction: RecoveredTransaction): void {
    const { life, events } = this.#dependencies;
    life.accepted(transaction);
    events.emit("transactionAccepted", transaction);
  }

  onRefused(refused: RejectedTransaction): void {
    const { life, waiters, events } = this.#dependencies;
    life.refused(refused);
    waiters.settle(refused.hash);
    events.emit("transactionRefused", refused);
  }

  onFinal(latencyMs: number): void {
    this.#dependencies.onFinal?.(latencyMs);
  }
}
