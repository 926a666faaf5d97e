/**
 * What connections are told without asking: new blocks, logs, waiting transactions. Each text is
 * made once, however many connections it goes to.
 */
import { bytesToHex, type Hex } from "../../base/hex.ts";
import type { RecoveredTransaction } from "../../chain/transaction-sender.ts";
import type { BlockRecord, ChainEvents, SyncReader } from "../../api/chain-reader.ts";
import { createId } from "./filters.ts";
import { formatHeader } from "../format/format-block.ts";
import { formatTransaction } from "../format/format-transaction.ts";
import type { LogCriteria } from "./log-filter.ts";
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

export class Subscriptions {
  readonly #reader: SubscriptionReader;
  readonly #search: LogSearch;
  readonly #byConnection = new Map<object, Map<Hex, Subscription>>();
  /** Those whose owners know their ids. */
  readonly #active = new Set<Subscription>();
  #count = 0;
  #endings: (() => void)[] = [];
  #isSyncing = false;
  #told: Promise<void> = Promise.resolve();

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
    const subscription = { id: createId(), topic, connection };
    if (!this.#byConnection.has(connection.owner)) {
      this.#byConnection.set(connection.owner, own);
      connection.onClose(() => this.#forget(connection.owner));
    }
    own.set(subscription.id, subscription);
    this.#count++;
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
    for (const subscription of own.values()) this.#active.delete(subscription);
    this.#restIfIdle();
  }

  /** With nobody to tell, the chain is not listened to. */
  #restIfIdle(): void {
    if (this.#active.size > 0) return;
    for (const end of this.#endings) end();
    this.#endings = [];
  }

  #onBlock(block: BlockRecord): void {
    let head: string | undefined;
    for (const subscription of this.#active) {
      const { topic } = subscription;
      if (topic.kind === "newHeads") {
        head ??= JSON.stringify(formatHeader(block));
        tell(subscription, head);
      } else if (topic.kind === "logs") {
        this.#tellLogs(subscription, topic.criteria, block);
      }
    }
    const watching = [...this.#active].filter(({ topic }) => topic.kind === "syncing");
    if (watching.length > 0) void this.#tellSyncing(watching, this.#isSyncing);
  }

  #tellLogs(subscription: Subscription, criteria: LogCriteria, block: BlockRecord): void {
    const tellAll = async (): Promise<void> => {
      const logs = await this.#search.inBlock(block, criteria, Number.MAX_SAFE_INTEGER);
      for (const log of logs) tell(subscription, log);
    };
    // One after the other, so that logs come in the order of the chain. A block that was just
    // published is there: what fails is a fault of ours and ends nothing.
    this.#told = this.#told.then(tellAll).catch(() => undefined);
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

  /** Only if it is not as they know it. */
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

function tell({ id, connection }: Subscription, result: string): void {
  connection.send(
    `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":${result}}}`,
  );
}
