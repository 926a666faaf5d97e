/**
 * Watches a whole cluster and throws a Violation at the first broken safety invariant. It hears
 * everything that is appended, made durable, sent, finalized and executed, from every replica.
 */
import type { Block, BlockRef, Hash, ReplicaIndex } from "../../../src/consensus/block.ts";
import type { FinalCert } from "../../../src/consensus/certificate.ts";
import type { Core } from "../../../src/consensus/core.ts";
import type { LogRecord } from "../../../src/consensus/log-record.ts";
import type { Message, ViewChange } from "../../../src/consensus/message.ts";
import type { Parameters, Ports } from "../../../src/consensus/parameters.ts";
import { quorumOf } from "../../../src/consensus/quorum.ts";
import { reportOf } from "../../../src/consensus/view-change/view-change.ts";
import { BlockRegistry } from "./block-registry.ts";
import { signedKey } from "./durable-facts.ts";
import { FinalityLedger, type FinalPoint } from "./finality-ledger.ts";
import { GhostChoose } from "./ghost-base-selection.ts";
import { SignedHistory } from "./signed-history.ts";
import { parseTransaction } from "../toy-transaction.ts";
import { Violation } from "./violation.ts";

/** How much the checkers remember below the final height, in long runs. */
const MEMORY_HEIGHTS = 400;

export class SafetyChecker {
  readonly registry: BlockRegistry;
  readonly ledger: FinalityLedger;
  readonly ghost: GhostChoose;
  readonly histories: readonly SignedHistory[];
  readonly #byzantine: ReadonlySet<number>;
  readonly #parameters: Parameters;
  readonly #ports: Pick<Ports, "hashHeader">;
  /** By height: what correct replicas took as final, and what executing it gave. */
  readonly #finalized = new Map<number, Block>();
  readonly #results = new Map<number, Hash>();
  readonly #boundaries = new Map<number, BlockRef>();
  #highestFinalized = 0;
  /** Called when a block becomes final by the messages sent, whether anyone noticed or not. */
  onFinal: (point: FinalPoint) => void = () => undefined;
  /** The most any correct wall clock ever ran ahead of virtual time. */
  clockAheadMaxMs = 0;

  constructor(
    options: { readonly parameters: Parameters; readonly byzantine: ReadonlySet<number> },
    ports: Pick<Ports, "hashHeader">,
  ) {
    const { parameters, byzantine } = options;
    const quorum = quorumOf(parameters.replicaCount);
    this.#parameters = parameters;
    this.#ports = ports;
    this.#byzantine = byzantine;
    this.registry = new BlockRegistry(parameters.genesis, (header) => ports.hashHeader(header));
    const genesisHash = ports.hashHeader(parameters.genesis);
    this.#boundaries.set(0, { height: 0, hash: genesisHash });
    this.ledger = new FinalityLedger(
      { quorum, byzantine },
      {
        registry: this.registry,
        genesisHash,
        onFinal: (point) => {
          this.ghost.onFinal(point);
          this.onFinal(point);
        },
      },
    );
    this.ghost = new GhostChoose(
      { quorum, byzantine },
      {
        registry: this.registry,
        ledger: () => this.ledger,
        reportOf: (message) => this.#reportOf(message),
      },
    );
    this.histories = Array.from(
      { length: parameters.replicaCount },
      (_, index) => new SignedHistory(index, this.registry),
    );
  }

