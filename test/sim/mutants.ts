/**
 * The protocol with one rule broken each. The simulator must find every one of them: a checker that
 * stays silent does not watch the rule. Those that it cannot meet are refuted by `npm run model`.
 */
import type { Mutant } from "../support/mutation.ts";
import { RULE_MUTANTS } from "../support/rule-mutants.ts";

const STARTING = "src/consensus/recovery/recovery.ts";

export const SIM_MUTANTS: readonly Mutant[] = [
  ...Object.entries(RULE_MUTANTS).map(([name, mutant]) => ({ name, ...mutant })),
  {
    name: "certificate-not-durable",
    rule: "a certificate is durable before its Commit is sent",
    file: "src/consensus/agreement/committer.ts",
    find: 'sendAfterSync(core, "all", ownCommit(core, certificate));',
    replace:
      'core.effects.push({ kind: "send", to: "all", message: ownCommit(core, certificate) });',
  },
  {
    name: "vote-not-durable",
    rule: "a vote is durable before it is sent",
    file: "src/consensus/agreement/voter.ts",
    find: 'sendAfterSync(core, "all", vote);',
    replace: 'core.effects.push({ kind: "send", to: "all", message: vote });',
  },
  {
    name: "second-vote-overwrites-the-first",
    rule: "one vote per sender and height, the first",
    file: "src/consensus/agreement/ballots.ts",
    find: 'return first.blockHash === ballot.blockHash ? "same" : { first };\n  }\n\n  /** The heights',
    replace: 'bySender.set(ballot.sender, ballot);\n    return "new";\n  }\n\n  /** The heights',
  },
  {
    name: "promise-lost-on-restart",
    rule: "the view is a promise that outlives the process",
    file: "src/consensus/recovery/replay.ts",
    find: "core.view = record.view;",
    replace: "core.view = core.votedView < 0 ? 0 : core.votedView;",
  },
  {
    name: "queued-vote-unreported",
    rule: "a report holds every appended vote, synced or not",
    file: "src/consensus/view-change/view-change.ts",
    find: "headersTo(core, core.votedTip.hash);",
    replace: "headersTo(core, core.votedTip.hash).slice(0, -1);",
  },
  {
    name: "rejoin-at-once",
    rule: "who lost its log is silent until an epoch knows its nonce",
    file: STARTING,
    find: 'core.mode = "observer";\n  core.rejoinNonce = nonce;',
    replace: "becomeActive(core);\n  core.rejoinNonce = nonce;",
  },
  {
    name: "nonce-from-a-copy",
    rule: "an observer joins by a nonce that its own process drew",
    file: "src/consensus/recovery/replay.ts",
    find: "    core.rejoinNonce = nonce;\n",
    replace: "",
  },
  {
    name: "restarted-leader-goes-on",
    rule: "a restarted leader does not propose in the view it restarts in",
    file: STARTING,
    find: "stepDown(core);\n}",
    replace: "core.mayLead = true;\n}",
  },
  {
    name: "own-vote-counts-at-once",
    rule: "our own vote counts once it is durable",
    file: "src/consensus/agreement/voter.ts",
    find: 'sendAfterSync(core, "all", vote);',
    replace: 'core.ballots.add(vote);\n  sendAfterSync(core, "all", vote);',
  },
  {
    name: "body-of-another-block",
    rule: "a block is kept only under its own hash",
    file: "src/consensus/agreement/voter.ts",
    find: 'if (fault === "PROPOSAL_HASH_MISMATCH") {',
    replace: 'if (fault === "PROPOSAL_AFTER_BOUNDARY") {',
  },
  {
    name: "one-status-believed",
    rule: "a height counts as final when f+1 report it, not one",
    file: "src/consensus/recovery/catch-up.ts",
    find: "reported[quorum.weak - 1]",
    replace: "reported[0]",
  },
  {
    name: "view-change-not-durable",
    rule: "a view is durable before its ViewChange is sent",
    file: "src/consensus/view-change/view-entry.ts",
    find: 'if (change !== undefined) sendAfterSync(core, "all", change);',
    replace:
      'if (change !== undefined) core.effects.push({ kind: "send", to: "all", message: change });',
  },
];

/**
 * Histories that chance hardly draws: a rule of the choice that only shows after two failed views
 * with just the right votes, or a restart between two NewViews of a Byzantine replica. The model
 * checker walks all of them and has a mutant of the same name.
 */
export const REFUTED_BY_MODEL: ReadonlySet<string> = new Set([
  "votes-beat-a-certificate",
  "only-highest-view-votes",
  "equal-view-off-chain",
  "support-of-one",
  "acceptance-forgotten-on-restart",
]);
