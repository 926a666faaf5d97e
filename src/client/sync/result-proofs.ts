/**
 * Whether the results of this node are those of the network: f+1 replicas signed the same, or a
 * final header names it, or it was matched in an earlier life of the node.
 */
import { equalBytes } from "../../base/bytes.ts";
import { CodedError } from "../../base/coded-error.ts";
import type { Hash, Header, ReplicaIndex } from "../../consensus/block.ts";
import type { ExecVote } from "../../consensus/message.ts";
import type { BlockStore } from "../../storage/block-store.ts";
import { readBlockHead } from "../../wire/block-bytes.ts";
import { bytesToHash } from "../../wire/hash-text.ts";
import type { ExecutedHeight } from "../../ledger/executed-height.ts";
import { HeaderResults } from "./header-results.ts";
import { ResultVotes, type OwnResult, type ResultVotesDependencies } from "./result-votes.ts";

export type ResultProofsOptions = {
  /** f+1. */
  readonly needed: number;
  /** How long a height waits for votes before final headers count instead. */
  readonly patienceMs: number;
};

export type ResultProofsDependencies = ResultVotesDependencies & {
  readonly blocks: Pick<BlockStore, "get">;
};

/** The votes are kept with the block: with them, others can check it. */
export type Match = { readonly by: "votes" | "header"; readonly votes: readonly ExecVote[] };

const VOTE_HEIGHTS_MAX = 1_024;

export class ResultProofs {
  readonly #blocks: Pick<BlockStore, "get">;
  readonly #votes: ResultVotes;
  readonly #headers: HeaderResults;
  #published: number;

  /** Everything up to `published` is matched. */
  constructor(
    options: ResultProofsOptions,
    dependencies: ResultProofsDependencies,
    published: number,
  ) {
    const { blocks } = dependencies;
    this.#blocks = blocks;
    const { needed, patienceMs } = options;
    this.#votes = new ResultVotes({ needed, heightsMax: VOTE_HEIGHTS_MAX }, dependencies);
    this.#votes.start(published);
    this.#published = published;
    this.#headers = new HeaderResults(
      { patienceMs },
      { headerAt: (height) => headerAt(blocks, height), now: () => performance.now() },
    );
  }

  addVote(vote: ExecVote, from: ReplicaIndex): void {
    this.#votes.add(vote, from);
  }

  /** The height that must be executed so that a header can prove what waits; 0 if none can. */
  get namedHeight(): number {
    return this.#headers.after(this.#published)?.height ?? 0;
  }

  /**
   * What proves the first of the executed heights, which is the one after the published one;
   * undefined if nothing does yet. Throws EXECUTION_DIVERGED.
   */
  match(executed: readonly ExecutedHeight[]): Match | undefined {
    const [next] = executed;
    if (next === undefined) return undefined;
    const { height, result } = next;
    // In the store it was matched before: that is as good as votes, and they are there, too.
    const known = this.#blocks.get(height, "result");
    if (known !== undefined) {
      if (!equalBytes(known, result)) throw diverged(height, bytesToHash(known));
      return { by: "votes", votes: [] };
    }
    const verdict = this.#votes.judge(ownResult(next));
    if (verdict.kind === "diverged") throw diverged(height, verdict.result);
    if (verdict.kind === "matched") return { by: "votes", votes: verdict.votes };
    return this.#isNamed(executed) ? { by: "header", votes: [] } : undefined;
  }

  onPublished(executed: ExecutedHeight, { by }: Match): void {
    this.#published = executed.height;
    this.#votes.onPublished(ownResult(executed));
    this.#headers.onPublished(by);
  }

  #isNamed(executed: readonly ExecutedHeight[]): boolean {
    const named = this.#headers.after(this.#published);
    const own = executed.find(({ height }) => height === named?.height);
    if (named === undefined || own === undefined) return false;
    if (bytesToHash(own.result) !== named.result) throw diverged(named.height, named.result);
    return true;
  }
}

/** Undefined where the block is not here yet. */
function headerAt(blocks: Pick<BlockStore, "get">, height: number): Header | undefined {
  const bytes = blocks.get(height, "block");
  return bytes === undefined ? undefined : readBlockHead(Uint8Array.from(bytes)).header;
}

function diverged(height: number, expected: Hash): CodedError {
  return new CodedError("EXECUTION_DIVERGED", { height, expected });
}

function ownResult({ height, consensusHash, result }: ExecutedHeight): OwnResult {
  return { height, blockHash: bytesToHash(consensusHash), result: bytesToHash(result) };
}
