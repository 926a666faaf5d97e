/**
 * Client nodes at this replica: their transactions, their questions, and the stream of final blocks
 * and results that each of them follows. A stream is a position in the block store, not a queue: a
 * slow client falls behind and is given the rest when it has taken what was sent.
 */
import type { ExecVote } from "../../consensus/message.ts";
import {
  CLIENT_CHANNEL,
  decodeClientMessage,
  encodeClientMessage,
  finalBlockParts,
  type ClientRequest,
  type ReplicaAnswer,
  type ReplicaReport,
} from "../../wire/client-codec.ts";
import type { Principal } from "../../transport/principal.ts";
import type { FinalBlocks } from "../final-blocks.ts";

export type SessionDependencies = {
  readonly blocks: FinalBlocks;
  /** How far this replica has executed. */
  readonly execHeight: () => number;
  readonly links: {
    /** The frame was queued; false if the client must take some of what waits first. */
    send(client: Principal, parts: readonly Uint8Array[]): boolean;
  };
  readonly transactions: {
    submit(client: Principal, transactions: readonly Uint8Array[]): void;
  };
  readonly reporter: { report(nonce: number): ReplicaReport };
  /** Our signed result; undefined while this replica must not sign any. */
  readonly signResult: (vote: Omit<ExecVote, "sender" | "signature">) => ExecVote | undefined;
  readonly router: { onRefused(client: Principal, code: string): void };
};

type Session = {
  readonly client: Principal;
  /** The next block and the next result to send; undefined before `follow`. */
  stream: { nextBlock: number; nextVote: number } | undefined;
  /** Blocks that were asked for once. */
  pull: { next: number; readonly last: number } | undefined;
  isScheduled: boolean;
};

const CHANNEL = Uint8Array.of(CLIENT_CHANNEL);
/** Then other work gets its turn: a client that is far behind is served in slices. */
const BLOCKS_PER_TURN = 32;
const PULL_BLOCKS_MAX = 1_024;
const RETRY_MS = 200;

export class ClientSessions {
  readonly #dependencies: SessionDependencies;
  readonly #sessions = new Map<Principal, Session>();
  #retry: NodeJS.Timeout | undefined;

  constructor(dependencies: SessionDependencies) {
    this.#dependencies = dependencies;
  }

  onUp(client: Principal): void {
    const session = { client, stream: undefined, pull: undefined, isScheduled: false };
    this.#sessions.set(client, session);
  }

  onDown(client: Principal): void {
    this.#sessions.delete(client);
  }

  onDrain(client: Principal): void {
    const session = this.#sessions.get(client);
    if (session !== undefined) this.#advance(session);
  }

  close(): void {
    clearTimeout(this.#retry);
    this.#sessions.clear();
  }

  /** Blocks became final or were executed. */
  onProgress(): void {
    for (const session of this.#sessions.values()) this.#advance(session);
  }

  /** The bytes of one message, without the channel. */
  onFrame(client: Principal, bytes: Uint8Array): void {
    const session = this.#sessions.get(client);
    const decoded = decodeClientMessage(bytes);
    if (!decoded.ok) this.#dependencies.router.onRefused(client, decoded.error.code);
    else if (session !== undefined && isRequest(decoded.value)) {
      this.#handle(session, decoded.value);
    } else this.#dependencies.router.onRefused(client, "MESSAGE_UNWANTED");
  }

  answer(client: Principal, answer: ReplicaAnswer): boolean {
    return this.#dependencies.links.send(client, [CHANNEL, encodeClientMessage(answer)]);
  }

  #handle(session: Session, request: ClientRequest): void {
    switch (request.kind) {
      case "submit":
        this.#dependencies.transactions.submit(session.client, request.transactions);
        return;
      case "follow": {
        const from = Math.max(1, request.fromHeight);
        session.stream = { nextBlock: from, nextVote: from };
        this.#advance(session);
        return;
      }
      case "statusRequest":
        this.answer(session.client, this.#dependencies.reporter.report(request.nonce));
        return;
      case "blocksRequest": {
        const next = Math.max(1, request.fromHeight);
        session.pull = { next, last: Math.min(request.toHeight, next + PULL_BLOCKS_MAX - 1) };
        this.#advance(session);
      }
    }
  }

  #advance(session: Session): void {
    if (session.isScheduled) return;
    let left = BLOCKS_PER_TURN;
    for (; left > 0; left--) if (!this.#sendNext(session)) return;
    session.isScheduled = true;
    setImmediate(() => {
      session.isScheduled = false;
      if (this.#sessions.get(session.client) === session) this.#advance(session);
    });
  }

  /** Whether something was sent. */
  #sendNext(session: Session): boolean {
    const { stream, pull, client } = session;
    if (stream !== undefined) {
      // Results follow their blocks closely, so that a client can publish what it has executed.
      if (stream.nextVote < stream.nextBlock && this.#sendVote(client, stream.nextVote)) {
        stream.nextVote++;
        return true;
      }
      if (this.#sendBlock(client, stream.nextBlock)) {
        stream.nextBlock++;
        return true;
      }
    }
    if (pull === undefined || !this.#sendBlock(client, pull.next)) return false;
    // Without its proof a block is worth nothing: the last one is followed up to the next that has.
    const isProved = this.#dependencies.blocks.certificate(pull.next) !== undefined;
    if (pull.next >= pull.last && isProved) session.pull = undefined;
    pull.next++;
    return true;
  }

  /** A replica that starts takes part a moment later, and nothing else may happen then. */
  #retryLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      this.onProgress();
    }, RETRY_MS).unref();
  }

  #sendBlock(client: Principal, height: number): boolean {
    const { blocks, links } = this.#dependencies;
    if (height > blocks.latestHeight) return false;
    const block = blocks.block(height);
    if (block === undefined) return false;
    return links.send(client, [CHANNEL, ...finalBlockParts(block, blocks.certificate(height))]);
  }

  /** Whether the result of this height is dealt with. */
  #sendVote(client: Principal, height: number): boolean {
    const { blocks, signResult, execHeight } = this.#dependencies;
    if (height > execHeight()) return false;
    const claim = blocks.executionClaim(height);
    // A result that is not here, because a crash took it or the state is another replica's, is
    // passed over: the other replicas have theirs.
    if (claim === undefined) return true;
    const vote = signResult(claim);
    if (vote !== undefined) return this.answer(client, { kind: "execVote", vote });
    this.#retryLater();
    return false;
  }
}

function isRequest(message: ClientRequest | ReplicaAnswer): message is ClientRequest {
  switch (message.kind) {
    case "submit":
    case "follow":
    case "statusRequest":
    case "blocksRequest":
      return true;
    case "finalBlock":
    case "execVote":
    case "refused":
    case "status":
      return false;
  }
}
