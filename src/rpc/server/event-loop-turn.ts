/** Long work in pieces, so that one caller cannot keep all others waiting. */
import { setImmediate } from "node:timers/promises";

const PIECE_MS = 10;

/** A function to await between pieces: it lets others go first when enough time has passed. */
export function takeTurns(): () => Promise<void> {
  let startedMs = performance.now();
  return async () => {
    if (performance.now() - startedMs < PIECE_MS) return;
    await setImmediate();
    startedMs = performance.now();
  };
}
