/**
 * A state that is being taken from a peer: built in a directory of its own, checked, and put in the
 * place of the old one only when it is whole and right. Whatever a crash leaves behind is removed
 * with the next start, which begins again.
 */
import { renameSync } from "node:fs";
import { invariant } from "../../base/invariant.ts";
import { hexToBytes } from "../../base/hex.ts";
import { err, ok, type Result } from "../../base/result.ts";
import { genesisRecord, headRecord, type GenesisRecord } from "../../ledger/chain-records.ts";
import { StateImport } from "../../state/snapshot/state-import.ts";
import { removeEnvironment } from "../../storage/lmdb-environment.ts";
import { StateStore, type StateChange } from "../../storage/state-store.ts";
import { decodeStateMessage, type StateCursor } from "../../wire/state-codec.ts";
import { headerRecord, resultRecord } from "../execution/recent-chain.ts";
import type { ProvedOffer } from "./snapshot-proof.ts";

const INCOMING_SUFFIX = ".incoming";
const REPLACED_SUFFIX = ".replaced";

/** Where the reading goes on, or that there is nothing more to read. */
export type ImportStep = { readonly next: StateCursor | undefined };

export class SnapshotImport {
  readonly #statePath: string;
  readonly #offer: ProvedOffer;
  readonly #store: StateStore;
  readonly #import: StateImport;
  /** What goes with the last write: until then the store has no height and cannot be used. */
  #lastRecords: readonly StateChange[] = [];
  #cursor: StateCursor | undefined;

  static async open(statePath: string, offer: ProvedOffer): Promise<SnapshotImport> {
    removeLeftovers(statePath);
    const store = await StateStore.open(statePath + INCOMING_SUFFIX);
    return new SnapshotImport(statePath, offer, store);
  }

  private constructor(statePath: string, offer: ProvedOffer, store: StateStore) {
    this.#statePath = statePath;
    this.#offer = offer;
    this.#store = store;
    this.#import = new StateImport({
      get: (key) => store.get(key),
      seek: (from) => store.seek(from),
      write: (changes) => this.#write(changes),
    });
  }

  get entryCount(): number {
    return this.#import.entryCount;
  }

  /** Takes a chunk as it came. Says where the next one begins, or what is wrong with this one. */
  add(bytes: Uint8Array): Result<ImportStep, string> {
    const decoded = decodeStateMessage(bytes);
    if (!decoded.ok) return err(decoded.error.code);
    if (decoded.value.kind !== "snapshotChunk") return err("SNAPSHOT_CHUNK_EXPECTED");
    const { entries, next } = decoded.value;
    for (const entry of entries) {
      const fault = this.#import.add(entry);
      if (fault !== undefined) return err(fault);
    }
    // Without an end there must be progress, or a Byzantine peer could prolong it for ever.
    const isProgress = entries.length > 0 && (next === undefined || isBefore(this.#cursor, next));
    if (!isProgress && next !== undefined) return err("SNAPSHOT_OUT_OF_ORDER");
    this.#cursor = next;
    return ok({ next });
  }

  /** After the last chunk: compares the root and completes the store, with its height. */
  finish(genesis: GenesisRecord): Result<void, string> {
    const { head, headers, height, result } = this.#offer;
    this.#lastRecords = [
      genesisRecord(genesis),
      headRecord(head),
      ...headers.map((header) => headerRecord(header)),
      resultRecord(height, hexToBytes(result)),
    ];
    const fault = this.#import.finish(head.header.number, head.header.stateRoot);
    if (fault !== undefined) return err(fault);
    invariant(this.#store.height === height, "the last write has the records");
    return ok(undefined);
  }

  /** Closes it; it is put in the place of the state, which must not be open, by `replaceState`. */
  async close(): Promise<void> {
    await this.#store.close();
  }

  async abandon(): Promise<void> {
    await this.#store.close();
    removeLeftovers(this.#statePath);
  }

  #write(changes: readonly StateChange[]): void {
    if (this.#lastRecords.length === 0) this.#store.write(changes);
    else this.#store.write([...changes, ...this.#lastRecords], this.#offer.height);
  }
}

/** A crash between the two leaves no state: the next start makes block 0 and begins again. */
export function replaceState(statePath: string): void {
  renameSync(statePath, statePath + REPLACED_SUFFIX);
  renameSync(statePath + INCOMING_SUFFIX, statePath);
  removeEnvironment(statePath + REPLACED_SUFFIX);
}

/** What an import that did not come to its end left behind. */
export function removeLeftovers(statePath: string): void {
  removeEnvironment(statePath + INCOMING_SUFFIX);
  removeEnvironment(statePath + REPLACED_SUFFIX);
}

function isBefore(cursor: StateCursor | undefined, next: StateCursor): boolean {
  if (cursor === undefined || cursor.address < next.address) return true;
  return cursor.address === next.address && (cursor.slot ?? -1n) < (next.slot ?? -1n);
}
