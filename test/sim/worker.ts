/**
 * Runs a stride of seeds and prints one line of JSON for each. A process of its own, so that jobs
 * share nothing and a mutant can be put in place before anything is loaded.
 */
import { parseArgs } from "node:util";
import { registerMutant } from "../support/mutation.ts";
import { SIM_MUTANTS } from "./mutants.ts";

const { values } = parseArgs({
  options: {
    from: { type: "string", default: "1" },
    count: { type: "string", default: "1" },
    stride: { type: "string", default: "1" },
    n: { type: "string" },
    ed25519: { type: "boolean", default: false },
    mutant: { type: "string" },
    "until-violation": { type: "boolean", default: false },
  },
});

const mutant = SIM_MUTANTS.find(({ name }) => name === values.mutant);
if (values.mutant !== undefined && mutant === undefined) {
  throw new Error(`no such mutant: ${values.mutant}`);
}
const registration = mutant === undefined ? undefined : registerMutant(mutant);
const { runSeed } = await import("./run-seed.ts");
registration?.assertApplied();

const options = {
  isEd25519: values.ed25519,
  ...(values.n === undefined ? {} : { replicaCount: Number(values.n) }),
};
for (let index = 0; index < Number(values.count); index++) {
  const seed = Number(values.from) + index * Number(values.stride);
  const outcome = runSeed(seed, options);
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
  if (outcome.violation !== undefined && values["until-violation"]) break;
}
