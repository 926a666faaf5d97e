/**
 * Filters that callers poll. A filter is a position in the chain, not a buffer: what is new is
 * looked up at each poll. Only the hashes of pending transactions are kept, once for all filters.
 * Filters that are not polled expire.
 */
import { randomBytes } from "node:crypto";
import { bytesToHex, type Hex } from "../../base/hex.ts";
import type { RecoveredTransaction } from "../../chain/transaction-sender.ts";
import { findBlock } from "../params/block-tag.ts";
import type { ChainEvents } from "../../api/chain-reader.ts";
import { jsonList, type JsonText } from "../json-text.ts";
import type { LogsReader } from "./log-cache.ts";
import { criteriaValueCount, type LogFilter } from "./log-filter.ts";
import { numberOf, type LogPlace, type LogSearch } from "./log-search.ts";
import { invalidParameter } from "../params/parameters.ts";
import { LIMIT_EXCEEDED, RpcError, SERVER_ERROR } from "../rpc-error.ts";
import type { RpcLimits } from "../rpc-options.ts";

export type FilterReader = LogsReader & ChainEvents;

export type FilterId = Hex;

type Filter = { usedMs: number } & (
  | { readonly kind: "blocks"; next: bigint }
  | { readonly kind: "logs"; next: LogPlace; readonly filter: LogFilter }
  /** `next` counts accepted transactions. */
  | { readonly kind: "pending"; next: number }
);

/** What an answer has around its logs: id, method, brackets. */
const ENVELOPE_LENGTH_MAX = 1_000;

/** Hashes kept for pending filters that are polled rarely. */
const PENDING_KEPT_MAX = 10_000;

export class Filters {
  readonly #reader: FilterReader;
  readonly #search: LogSearch;
  readonly #filters = new Map<FilterId, Filter>();
  /** The last accepted transactions, while there is a filter for them. */
  #pending: Hex[] = [];
  #pendingCount = 0;
  /** Addresses and topics of all filters. */
  #valueCount = 0;
  #stopListening: (() => void) | undefined;

  constructor(reader: FilterReader, search: LogSearch) {
    this.#reader = reader;
    this.#search = search;
  }

  get count(): number {
    return this.#filters.size;
  }

  async addBlocks(limits: RpcLimits): Promise<FilterId> {
    return this.#add({ kind: "blocks", next: await this.#nextBlock(), usedMs: 0 }, limits);
  }

