/** Proofs of equivocation (PROTOCOL §3, §6.1 (d)). They expire with their epoch. */
import { notice, sendNow, type Core } from "../core.ts";
import type { Evidence } from "../message.ts";

/** Keeps the first proof against a replica and broadcasts it. */
export function accuse(core: Core, evidence: Evidence): boolean {
  const accused = evidence.first.sender;
  if (accused === core.self || core.views.evidence.has(accused)) return false;
  core.views.evidence.set(accused, evidence);
  notice(core, { code: "EVIDENCE_FOUND", accused });
  sendNow(core, "all", evidence);
  return true;
}

/** Two ballots or proposals of one place that name different blocks, signed by one replica. */
export function isProof({ first, second }: Evidence): boolean {
  return (
    first.kind === second.kind &&
    first.sender === second.sender &&
    first.epoch === second.epoch &&
    first.view === second.view &&
    first.height === second.height &&
    first.blockHash !== second.blockHash
  );
}
