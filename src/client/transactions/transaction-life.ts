/**
 * What becomes of single transactions, as this client node sees it: the first and the last of what
 * the logs of all nodes say of one hash. At `debug` only.
 */
import { bytesToHex } from "../../base/hex.ts";
import type { Logger } from "../../base/logger.ts";
import type { RecoveredTransaction } from "../../chain/transaction-sender.ts";
import type { ExecutedHeight } from "../../ledger/executed-height.ts";
import type { RejectedTransaction } from "./pending-transactions.ts";

export class ClientTransactionLife {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  accepted({ hash }: RecoveredTransaction): void {
    if (!this.#isFollowed()) return;
    this.#logger.debug("transaction accepted", { correlation_id: bytesToHex(hash) });
  }

  refused({ hash, code }: RejectedTransaction): void {
    if (!this.#isFollowed()) return;
    this.#logger.debug("transaction given up", { correlation_id: bytesToHex(hash), code });
  }

  published({ height, number, block: made }: ExecutedHeight): void {
    if (made === undefined || !this.#isFollowed()) return;
    const place = { height, block: Number(number) };
    made.transactions.forEach(({ hash }, index) => {
      const isSuccess = made.receipts[index]?.succeeded;
      const fields = { correlation_id: bytesToHex(hash), ...place, isSuccess };
      this.#logger.debug("the receipt of a transaction can be read", fields);
    });
  }

  #isFollowed(): boolean {
    return this.#logger.isDebug?.() === true;
  }
}