  async addLogs(filter: LogFilter, limits: RpcLimits): Promise<FilterId> {
    const latest = (await this.#reader.latestBlock()).header.number;
    const { blocks } = filter;
    const start = blocks.kind === "range" ? numberOf(blocks.from, latest) : latest + 1n;
    const number = start > latest ? start : latest + 1n;
    return this.#add({ kind: "logs", next: { number, skip: 0 }, filter, usedMs: 0 }, limits);
  }

  addPending(limits: RpcLimits): FilterId {
    const id = this.#add({ kind: "pending", next: this.#pendingCount, usedMs: 0 }, limits);
    this.#stopListening ??= this.#reader.onAccepted((transaction) => this.#onAccepted(transaction));
    return id;
  }

  /** Whether it was there. */
  remove(id: FilterId): boolean {
    const isThere = this.#forget(id);
    this.#rest();
    return isThere;
  }

  /** What is new since it was created or last polled. */
  async changes(id: FilterId, limits: RpcLimits): Promise<readonly Hex[] | JsonText> {
    const filter = this.#use(id, limits);
    switch (filter.kind) {
      case "blocks":
        return this.#newBlocks(filter, limits);
      case "logs":
        return jsonList(await this.#newLogs(filter, limits));
      case "pending": {
        const first = this.#pendingCount - this.#pending.length;
        const hashes = this.#pending.slice(Math.max(0, filter.next - first));
        filter.next = this.#pendingCount;
        return hashes;
      }
    }
  }

  /** All that the filter admits, new or not. */
  async logs(id: FilterId, limits: RpcLimits): Promise<JsonText> {
    const filter = this.#use(id, limits);
    if (filter.kind !== "logs") throw invalidParameter(0, "a filter of logs", id);
    return jsonList(await this.#search.find(filter.filter, limits));
  }

  async #newBlocks(
    filter: Extract<Filter, { readonly kind: "blocks" }>,
    { logBlocksMax }: RpcLimits,
  ): Promise<Hex[]> {
    const hashes: Hex[] = [];
    const end = await this.#nextBlock();
    for (; filter.next < end && hashes.length < logBlocksMax; filter.next++) {
      const block = await findBlock(this.#reader, { kind: "number", number: filter.next });
      if (block !== undefined) hashes.push(bytesToHex(block.hash));
    }
    return hashes;
  }

  /** As many blocks and logs as one answer may have: the rest comes with the next. */
  async #newLogs(
    filter: Extract<Filter, { readonly kind: "logs" }>,
    { logBlocksMax, logResultsMax, responseLengthMax }: RpcLimits,
  ): Promise<readonly string[]> {
    const { blocks } = filter.filter;
    const latest = (await this.#reader.latestBlock()).header.number;
    if (blocks.kind === "hash") return [];
    const isOpen = blocks.to.kind !== "number" || blocks.to.number > latest;
    const end = isOpen ? latest : numberOf(blocks.to, latest);
    const first = filter.next.number;
    const most = first + BigInt(logBlocksMax) - 1n;
    const last = end < most ? end : most;
    if (last < first) return [];
    const room = {
      resultsMax: logResultsMax,
      lengthMax: responseLengthMax - ENVELOPE_LENGTH_MAX,
    };
    const { texts, next } = await this.#search.part(filter.next, last, filter.filter, room);
    filter.next = next;
    return texts;
  }

  async #nextBlock(): Promise<bigint> {
    return (await this.#reader.latestBlock()).header.number + 1n;
  }

  #add(filter: Filter, limits: RpcLimits): FilterId {
    this.#forgetIdle(limits);
    if (this.#filters.size >= limits.filtersMax) {
      const message = `too many filters: at most ${limits.filtersMax}; uninstall some or use eth_subscribe`;
      throw new RpcError(LIMIT_EXCEEDED, message);
    }
    const values = valueCountOf(filter);
    if (this.#valueCount + values > limits.filterValuesMax) {
      const message =
        `too many filters: at most ${limits.filterValuesMax} addresses and topics in all of them; ` +
        "ask for fewer, uninstall some or use eth_getLogs";
      throw new RpcError(LIMIT_EXCEEDED, message);
    }
    const id = createId();
    filter.usedMs = performance.now();
    this.#filters.set(id, filter);
    this.#valueCount += values;
    return id;
  }

  #forget(id: FilterId): boolean {
    const filter = this.#filters.get(id);
    if (filter === undefined) return false;
    this.#filters.delete(id);
    this.#valueCount -= valueCountOf(filter);
    return true;
  }

  #use(id: FilterId, limits: RpcLimits): Filter {
    this.#forgetIdle(limits);
    const filter = this.#filters.get(id);
    if (filter === undefined) {
      // Code and text are geth's: clients recognise by them that they must create the filter again.
      throw new RpcError(SERVER_ERROR, "filter not found");
    }
    // The longest unused first.
    this.#filters.delete(id);
    this.#filters.set(id, filter);
    filter.usedMs = performance.now();
    return filter;
  }

  #forgetIdle({ filterIdleMs }: RpcLimits): void {
    const oldestMs = performance.now() - filterIdleMs;
    for (const [id, { usedMs }] of this.#filters) {
      if (usedMs >= oldestMs) break;
      this.#forget(id);
    }
    this.#rest();
  }

  #onAccepted({ hash }: RecoveredTransaction): void {
    this.#pending.push(bytesToHex(hash));
    this.#pendingCount++;
    if (this.#pending.length >= 2 * PENDING_KEPT_MAX) {
      this.#pending = this.#pending.slice(-PENDING_KEPT_MAX);
    }
  }

  /** Without a filter for them, nothing is kept of waiting transactions. */
  #rest(): void {
    if (this.#stopListening === undefined) return;
    for (const { kind } of this.#filters.values()) if (kind === "pending") return;
    this.#stopListening();
    this.#stopListening = undefined;
    this.#pending = [];
  }
}

/** Each takes memory for as long as the filter is there. */
function valueCountOf(filter: Filter): number {
  if (filter.kind !== "logs") return 0;
  return criteriaValueCount(filter.filter);
}

/** Random, so that a caller cannot guess the filters of others. */
export function createId(): Hex {
  return `0x${BigInt(bytesToHex(randomBytes(16))).toString(16)}`;
}
