/** How a replica starts (PROTOCOL §9.1). */
import type { Hash } from "../block.ts";
import type { LogRecord } from "../log-record.ts";

export type Start =
  /** First installation: the log is empty and the installer vouches that it never was otherwise. */
  | { readonly kind: "bootstrap" }
  /** An empty, damaged or abandoned log: only a new epoch can let this replica take part again. */
  | { readonly kind: "empty"; readonly nonce: Hash }
  /**
   * An intact log, in order. The nonce names this start, and its Rejoin if the log says that an
   * earlier one was lost, or peers prove a rollback.
   */
  | { readonly kind: "resume"; readonly records: readonly LogRecord[]; readonly nonce: Hash };
