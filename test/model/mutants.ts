/**
 * The rules, each broken once. Every one of these must lead the checker to two conflicting final
 * blocks: a checker that stays silent does not watch the rule.
 */
import type { Mutant } from "../support/mutation.ts";
import type { BoundName, Deviation } from "./bound.ts";

const CHOOSE = "src/consensus/choose.ts";
const VOTE_RULE = "src/consensus/vote-rule.ts";
const CERTIFICATE = "src/consensus/certificate.ts";

/** A patch of the product, or a rule of the model that stands for a part of it. */
export type ModelMutant = {
  readonly name: string;
  readonly rule: string;
  readonly bound: BoundName;
  readonly change: Omit<Mutant, "name" | "rule"> | Exclude<Deviation, "none">;
};

export const MODEL_MUTANTS: readonly ModelMutant[] = [
  {
    name: "no-vote-reports",
    rule: "§6.3: votes of f+1 reports count",
    bound: "bareBlocks",
    change: {
      file: CHOOSE,
      find: "highestSupported(eligible, weak)",
      replace: "highestSupported([], weak)",
    },
  },
  {
    name: "votes-beat-a-certificate",
    rule: "§6.3: votes older than the highest certificate do not count",
    bound: "bareViews",
    change: {
      file: CHOOSE,
      find: "if (report.votedView > certified.view) return true;",
      replace: "if (report.votedView >= 0) return true;",
    },
  },
  {
    name: "only-highest-view-votes",
    rule: "§6.3: all younger votes count, not only those of the highest view",
    bound: "bareViews",
    change: {
      file: CHOOSE,
      find: "if (chain !== undefined && isEligible(",
      replace:
        "const newest = Math.max(...reports.map(({ votedView }) => votedView));\n" +
        "if (chain !== undefined && report.votedView === newest && isEligible(",
    },
  },
  {
    name: "equal-view-off-chain",
    rule: "§6.3: votes of the certificate's own view count only on its chain",
    bound: "bareBlocks",
    change: {
      file: CHOOSE,
      find: "(isBelowEveryChain || contains(chain, certified.block))",
      replace: "(isBelowEveryChain || chain.length > 0)",
    },
  },
  {
    name: "equal-view-never",
    rule: "§6.3: votes of the certificate's own view count on its chain",
    bound: "bareBlocks",
    change: {
      file: CHOOSE,
      find: "report.votedView === certified.view && (",
      replace: "report.votedView > certified.view && (",
    },
  },
  {
    name: "support-of-one",
    rule: "§6.3: f+1 reports support a block, not one",
    bound: "bareViews",
    change: {
      file: CHOOSE,
      find: "highestSupported(eligible, weak)",
      replace: "highestSupported(eligible, 1)",
    },
  },
  {
    name: "support-of-all",
    rule: "§6.3: f+1 reports support a block, not 2f+1",
    bound: "bareBlocks",
    change: {
      file: CHOOSE,
      find: "highestSupported(eligible, weak)",
      replace: "highestSupported(eligible, weak + 1)",
    },
  },
  {
    name: "certificate-not-durable",
    rule: "§7: a certificate is durable before its Commit is sent",
    bound: "wholeViews",
    change: "certificate-not-durable",
  },
  {
    name: "fast-quorum-too-small",
    rule: "§5.6: the fast path takes all n votes",
    bound: "bareBlocks",
    change: {
      file: VOTE_RULE,
      find: "return count >= quorum.replicaCount;",
      replace: "return count >= quorum.replicaCount - 1;",
    },
  },
  {
    name: "quorum-too-small",
    rule: "§1: certificates take 2f+1 signatures",
    bound: "bareBlocks",
    change: {
      file: VOTE_RULE,
      find: "return count >= quorum.quorum;",
      replace: "return count >= quorum.quorum - 1;",
    },
  },
  {
    name: "acceptance-forgotten-on-restart",
    rule: "§5.4: who voted in a view stays with its NewView after a restart",
    bound: "smallViews",
    change: {
      file: VOTE_RULE,
      find: "return view === 0 || votedView === view;",
      replace: "return view === 0;",
    },
  },
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
