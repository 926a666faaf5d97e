/** One run at a time: cleaning up for a second one would take the cluster of the first away. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const LOCK = "/run/quorate-cluster.pid";

/** The process of the run that is under way. */
export function otherRun(): number | undefined {
  if (!existsSync(LOCK)) return undefined;
  const pid = Number(readFileSync(LOCK, "utf8"));
  return existsSync(`/proc/${pid}`) && pid !== process.pid ? pid : undefined;
}

export function lockRun(): void {
  writeFileSync(LOCK, String(process.pid));
}

export function unlockRun(): void {
  rmSync(LOCK, { force: true });
}
