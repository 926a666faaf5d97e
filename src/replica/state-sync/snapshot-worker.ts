/**
 * The thread that reads the state for a replica that lost its own. It reads in a transaction of its
 * own, so execution goes on beside it and the snapshot stays what it was; it uses at most half of
 * the time, so that a peer that asks cannot occupy a processor.
 */
import { parentPort, workerData } from "node:worker_threads";
import { invariant } from "../../base/invariant.ts";
import { encodeHeader } from "../../chain/header.ts";
import { readHead } from "../../ledger/chain-records.ts";
import { readSnapshotChunk } from "../../state/snapshot/state-snapshot.ts";
import { StateStore } from "../../storage/state-store.ts";
import { encodeStateMessage, type StateCursor } from "../../wire/state-codec.ts";
import { readRecentHeaders } from "../execution/recent-chain.ts";

export type SnapshotWorkerOptions = { readonly statePath: string; readonly snapshot: number };

export type SnapshotRequest =
  { readonly kind: "read"; readonly cursor: StateCursor } | { readonly kind: "close" };

export type SnapshotEvent =
  /** Encoded messages, ready to be sent. */
  | { readonly kind: "opened"; readonly height: number; readonly offer: Uint8Array }
  | { readonly kind: "read"; readonly chunk: Uint8Array }
  | { readonly kind: "closed" };

const CHUNK_SIZE = 512 * 1024;

function main(port: NonNullable<typeof parentPort>, options: SnapshotWorkerOptions): void {
  const { statePath, snapshot } = options;
  const store = StateStore.openReader(statePath);
  const state = store.snapshot();
  const post = (event: SnapshotEvent): void => port.postMessage(event);
  let restUntilMs = 0;

  const read = (cursor: StateCursor): void => {
    const startMs = performance.now();
    const { entries, next } = readSnapshotChunk(state, cursor, CHUNK_SIZE);
    const chunk = encodeStateMessage({ kind: "snapshotChunk", snapshot, entries, next });
    post({ kind: "read", chunk });
    const endMs = performance.now();
    restUntilMs = endMs + (endMs - startMs);
  };
  const close = async (): Promise<void> => {
    state.close();
    await store.close();
    post({ kind: "closed" });
  };

  port.on("message", (request: SnapshotRequest) => {
    if (request.kind === "close") close().catch(() => post({ kind: "closed" }));
    else setTimeout(() => read(request.cursor), Math.max(0, restUntilMs - performance.now()));
  });
  const { height } = state;
  invariant(height !== undefined, "a replica's state says its height");
  const { number } = readHead(state).header;
  const headers = readRecentHeaders(state, number).map((header) => encodeHeader(header));
  const offer = encodeStateMessage({ kind: "snapshotOffer", snapshot, height, headers });
  post({ kind: "opened", height, offer });
}

invariant(parentPort !== null, "this file is the entry of a thread");
main(parentPort, workerData as SnapshotWorkerOptions);
