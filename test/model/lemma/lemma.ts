/**
 * The lemma behind `choose` (PROTOCOL §12) for every n and any chain length, by z3. The checker
 * next door looks at every state of a small world; this looks at one step in every world.
 */
import { readFileSync } from "node:fs";
import path from "node:path";

export const LEMMA_CASES = ["fast", "slow"] as const;
/** How many questions each script asks. */
const QUESTION_COUNTS = { fast: 4, slow: 2 } as const;
export type LemmaCase = (typeof LEMMA_CASES)[number];

/**
 * One answer per question of the script. "unsat" to all is the proof: no world contradicts the
 * lemma. Leaves threads behind: end the process.
 */
export async function proveCase(lemma: LemmaCase): Promise<readonly string[]> {
  const { init } = await import("z3-solver");
  const { Z3 } = await init();
  const context = Z3.mk_context(Z3.mk_config());
  const script = ["choose.smt2", `${lemma}.smt2`].map(readScript).join("\n");
  return (await Z3.eval_smtlib2_string(context, script)).trim().split(/\s*\n/);
}

/** What the solver says when the case is proved. */
export function provedAnswer(lemma: LemmaCase): string {
  return Array.from({ length: QUESTION_COUNTS[lemma] }, () => "unsat").join(" ");
}

function readScript(name: string): string {
  return readFileSync(path.join(import.meta.dirname, name), "utf8");
}
