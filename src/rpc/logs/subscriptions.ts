/**
 * Notifications to connections: new blocks, logs, pending transactions. Each text is made once,
 * however many connections it goes to.
 */
import { bytesToHex, type Hex } from "../../base/hex.ts";
import type { RecoveredTransaction } from "../../chain/transaction-sender.ts";
import type { BlockRecord, ChainEvents, SyncReader } from "../../api/chain-reader.ts";
import { createId } from "./filters.ts";
import { formatHeader } from "../format/format-block.ts";
import { formatTransaction } from "../format/format-transaction.ts";
import { takeTurns } from "../server/event-loop-turn.ts";
import { criteriaValueCount, matchesLog, type LogCriteria } from "./log-filter.ts";
import type { LogSearch } from "./log-search.ts";
import { quantity } from "../format/quantity.ts";
import { LIMIT_EXCEEDED, RpcError } from "../rpc-error.ts";
import type { RpcLimits } from "../rpc-options.ts";
import type { SubscriberConnection } from "./subscriber-connection.ts";

export type SubscriptionReader = ChainEvents & SyncReader;

export type Topic =
  | { readonly kind: "newHeads" }
  | { readonly kind: "logs"; readonly criteria: LogCriteria }
  | { readonly kind: "newPendingTransactions"; readonly isFull: boolean }
  | { readonly kind: "syncing" };

type Subscription = {
  readonly id: Hex;
  readonly topic: Topic;
  readonly connection: SubscriberConnection;
};

const BLOCKS_WAITING_MAX = 256;
const MATCHES_PER_TURN = 64;

export class Subscriptions {
  readonly #reader: SubscriptionReader;
  readonly #search: LogSearch;
  readonly #byConnection = new Map<object, Map<Hex, Subscription>>();
  /** Those whose owners know their ids. */
  readonly #active = new Set<Subscription>();
  #count = 0;
  /** Addresses and topics of all of them. */
  #valueCount = 0;
  #endings: (() => void)[] = [];
  #isSyncing = false;
  #notified: Promise<unknown> = Promise.resolve();
  /** Blocks whose logs are still to be sent. */
  #blocksWaiting = 0;

  constructor(reader: SubscriptionReader, search: LogSearch) {
    this.#reader = reader;
    this.#search = search;
  }

  get count(): number {
    return this.#count;
  }

