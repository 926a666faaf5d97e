/** Why a transaction is not taken: a stable code, and what would have been right. */
export type SubmitRefusal = { readonly code: string; readonly limit?: bigint };

/** What became of a transaction that was accepted. */
export type TransactionStatus =
  | { readonly kind: "final"; readonly number: bigint; readonly index: number }
  /** Accepted and sent. `code` is the last rejection by a replica, if there was one. */
  | { readonly kind: "pending"; readonly code: string | undefined }
  /** Rejected for good, and why: the code is TX_EXPIRED for one that waited too long. */
  | { readonly kind: "refused"; readonly code: string; readonly refusedMs: number };
