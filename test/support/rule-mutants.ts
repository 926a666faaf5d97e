/**
 * Rules that both the simulator and the model checker must see broken: one patch of the product for
 * the two of them.
 */
import type { Mutant } from "./mutation.ts";

const CHOOSE = "src/consensus/safety/base-selection.ts";
const VOTE_RULE = "src/consensus/safety/safety-rules.ts";

export type RuleMutantName = keyof typeof RULE_MUTANTS;

export const RULE_MUTANTS = {
  "no-vote-reports": {
    rule: "§6.3: votes of f+1 reports count",
    file: CHOOSE,
    find: "highestSupported(eligible, weak)",
    replace: "highestSupported([], weak)",
  },
  "votes-beat-a-certificate": {
    rule: "§6.3: votes older than the highest certificate do not count",
    file: CHOOSE,
    find: "if (report.votedView > certified.view) return true;",
    replace: "if (report.votedView >= 0) return true;",
  },
  "only-highest-view-votes": {
    rule: "§6.3: all younger votes count, not only those of the highest view",
    file: CHOOSE,
    find: "if (chain !== undefined && isEligible(",
    replace:
      "const newest = Math.max(...reports.map(({ votedView }) => votedView));\n" +
      "if (chain !== undefined && report.votedView === newest && isEligible(",
  },
  "equal-view-off-chain": {
    rule: "§6.3: votes of the certificate's own view count only on its chain",
    file: CHOOSE,
    find: "(isBelowEveryChain || contains(chain, certified.block))",
    replace: "(isBelowEveryChain || chain.length > 0)",
  },
  "equal-view-never": {
    rule: "§6.3: votes of the certificate's own view count on its chain",
    file: CHOOSE,
    find: "report.votedView === certified.view && (",
    replace: "report.votedView > certified.view && (",
  },
  "support-of-one": {
    rule: "§6.3: f+1 reports support a block, not one",
    file: CHOOSE,
    find: "highestSupported(eligible, weak)",
    replace: "highestSupported(eligible, 1)",
  },
  "support-of-all": {
    rule: "§6.3: f+1 reports support a block, not 2f+1",
    file: CHOOSE,
    find: "highestSupported(eligible, weak)",
    replace: "highestSupported(eligible, weak + 1)",
  },
  "fast-quorum-too-small": {
    rule: "§5.6: the fast path takes all n votes",
    file: VOTE_RULE,
    find: "return count >= quorum.replicaCount;",
    replace: "return count >= quorum.replicaCount - 1;",
  },
  "quorum-too-small": {
    rule: "§1: certificates take 2f+1 signatures",
    file: VOTE_RULE,
    find: "return count >= quorum.quorum;",
    replace: "return count >= quorum.quorum - 1;",
  },
  "acceptance-forgotten-on-restart": {
    rule: "§5.4: who voted in a view stays with its NewView after a restart",
    file: VOTE_RULE,
    find: "return view === 0 || votedView === view;",
    replace: "return view === 0;",
  },
} as const satisfies Readonly<Record<string, Omit<Mutant, "name">>>;