  add(topic: Topic, connection: SubscriberConnection, limits: RpcLimits): Hex {
    const own = this.#byConnection.get(connection.owner) ?? new Map<Hex, Subscription>();
    const isFull = own.size >= limits.connectionSubscriptionsMax;
    if (isFull || this.#count >= limits.subscriptionsMax) {
      const most = isFull ? limits.connectionSubscriptionsMax : limits.subscriptionsMax;
      throw new RpcError(LIMIT_EXCEEDED, `too many subscriptions: at most ${most}`);
    }
    const values = valueCountOf(topic);
    if (this.#valueCount + values > limits.filterValuesMax) {
      const message =
        `too many subscriptions: at most ${limits.filterValuesMax} addresses and topics ` +
        "in all of them; ask for fewer";
      throw new RpcError(LIMIT_EXCEEDED, message);
    }
    const subscription = { id: createId(), topic, connection };
    if (!this.#byConnection.has(connection.owner)) {
      this.#byConnection.set(connection.owner, own);
      connection.onClose(() => this.#forget(connection.owner));
    }
    own.set(subscription.id, subscription);
    this.#count++;
    this.#valueCount += values;
    // Its owner must know the id before anything comes under it.
    connection.afterAnswer(() => {
      if (this.#byConnection.get(connection.owner)?.has(subscription.id) === true) {
        this.#activate(subscription);
      }
    });
    return subscription.id;
  }

  /** Whether the connection had it. */
  remove(id: Hex, connection: SubscriberConnection): boolean {
    const own = this.#byConnection.get(connection.owner);
    const subscription = own?.get(id);
    if (own === undefined || subscription === undefined) return false;
    own.delete(id);
    this.#count--;
    this.#valueCount -= valueCountOf(subscription.topic);
    this.#active.delete(subscription);
    this.#restIfIdle();
    return true;
  }

  #activate(subscription: Subscription): void {
    this.#active.add(subscription);
    if (this.#endings.length === 0) {
      this.#endings = [
        this.#reader.onBlock((block) => this.#onBlock(block)),
        this.#reader.onAccepted((transaction) => this.#onAccepted(transaction)),
      ];
    }
    if (subscription.topic.kind === "syncing") void this.#tellSyncing([subscription]);
  }

  #forget(owner: object): void {
    const own = this.#byConnection.get(owner);
    if (own === undefined) return;
    this.#byConnection.delete(owner);
    this.#count -= own.size;
    for (const subscription of own.values()) {
      this.#active.delete(subscription);
      this.#valueCount -= valueCountOf(subscription.topic);
    }
    this.#restIfIdle();
  }

  /** Without subscriptions, the chain is not listened to. */
  #restIfIdle(): void {
    if (this.#active.size > 0) return;
    for (const end of this.#endings) end();
    this.#endings = [];
  }

  #onBlock(block: BlockRecord): void {
    let head: string | undefined;
    let hasLogSubscriptions = false;
    for (const subscription of this.#active) {
      const { topic } = subscription;
      if (topic.kind === "newHeads") {
        head ??= JSON.stringify(formatHeader(block));
        tell(subscription, head);
      } else if (topic.kind === "logs") {
        hasLogSubscriptions = true;
      }
    }
    if (hasLogSubscriptions && hasLogs(block)) this.#tellLogs(block);
    const watching = [...this.#active].filter(({ topic }) => topic.kind === "syncing");
    if (watching.length > 0) void this.#tellSyncing(watching, this.#isSyncing);
  }

  /**
   * The logs of a block are read once and matched in pieces for all subscriptions. One block after
   * the other, so that logs come in the order of the chain.
   */
  #tellLogs(block: BlockRecord): void {
    // Those that are there now: one that is made later begins with a later block.
    const subscribed = [...this.#active].filter(({ topic }) => topic.kind === "logs");
    if (this.#blocksWaiting >= BLOCKS_WAITING_MAX) this.#endBusiest(subscribed);
    this.#blocksWaiting++;
    const notifyAll = async (): Promise<void> => {
      const turn = takeTurns();
      for (const { log, text } of await this.#search.logsOf(block)) {
        await turn();
        for (const [index, subscription] of subscribed.entries()) {
          if (index % MATCHES_PER_TURN === MATCHES_PER_TURN - 1) await turn();
          const { topic } = subscription;
          if (topic.kind !== "logs" || !this.#active.has(subscription)) continue;
          if (matchesLog(topic.criteria, log)) tell(subscription, text());
        }
      }
    };
    // A block that was just published can be read, so a failure here is a bug; the other
    // subscriptions continue.
    this.#notified = this.#notified
      .then(notifyAll)
      .catch(() => undefined)
      .finally(() => this.#blocksWaiting--);
  }

  /**
   * Notifications fall behind the chain. Subscribers rely on receiving every log, so the connection
   * with the most subscriptions to logs loses all of them and is closed with the reason, instead of
   * receiving a gap.
   */
  #endBusiest(subscribed: readonly Subscription[]): void {
    const counts = new Map<object, { count: number; readonly connection: SubscriberConnection }>();
    for (const { connection } of subscribed) {
      const entry = counts.get(connection.owner) ?? { count: 0, connection };
      entry.count++;
      counts.set(connection.owner, entry);
    }
    const [busiest] = [...counts.values()].sort((left, right) => right.count - left.count);
    busiest?.connection.end("too many log subscriptions: the node cannot keep up with them");
  }

  #onAccepted(transaction: RecoveredTransaction): void {
    let hash: string | undefined;
    let record: string | undefined;
    for (const subscription of this.#active) {
      const { topic } = subscription;
      if (topic.kind !== "newPendingTransactions") continue;
      if (topic.isFull) {
        record ??= JSON.stringify(formatTransaction(transaction, undefined));
        tell(subscription, record);
      } else {
        hash ??= JSON.stringify(bytesToHex(transaction.hash));
        tell(subscription, hash);
      }
    }
  }

  /** Only if it differs from what they were last sent. */
  async #tellSyncing(subscriptions: readonly Subscription[], known?: boolean): Promise<void> {
    const progress = await this.#reader.syncProgress();
    this.#isSyncing = progress !== undefined;
    if (this.#isSyncing === known) return;
    const text =
      progress === undefined
        ? "false"
        : JSON.stringify({
            syncing: true,
            status: {
              startingBlock: quantity(progress.startingBlock),
              currentBlock: quantity(progress.currentBlock),
              highestBlock: quantity(progress.highestBlock),
            },
          });
    for (const subscription of subscriptions) tell(subscription, text);
  }
}

function hasLogs({ header }: BlockRecord): boolean {
  return header.logsBloom.some((byte) => byte !== 0);
}

function tell({ id, connection }: Subscription, result: string): void {
  connection.send(
    `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":${result}}}`,
  );
}

function valueCountOf(topic: Topic): number {
  return topic.kind === "logs" ? criteriaValueCount(topic.criteria) : 0;
}
