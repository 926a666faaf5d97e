/**
 * One real replica, driven by hand: the test plays its disk, its clock and its three peers. Hashes
 * are real; signatures are empty, because the core never looks at them.
 */
import { sha256 } from "../../src/crypto/sha256.ts";
import type {
  Block,
  Body,
  Hash,
  Header,
  ReplicaIndex,
  Transaction,
} from "../../src/consensus/block.ts";
import { bodySize } from "../../src/consensus/block.ts";
import type { Effect, Input } from "../../src/consensus/effect.ts";
import type { LogRecord } from "../../src/consensus/log-record.ts";
import type { Commit, Message, Propose, Vote } from "../../src/consensus/message.ts";
import { DEFAULT_PARAMETERS, type Parameters } from "../../src/consensus/parameters.ts";
import { Replica } from "../../src/consensus/replica.ts";
import type { RejectionCode } from "../../src/consensus/rejection.ts";
import type { Start } from "../../src/consensus/recovery/start.ts";
import { createTransaction } from "../../src/wire/block-codec.ts";
import { bytesToHash, ZERO_HASH_TEXT } from "../../src/wire/hash-text.ts";
import { createPorts } from "../../src/wire/ports.ts";
import { plainHeader } from "./plain-header.ts";

export const NO_SIGNATURE = new Uint8Array(64);
export const WALL_START_MS = 1_700_000_000_000;

const net = sha256(Uint8Array.of(7));
const ports = createPorts({ net, signer: { sign: () => NO_SIGNATURE } });

export const GENESIS: Header = plainHeader({ timestampMs: 1 });
export const GENESIS_HASH: Hash = ports.hashHeader(GENESIS);

export class LoneReplica {
  readonly replica: Replica;
  readonly records: LogRecord[] = [];
  readonly self: ReplicaIndex;
  /** Whether what is appended becomes durable at once. */
  isDiskFast = true;
  /** Whether what is final is executed at once. */
  isExecutionFast = true;
  nowMs = 1_000;
  wallOffsetMs = WALL_START_MS;
  #effects: Effect[] = [];

  constructor(self: ReplicaIndex, options: Partial<Parameters> = {}) {
    this.self = self;
    const parameters: Parameters = {
      ...DEFAULT_PARAMETERS,
      replicaCount: 4,
      self,
      genesis: GENESIS,
      genesisResult: ZERO_HASH_TEXT,
      ...options,
    };
    this.replica = new Replica(parameters, ports);
  }

  start(how: Start = { kind: "bootstrap" }): this {
    this.#carryOut(this.replica.start(how, this.#clock()));
    for (let peer = 0; peer < 4; peer++) {
      if (peer !== this.self) this.step({ kind: "link", peer, isUp: true });
    }
    return this;
  }

  /** The rejection, if any; effects gather until `take` is called. */
  step(input: Input): RejectionCode | undefined {
    const { effects, rejection } = this.replica.step(input, this.#clock());
    this.#carryOut(effects);
    return rejection?.code;
  }

  receive(
    from: ReplicaIndex,
    message: Message,
    transactionsValid = true,
  ): RejectionCode | undefined {
    return this.step({ kind: "message", from, message, transactionsValid });
  }

  submit(seed: number): Transaction {
    const transaction = transactionOf(seed);
    this.step({ kind: "submit", transactions: [transaction] });
    return transaction;
  }

  pass(ms: number): void {
    const untilMs = this.nowMs + ms;
    for (let guard = 0; guard < 10_000; guard++) {
      const wakeMs = this.replica.wakeAtMs() ?? Infinity;
      if (wakeMs > untilMs) break;
      this.nowMs = Math.max(this.nowMs, wakeMs) + 0.001;
      this.step({ kind: "tick" });
    }
    this.nowMs = untilMs;
    this.step({ kind: "tick" });
  }

  /** The effects since the last call. */
  take(): readonly Effect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  /**
   * The messages of a kind among the effects since the last call; all other effects are dropped.
   */
  sent<Kind extends Message["kind"]>(kind: Kind): Extract<Message, { readonly kind: Kind }>[] {
    const sent: Extract<Message, { readonly kind: Kind }>[] = [];
    for (const effect of this.take()) {
      if (effect.kind !== "send" || effect.message.kind !== kind) continue;
      sent.push(effect.message as Extract<Message, { readonly kind: Kind }>);
    }
    return sent;
  }

  #carryOut(effects: readonly Effect[]): void {
    for (const effect of effects) {
      this.#effects.push(effect);
      if (effect.kind === "append") this.records.push(effect.record);
      if (effect.kind === "sync" && this.isDiskFast) this.step({ kind: "synced", lsn: effect.lsn });
      if (effect.kind === "finalize" && this.isExecutionFast) {
        for (const { header, hash } of effect.blocks) {
          this.step({ kind: "executed", height: header.height, result: hash });
        }
      }
    }
  }

  #clock(): { readonly nowMs: number; readonly wallMs: number } {
    return { nowMs: this.nowMs, wallMs: Math.floor(this.wallOffsetMs + this.nowMs) };
  }
}

export function transactionOf(seed: number): Transaction {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, seed);
  return createTransaction(bytes, 21_000);
}

export function blockOn(
  parent: { readonly hash: Hash; readonly header: Header },
  transactions: readonly Transaction[],
  changes: Partial<Header> & { readonly rejoin?: Body["rejoin"] } = {},
): Block {
  const { rejoin, ...headerChanges } = changes;
  const body: Body = { transactions, rejoin };
  const header: Header = {
    epoch: 0,
    height: parent.header.height + 1,
    parent: parent.hash,
    payloadHash: ports.hashBody(body),
    txCount: transactions.length,
    payloadSize: bodySize(body),
    timestampMs: Math.max(parent.header.timestampMs + 1, WALL_START_MS + 1),
    execHeight: 0,
    execResult: ZERO_HASH_TEXT,
    ...headerChanges,
  };
  return { hash: ports.hashHeader(header), header, body };
}

export const GENESIS_BLOCK = { hash: GENESIS_HASH, header: GENESIS };

export function proposeOf(sender: ReplicaIndex, view: number, block: Block): Propose {
  return {
    kind: "propose",
    epoch: block.header.epoch,
    sender,
    signature: NO_SIGNATURE,
    view,
    header: block.header,
    blockHash: block.hash,
    body: block.body,
  };
}

export function voteOf(sender: ReplicaIndex, view: number, block: Block): Vote {
  return { kind: "vote", ...ballot(sender, view, block) };
}

export function commitOf(sender: ReplicaIndex, view: number, block: Block): Commit {
  return { kind: "commit", ...ballot(sender, view, block) };
}

function ballot(sender: ReplicaIndex, view: number, block: Block): Omit<Vote, "kind"> {
  const { epoch, height } = block.header;
  return { epoch, sender, signature: NO_SIGNATURE, view, height, blockHash: block.hash };
}

export function hashOf(seed: number): Hash {
  return bytesToHash(sha256(Uint8Array.of(seed)));
}
