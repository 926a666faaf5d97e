/** Whether a transaction is taken: rules of the chain, signature, and the published state. */
import type { SubmitRefusal } from "../../api/transaction-status.ts";
import { err, type Result } from "../../base/result.ts";
import type { ChainRules } from "../../chain/chain-rules.ts";
import type { RecoveredTransaction } from "../../chain/transaction-sender.ts";
import { checkEncodedTransaction } from "../../chain/transaction-validity.ts";
import type { PermissionPolicy } from "../../execution/permission-policy.ts";
import { checkPermission, checkSubmission } from "../../execution/state-validity.ts";
import { Journal } from "../../state/journal.ts";
import type { ChainReader } from "../reads/chain-reader.ts";

export type SubmissionCheckOptions = {
  readonly rules: ChainRules;
  /** Undefined where every account may write. */
  readonly permits: PermissionPolicy | undefined;
};

export type SubmissionCheckDependencies = {
  readonly chain: Pick<ChainReader, "latestState">;
};

export class SubmissionCheck {
  readonly #options: SubmissionCheckOptions;
  readonly #chain: Pick<ChainReader, "latestState">;

  constructor(options: SubmissionCheckOptions, { chain }: SubmissionCheckDependencies) {
    this.#options = options;
    this.#chain = chain;
  }

  /** `hash` is that of the encoded transaction. */
  check(encoded: Uint8Array, hash: Uint8Array): Result<RecoveredTransaction, SubmitRefusal> {
    const { rules, permits } = this.#options;
    const checked = checkEncodedTransaction(encoded, hash, rules);
    if (!checked.ok) return checked;
    const state = this.#chain.latestState();
    const refusal = checkSubmission(state, checked.value, { fork: rules.fork, permits });
    return refusal === undefined ? checked : err(refusal);
  }

  isPermitted(request: RecoveredTransaction): boolean {
    const { permits } = this.#options;
    return checkPermission(permits, new Journal(this.#chain.latestState()), request) === undefined;
  }
}
