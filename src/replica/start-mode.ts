import type { LogRecord } from "../consensus/log-record.ts";
import type { Start } from "../consensus/recovery/start.ts";
import type { Hash } from "../consensus/block.ts";
import type { StartMode } from "./replica-options.ts";

/** What is on the disk of a replica that starts. */
export type FoundOnDisk = {
  readonly records: readonly LogRecord[];
  /** Of the last block in the store; undefined if there is none. */
  readonly blockHeight: number | undefined;
  readonly stateHeight: number;
};

/** How the core starts, from what is on the disk and what the installer says (PROTOCOL §9). */
export function startOf(startMode: StartMode, found: FoundOnDisk, nonce: Hash): Start {
  const { records, blockHeight, stateHeight } = found;
  if (records.length > 0) return { kind: "resume", records, nonce };
  // A replica with blocks or a state ran before: its empty log is a lost one, whatever is said.
  const isNew = blockHeight === undefined && stateHeight === 0;
  return startMode === "bootstrap" && isNew ? { kind: "bootstrap" } : { kind: "empty", nonce };
}
