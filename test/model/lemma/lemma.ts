/**
 * The lemma behind `choose` (PROTOCOL §12) for every n and any chain length, by z3. The checker
 * next door looks at every state of a small world; this looks at one step in every world.
 */
import { readFileSync } from "node:fs";
import path from "node:path";

export const LEMMA_CASES = ["fast", "slow"] as const;
export type LemmaCase = (typeof LEMMA_CASES)[number];

/** "unsat" is the proof: no world contradicts the lemma. Leaves threads behind: end the process. */
export async function proveCase(lemma: LemmaCase): Promise<string> {
  const { init } = await import("z3-solver");
  const { Z3 } = await init();
  const context = Z3.mk_context(Z3.mk_config());
  const script = ["choose.smt2", `${lemma}.smt2`].map(readScript).join("\n");
  return (await Z3.eval_smtlib2_string(context, script)).trim();
}

function readScript(name: string): string {
  return readFileSync(path.join(import.meta.dirname, name), "utf8");
}
