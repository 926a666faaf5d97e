/** Transactions of client nodes on their way into admission; a refusal goes back to its client. */
import type { Hash } from "../../consensus/block.ts";
import type { Principal } from "../../transport/principal.ts";
import type { ClientSessions } from "../peers/client-sessions.ts";
import type { Admission } from "./admission.ts";
import { clientSource } from "./source-name.ts";
import type { ReplicaTransactionLife } from "./transaction-life.ts";

export type ClientTransactionsParts = {
  readonly life: ReplicaTransactionLife;
  readonly admission: Admission;
  readonly sessions: ClientSessions;
};

export class ClientTransactions {
  readonly #parts: ClientTransactionsParts;

  constructor(parts: ClientTransactionsParts) {
    this.#parts = parts;
  }

  submit(client: Principal, transactions: readonly Uint8Array[]): void {
    const refuse = (id: Hash, code: string): void => this.#refuse(client, id, code);
    this.#parts.admission.arrive(transactions, clientSource(client), refuse);
  }

  #refuse(client: Principal, transactionId: Hash, code: string): void {
    const { life, sessions } = this.#parts;
    life.refused(transactionId, code);
    sessions.answer(client, { kind: "refused", transactionId, code });
  }
}
