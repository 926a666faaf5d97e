/**
 * Frames of the other replicas on their way to the core: decoded, authenticated, their transactions
 * checked. The frames of one peer keep their order; while a large body is checked in slices, the
 * rest of that peer waits and its link is held, so that one peer cannot stop the others or fill the
 * memory.
 */
import { err, type Result } from "../../base/result.ts";
import type { ReplicaIndex, Transaction } from "../../consensus/block.ts";
import type { Message } from "../../consensus/message.ts";
import type { PeerMessageAuthenticator } from "../../wire/authenticate.ts";
import {
  BLOCK_RESPONSE_TYPE,
  BODY_RESPONSE_TYPE,
  decodeMessage,
} from "../../wire/message-codec.ts";
import type { CheckedTransactions } from "../transactions/checked-transactions.ts";

export type InboxDependencies = {
  readonly authenticator: PeerMessageAuthenticator;
  readonly checked: CheckedTransactions;
  readonly receiver: MessageReceiver;
  readonly links: {
    /** Stops reading from a peer, or goes on. */
    hold(from: ReplicaIndex, isHeld: boolean): void;
  };
};

export type MessageReceiver = {
  onMessage(from: ReplicaIndex, message: Message, transactionsValid: boolean): void;
  onRefused(from: ReplicaIndex, code: string): void;
};

/** What a peer may still answer: a correct peer sends large messages only when asked. */
type Awaited = { bodies: number; blocks: number };

/** About 5 ms of signature recovery; then others get their turn. */
const CHECKS_PER_TURN = 64;
const AWAITED_BODIES_MAX = 64;
const AWAITED_BLOCKS_MAX = 4;
const TYPE_OFFSET = 1;

export class PeerInbox {
  readonly #dependencies: InboxDependencies;
  readonly #waiting = new Map<ReplicaIndex, Uint8Array[]>();
  readonly #awaited = new Map<ReplicaIndex, Awaited>();
  #isClosed = false;

  constructor(dependencies: InboxDependencies) {
    this.#dependencies = dependencies;
  }

  /** The bytes of one message, without the channel. */
  onFrame(from: ReplicaIndex, bytes: Uint8Array): void {
    const waiting = this.#waiting.get(from);
    if (waiting === undefined) this.#handle(from, bytes);
    else waiting.push(bytes);
  }

  /** What we ask for is what we accept. */
  noteSent(to: ReplicaIndex | "all", message: Message): void {
    if (to === "all") return;
    if (message.kind === "bodyRequest") {
      const awaited = this.#awaitedOf(to);
      awaited.bodies = Math.min(AWAITED_BODIES_MAX, awaited.bodies + message.hashes.length);
    } else if (message.kind === "blockRequest") {
      const awaited = this.#awaitedOf(to);
      awaited.blocks = Math.min(AWAITED_BLOCKS_MAX, awaited.blocks + 1);
    }
  }

  /** What is on its way from a broken link will not come. */
  onDown(from: ReplicaIndex): void {
    this.#awaited.delete(from);
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
  }

  #handle(from: ReplicaIndex, bytes: Uint8Array): void {
    const { checked, receiver, links } = this.#dependencies;
    const opened = this.#open(from, bytes);
    if (!opened.ok) {
      receiver.onRefused(from, opened.error);
      return;
    }
    const message = opened.value;
    const unchecked = transactionsOf(message).filter(({ id }) => !checked.has(id));
    if (unchecked.length <= CHECKS_PER_TURN) {
      receiver.onMessage(from, message, isAllValid(message, checked));
      return;
    }
    this.#waiting.set(from, []);
    links.hold(from, true);
    const check = (): void => {
      if (!this.#isClosed) this.#checkSlice(from, message, unchecked, 0);
    };
    const ahead = checked.recoverAhead(unchecked);
    if (ahead === undefined) check();
    else ahead.then(check, check);
  }

  #open(from: ReplicaIndex, bytes: Uint8Array): Result<Message, string> {
    if (!this.#isAwaited(from, bytes[TYPE_OFFSET])) return err("MESSAGE_UNASKED");
    const decoded = decodeMessage(bytes);
    if (!decoded.ok) return err(decoded.error.code);
    const authenticated = this.#dependencies.authenticator.authenticate(decoded.value, from);
    return authenticated.ok ? authenticated : err(authenticated.error.code);
  }

  #checkSlice(
    from: ReplicaIndex,
    message: Message,
    unchecked: readonly Transaction[],
    start: number,
  ): void {
    const { checked, receiver, links } = this.#dependencies;
    const end = Math.min(unchecked.length, start + CHECKS_PER_TURN);
    const isValid = unchecked
      .slice(start, end)
      .every((transaction) => checked.isValid(transaction));
    if (isValid && end < unchecked.length) {
      setImmediate(() => {
        if (!this.#isClosed) this.#checkSlice(from, message, unchecked, end);
      });
      return;
    }
    const waiting = this.#waiting.get(from) ?? [];
    this.#waiting.delete(from);
    receiver.onMessage(from, message, isValid && isAllValid(message, checked));
    for (let at = 0; at < waiting.length; at++) {
      const bytes = waiting[at];
      // Another large body among them: the rest waits for it in turn.
      if (bytes !== undefined) this.onFrame(from, bytes);
    }
    if (!this.#waiting.has(from)) links.hold(from, false);
  }

  #isAwaited(from: ReplicaIndex, type: number | undefined): boolean {
    if (type !== BODY_RESPONSE_TYPE && type !== BLOCK_RESPONSE_TYPE) return true;
    const awaited = this.#awaitedOf(from);
    const kind = type === BODY_RESPONSE_TYPE ? "bodies" : "blocks";
    if (awaited[kind] === 0) return false;
    awaited[kind]--;
    return true;
  }

  #awaitedOf(peer: ReplicaIndex): Awaited {
    let awaited = this.#awaited.get(peer);
    if (awaited === undefined) {
      awaited = { bodies: 0, blocks: 0 };
      this.#awaited.set(peer, awaited);
    }
    return awaited;
  }
}

/**
 * The transactions on whose validity the core's judgement depends; a certificate proves the rest.
 */
function transactionsOf(message: Message): readonly Transaction[] {
  if (message.kind === "propose") return message.body.transactions;
  if (message.kind !== "bodyResponse") return [];
  return message.blocks.flatMap(({ body }) => body.transactions);
}

function isAllValid(message: Message, checked: CheckedTransactions): boolean {
  return transactionsOf(message).every((transaction) => checked.isValid(transaction));
}