  onAppend(replica: ReplicaIndex, record: LogRecord, sequence: number): void {
    this.#learnBlocks(record);
    if (this.#byzantine.has(replica)) return;
    const history = this.histories[replica]!;
    history.facts.append(record, sequence);
    if (record.kind === "epoch") {
      history.onEpoch(record.epoch);
      const hash = this.registry.addHeader(record.boundary.header);
      const known = this.#boundaries.get(record.epoch);
      if (known !== undefined && known.hash !== hash) {
        throw new Violation("S1", `two boundaries of epoch ${record.epoch}`);
      }
      this.#boundaries.set(record.epoch, { height: record.boundary.header.height, hash });
    }
  }

  /** A message leaves, to one peer or to all. `finalHeight` is that of its sender. */
  onSend(replica: ReplicaIndex, message: Message, finalHeight: number): void {
    if (message.kind === "propose") this.registry.addHeader(message.header);
    if (!this.#byzantine.has(replica)) this.histories[replica]!.onSend(message, finalHeight);
    const isOwn = "sender" in message && message.sender === replica;
    if (message.kind === "vote" && isOwn) this.ledger.onVote(message);
    if (message.kind === "commit" && isOwn) this.ledger.onCommit(message);
    if (message.kind === "viewChange" && isOwn && this.#isTold(message)) {
      this.ghost.onViewChange(message);
    }
    if (message.kind === "execVote" && !this.#byzantine.has(replica)) {
      this.#checkFinal(message.height, message.blockHash, replica);
    }
  }

  /** After the step that finalized: its own votes have been sent by then. */
  onFinalized(
    replica: ReplicaIndex,
    blocks: readonly Block[],
    certificate: FinalCert,
    nowMs: number,
  ): void {
    if (this.#byzantine.has(replica)) return;
    this.#countOwn(replica, certificate);
    for (const block of blocks) {
      this.#checkFinal(block.header.height, block.hash, replica);
      this.#adopt(block, nowMs);
    }
    this.#checkFinal(certificate.height, certificate.blockHash, replica);
  }

  onExecuted(replica: ReplicaIndex, height: number, result: Hash): void {
    const known = this.#results.get(height);
    if (known === undefined) this.#results.set(height, result);
    else if (known !== result) {
      throw new Violation("S6", `replica ${replica} computed another result at ${height}`);
    }
  }

  /** S5 and S12: what a client was shown must be true, and stay true. */
  onAcknowledged(claim: {
    readonly height: number;
    readonly blockHash: Hash;
    readonly id: Hash;
  }): void {
    const block = this.#finalized.get(claim.height);
    const isThere =
      block?.hash === claim.blockHash && block.body.transactions.some(({ id }) => id === claim.id);
    if (!isThere) throw new Violation("S12", `a client was shown a wrong block at ${claim.height}`);
  }

  finalizedAt(height: number): Block | undefined {
    return this.#finalized.get(height);
  }

  highestFinalized(): number {
    return this.#highestFinalized;
  }

  /**
   * A Byzantine replica's own replica may hold the certificate of a block before the correct ones
   * do.
   */
  onCatchingUp(replica: ReplicaIndex, toHeight: number): void {
    const isByzantine = this.#byzantine.has(replica);
    if (isByzantine || toHeight <= this.#highestFinalized + 2 * this.#parameters.window) return;
    const text = `replica ${replica} catches up to ${toHeight}, which was never final`;
    throw new Violation("S13", text);
  }

  /** Keeps the checkers' memory constant in long runs. */
  forgetOld(): void {
    const below = this.#highestFinalized - MEMORY_HEIGHTS;
    this.registry.forgetBelow(below);
    this.ledger.forgetBelow(below);
    for (const history of this.histories) history.forgetBelow(below);
    for (const map of [this.#finalized, this.#results]) {
      for (const height of map.keys()) if (height < below) map.delete(height);
    }
  }

  /** Its own durable ballot counts for a replica even if it crashed before sending it. */
  #countOwn(replica: ReplicaIndex, certificate: FinalCert): void {
    const { epoch, view } = certificate;
    const { facts } = this.histories[replica]!;
    if (certificate.kind === "fast") {
      const { height, blockHash } = certificate;
      const vote = { kind: "vote", epoch, view, height, blockHash } as const;
      const own = certificate.votes.find(({ sender }) => sender === replica);
      if (own !== undefined && facts.has("vote", signedKey(vote))) {
        this.ledger.onVote({ ...vote, ...own });
      }
    } else if (certificate.kind === "slow") {
      const own = certificate.commits.find(({ sender }) => sender === replica);
      if (own === undefined) return;
      const { height, hash: blockHash, sender, signature } = own;
      const commit = { kind: "commit", epoch, view, height, blockHash, sender, signature } as const;
      if (facts.has("certificate", signedKey(commit))) this.ledger.onCommit(commit);
    }
  }

  #checkFinal(height: number, hash: Hash, replica: ReplicaIndex): void {
    const known = this.ledger.finalHash(height);
    if (known === hash) return;
    if (known === undefined && height <= this.ledger.finalHeight()) return;
    const what = known === undefined ? "no certificate was ever possible" : `final is ${known}`;
    throw new Violation("S1", `replica ${replica} finalized ${hash} at ${height}, but ${what}`);
  }

  #adopt(block: Block, nowMs: number): void {
    const { height, timestampMs } = block.header;
    if (this.#finalized.has(height)) return;
    this.#finalized.set(height, block);
    this.#highestFinalized = Math.max(this.#highestFinalized, height);
    const parent = this.registry.header(block.header.parent);
    if (parent !== undefined && timestampMs <= parent.timestampMs) {
      throw new Violation("S8", `block ${height} is not later than its parent`);
    }
    const latestMs = nowMs + this.clockAheadMaxMs + this.#parameters.timing.clockAheadMaxMs;
    if (timestampMs > latestMs) {
      throw new Violation("S8", `block ${height} lies ${timestampMs - latestMs} ms in the future`);
    }
    const ids = new Set<Hash>();
    for (const { id, bytes } of block.body.transactions) {
      if (ids.has(id)) throw new Violation("S7", `block ${height} holds ${id} twice`);
      ids.add(id);
      if (parseTransaction(bytes) === undefined) {
        throw new Violation("S8", `block ${height} holds a transaction without a valid signature`);
      }
    }
  }

  /** A Byzantine replica may name an epoch that has not begun: correct replicas ignore it. */
  #isTold(message: ViewChange): boolean {
    return !this.#byzantine.has(message.sender) || this.#boundaries.has(message.epoch);
  }

  #reportOf(message: ViewChange): ReturnType<typeof reportOf> {
    const boundary = this.#boundaries.get(message.epoch);
    if (boundary === undefined) return undefined;
    // The part of a replica's state that decides whether a view change is valid.
    const core = {
      epoch: message.epoch,
      boundary: { link: boundary },
      parameters: this.#parameters,
      ports: this.#ports,
    } as unknown as Core;
    return reportOf(core, message);
  }

  #learnBlocks(record: LogRecord): void {
    if (record.kind === "block") this.registry.addHeader(record.block.header);
    if (record.kind === "snapshot") {
      for (const block of record.blocks) this.registry.addHeader(block.header);
    }
  }
}
