/**
 * Production code with one promise broken each, and the fast tests that must notice it. Files that
 * move take their mutant along: a snippet that is not found is an error, not a pass.
 */
import type { Mutant } from "../support/mutation.ts";

export type ProductionMutant = Mutant & {
  /** Test files from the root of the project; one of them must fail. */
  readonly tests: readonly string[];
};

const STORAGE = ["test/unit/storage/durability.test.ts", "test/unit/storage/wal.test.ts"];
const POOL = ["test/unit/txpool/tx-pool.test.ts", "test/unit/txpool/tx-pool-model.test.ts"];
const FRAMING = ["test/unit/transport/framing.test.ts"];
const RECOVERY = ["test/unit/consensus/recovery.test.ts"];
const CENSORSHIP = ["test/unit/consensus/censorship.test.ts"];

export const PRODUCTION_MUTANTS: readonly ProductionMutant[] = [
  {
    name: "segment-name-not-durable",
    rule: "the name of a segment is durable before records rely on it",
    file: "src/storage/wal-segment.ts",
    find: "  await sync.directory(directory);\n  return { ...draft",
    replace: "  return { ...draft",
    tests: STORAGE,
  },
  {
    name: "recovered-tail-not-synced",
    rule: "what a recovery read is durable before anything is said on its strength",
    file: "src/storage/wal-recovery.ts",
    find: "if (last !== undefined) syncFile(last.path, sync);",
    replace: "void last;",
    tests: STORAGE,
  },
  {
    name: "bootstrap-despite-blocks",
    rule: "a replica with blocks or a state is never new",
    file: "src/replica/start-mode.ts",
    find: 'startMode === "bootstrap" && isNew',
    replace: 'startMode === "bootstrap"',
    tests: ["test/unit/replica/start-mode.test.ts"],
  },
  {
    name: "diverged-replica-signs",
    rule: "a replica whose results are contradicted signs none",
    file: "src/replica/result-signer.ts",
    find: 'if (mode() !== "active") return undefined;',
    replace: "void mode;",
    tests: ["test/unit/replica/result-signer.test.ts"],
  },
  {
    name: "gap-between-segments-accepted",
    rule: "a gap between two segments is damage",
    file: "src/storage/wal-recovery.ts",
    find: "if (end !== undefined && head.lsn !== end.lsn) throw corrupt(end, repair);",
    replace: "",
    tests: STORAGE,
  },
  {
    name: "durable-loss-cut-as-tail",
    rule: "a missing record that was durable is damage, not a tail",
    file: "src/storage/wal-recovery.ts",
    find: "if (read.durableLsn >= end.lsn) throw corrupt(end, repair);",
    replace: "",
    tests: STORAGE,
  },
  {
    name: "foreign-segment-read",
    rule: "records of another segment never parse",
    file: "src/storage/wal-recovery.ts",
    find: "!isOfSegment(record, head) || ",
    replace: "",
    tests: STORAGE,
  },
  {
    name: "height-mark-overwrites-itself",
    rule: "the first write goes to the other place",
    file: "src/storage/height-mark.ts",
    find: "this.#writeCount = place + 1;",
    replace: "this.#writeCount = place;",
    tests: ["test/unit/storage/height-mark.test.ts"],
  },
  {
    name: "frame-size-unchecked",
    rule: "a frame above the limit ends the link",
    file: "src/transport/frame-reader.ts",
    find: 'if (word > this.#frameSizeMax) return "LINK_FRAME_TOO_LARGE";',
    replace: "",
    tests: FRAMING,
  },
  {
    name: "frame-memory-by-claim",
    rule: "memory follows what arrived, not what a header claims",
    file: "src/transport/frame-reader.ts",
    find: "Buffer.allocUnsafeSlow(Math.min(word, FIRST_RESERVE))",
    replace: "Buffer.allocUnsafeSlow(word)",
    tests: FRAMING,
  },
  {
    name: "frame-queue-size-grows",
    rule: "bytes that were taken no longer wait",
    file: "src/transport/frame-queue.ts",
    find: "this.#size -= size;",
    replace: "",
    tests: FRAMING,
  },
  {
    name: "partial-frame-not-copied",
    rule: "a growing buffer keeps what was read",
    file: "src/transport/frame-reader.ts",
    find: "larger.set(held.subarray(0, this.#filled));",
    replace: "",
    tests: FRAMING,
  },
  {
    name: "penalty-does-not-grow",
    rule: "the pause of a peer that goes on doubles",
    file: "src/replica/peers/peer-penalties.ts",
    find: "Math.min(PAUSE_MAX_MS, 2 * record.pauseMs)",
    replace: "PAUSE_MIN_MS",
    tests: ["test/unit/replica/peer-guard.test.ts"],
  },
  {
    name: "penalty-never-due",
    rule: "a peer that sends forged signatures is cut off",
    file: "src/replica/peers/peer-penalties.ts",
    find: "if (record.count <= TOLERATED) return undefined;",
    replace: "if (record.count > 0) return undefined;",
    tests: ["test/unit/replica/peer-guard.test.ts"],
  },
  {
    name: "run-beyond-the-balance",
    rule: "a run is executable as far as the balance pays for it",
    file: "src/txpool/sender-queue.ts",
    find: "return nonce === this.#runEnd && this.#runCost + cost <= this.#balance;",
    replace: "return nonce === this.#runEnd;",
    tests: POOL,
  },
  {
    name: "source-books-keep-bytes",
    rule: "what leaves the pool is taken off its source",
    file: "src/txpool/source-books.ts",
    find: "    entry.count--;\n    entry.bytes -= size;",
    replace: "    entry.count--;",
    tests: POOL,
  },
  {
    name: "queue-bytes-never-freed",
    rule: "what is queued no longer frees its share",
    file: "src/txpool/source-books.ts",
    find: "    this.#queuedBytes -= size;\n",
    replace: "",
    tests: POOL,
  },
  {
    name: "free-gas-replaces",
    rule: "where gas is free nothing takes another's place",
    file: "src/txpool/price-rules.ts",
    find: 'if (fees === undefined) return { code: "TX_NONCE_TAKEN" };',
    replace: "if (fees === undefined) return undefined;",
    tests: POOL,
  },
  {
    name: "nonce-from-a-copy",
    rule: "an observer joins by a nonce that its own process drew",
    file: "src/consensus/recovery/replay.ts",
    find: "    core.rejoinNonce = nonce;\n",
    replace: "",
    tests: RECOVERY,
  },
  {
    name: "one-answer-vouches",
    rule: "a log is vouched for by 2f peers",
    file: "src/consensus/recovery/recovery.ts",
    find: ": 2 * core.quorum.faultsMax;",
    replace: ": core.quorum.faultsMax;",
    tests: RECOVERY,
  },
  {
    name: "forgotten-vote-ignored",
    rule: "a vote that the log does not know proves a rollback",
    file: "src/consensus/recovery/recovery.ts",
    find: "    isForgottenVote(core, message.vote) ||\n",
    replace: "",
    tests: RECOVERY,
  },
  {
    name: "overtaken-allowed",
    rule: "a leader does not propose what came much later first",
    file: "src/consensus/view-change/censorship.ts",
    find: "const isOvertaken = arrivedMs + requestMs < youngestMs;",
    replace: "const isOvertaken = arrivedMs === Infinity;",
    tests: CENSORSHIP,
  },
  {
    name: "room-ignored",
    rule: "a leader that has room leaves nothing out",
    file: "src/consensus/view-change/censorship.ts",
    find: "isOvertaken || forwardedMs + requestMs <= roomyAtMs;",
    replace: "isOvertaken || roomyAtMs === Infinity;",
    tests: CENSORSHIP,
  },
  {
    name: "crowding-allowed",
    rule: "full blocks of its own transactions do not excuse a leader",
    file: "src/consensus/view-change/censorship.ts",
    find: "return 2 * (unknownGas - orderedAtForward.unknownGas) > ordered;",
    replace: "return unknownGas < ordered - ordered;",
    tests: CENSORSHIP,
  },
  {
    name: "complaint-never-ends",
    rule: "a complaint is a lease",
    file: "src/consensus/view-change/view-complaint.ts",
    find: "const LEASE_RESENDS = 2.5;",
    replace: "const LEASE_RESENDS = 10_000;",
    tests: ["test/unit/consensus/view-change.test.ts"],
  },
  {
    name: "withdrawal-by-others",
    rule: "a withdrawal counts over its sender's own link",
    file: "src/consensus/view-change/view-complaint.ts",
    find: "} else if (from === message.sender) {",
    replace: "} else if (from >= 0) {",
    tests: ["test/unit/consensus/view-change.test.ts"],
  },
];
