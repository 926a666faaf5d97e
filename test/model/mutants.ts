/**
 * The rules, each broken once. Every one of these must lead the checker to two conflicting final
 * blocks: a checker that stays silent does not watch the rule.
 */
import type { Mutant } from "../support/mutation.ts";
import { RULE_MUTANTS, type RuleMutantName } from "../support/rule-mutants.ts";
import type { BoundName, Deviation } from "./bound.ts";

const VOTE_RULE = "src/consensus/safety/safety-rules.ts";
const CERTIFICATE = "src/consensus/certificate.ts";

/** A patch of the product, or a rule of the model that stands for a part of it. */
export type ModelMutant = {
  readonly name: string;
  readonly rule: string;
  readonly bound: BoundName;
  readonly change: Omit<Mutant, "name" | "rule"> | Exclude<Deviation, "none">;
};

export const MODEL_MUTANTS: readonly ModelMutant[] = [
  ruleMutant("no-vote-reports", "bareBlocks"),
  ruleMutant("votes-beat-a-certificate", "bareViews"),
  ruleMutant("only-highest-view-votes", "bareViews"),
  ruleMutant("equal-view-off-chain", "bareBlocks"),
  ruleMutant("equal-view-never", "bareBlocks"),
  ruleMutant("support-of-one", "bareViews"),
  ruleMutant("support-of-all", "bareBlocks"),
  {
    name: "certificate-not-durable",
    rule: "§7: a certificate is durable before its Commit is sent",
    bound: "wholeViews",
    change: "certificate-not-durable",
  },
  ruleMutant("fast-quorum-too-small", "bareBlocks"),
  ruleMutant("quorum-too-small", "bareBlocks"),
  ruleMutant("acceptance-forgotten-on-restart", "smallViews"),
  {
    name: "queued-vote-unreported",
    rule: "§6.2: a report holds every appended vote, synced or not",
    bound: "bareBlocks",
    change: "queued-vote-unreported",
  },
  {
    name: "certificates-ranked-without-epoch",
    rule: "§2.4: inside an epoch, earlier certificates rank as view -1",
    bound: "bareEpochs",
    change: {
      file: CERTIFICATE,
      find: "return cert.epoch < epoch ? -1 : cert.view;",
      replace: "return cert.view;",
    },
  },
  {
    name: "boundary-ignored",
    rule: "§9.3: no vote for a block above the boundary of its epoch",
    bound: "bareEpochs",
    change: "boundary-ignored",
  },
  {
    name: "rejoin-at-once",
    rule: "§9.2: a replica that lost its disk is silent until a new epoch",
    bound: "lossBefore",
    change: "rejoin-at-once",
  },
  {
    name: "rejoin-by-foreign-nonce",
    rule: "§9.3: the boundary must carry the nonce drawn after the loss",
    bound: "lossAfter",
    change: "rejoin-by-foreign-nonce",
  },
  {
    name: "two-votes-per-height",
    rule: "§5.1: one block per height, and on the tip",
    bound: "bareBlocks",
    change: {
      file: VOTE_RULE,
      find:
        "proposal.parent === state.tip.hash &&\n" + "    proposal.height === state.tip.height + 1",
      replace: "proposal.height >= state.tip.height",
    },
  },
  {
    name: "promise-lost-on-restart",
    rule: "§6.2: the view that was promised survives a restart",
    bound: "wholeViews",
    change: "promise-lost",
  },
  {
    name: "commit-after-promise",
    rule: "§5.3: no Commit in a view that was left",
    bound: "bareViews",
    change: {
      file: VOTE_RULE,
      find: "return certificate.view === view;",
      replace: "return certificate.view <= view;",
    },
  },
  {
    name: "skip-backwards",
    rule: "§5.5: a tip never moves down to a final block",
    bound: "wholeBlocks",
    change: {
      file: VOTE_RULE,
      find: "return isAncestor(final, tip) ? tip :",
      replace: "return isAncestor(final, tip) ? final :",
    },
  },
];

/** `bound`: in which the checker looks for it. */
function ruleMutant(name: RuleMutantName, bound: BoundName): ModelMutant {
  const { rule, ...change } = RULE_MUTANTS[name];
  return { name, rule, bound, change };
}
