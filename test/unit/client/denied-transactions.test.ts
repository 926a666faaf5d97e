/** A permission that was withdrawn after a transaction was accepted. */
import assert from "node:assert/strict";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { chainRules } from "../../../src/chain/chain-rules.ts";
import { DEFAULT_CLIENT_TIMING } from "../../../src/client/client-options.ts";
import { PendingTransactions } from "../../../src/client/transactions/pending-transactions.ts";
import {
  TransactionJournal,
  type OpenedJournal,
} from "../../../src/client/transactions/transaction-journal.ts";
import { buildGenesis } from "../../../src/execution/genesis-state.ts";
import { MemoryStore } from "../../../src/state/memory-store.ts";
import { StateDatabase } from "../../../src/state/state-database.ts";
import { DEFAULT_POOL_OPTIONS } from "../../../src/txpool/pool-options.ts";
import { bytesToHash } from "../../../src/wire/hash-text.ts";
import { GENESIS, transfer } from "../../support/replica-network.ts";
import { temporaryDirectory } from "./client-nodes.ts";

describe("a transaction whose permission was withdrawn", () => {
  const state = new StateDatabase({}, new MemoryStore());
  buildGenesis(GENESIS, [], state);
  let directory: ReturnType<typeof temporaryDirectory>;
  let opened: OpenedJournal;
  let isPermitted = true;

  const open = async (): Promise<PendingTransactions> => {
    opened = await TransactionJournal.open(path.join(directory.path, "journal"), {
      repair: "none",
      segmentSize: undefined,
    });
    const pending = new PendingTransactions(
      {
        pool: DEFAULT_POOL_OPTIONS,
        timing: DEFAULT_CLIENT_TIMING,
        rules: chainRules(GENESIS),
        permits: () => isPermitted,
        weak: 2,
      },
      {
        opened,
        chain: { latestState: () => state, isFinal: () => false },
        links: { submit: () => undefined, replicasUp: [] },
        disk: { isFull: false },
        failure: {
          submitRefusal: undefined,
          failJournal: (error) => assert.fail(String(error)),
        },
        listener: {
          onAccepted: () => undefined,
          onRefused: () => undefined,
          onFinal: () => undefined,
        },
        now: () => 1_000_000,
      },
    );
    await pending.restore();
    return pending;
  };

  beforeEach(() => {
    isPermitted = true;
    directory = temporaryDirectory();
  });
  afterEach(async () => {
    await opened.journal.end();
    directory.remove();
  });

  it("is given up when f+1 replicas deny it, not one alone, and a restart keeps that", async () => {
    const pending = await open();
    const submitted = await pending.submitRaw(transfer(0, 0));
    assert.ok(submitted.ok);
    const hash = submitted.value;
    const id = bytesToHash(hash);
    isPermitted = false;
    pending.onReplicaRefused(0, id, "TX_PERMISSION_DENIED");
    pending.onReplicaRefused(0, id, "TX_PERMISSION_DENIED");
    assert.deepEqual(pending.statusOf(hash), { kind: "pending", code: "TX_PERMISSION_DENIED" });
    pending.onReplicaRefused(1, id, "TX_PERMISSION_DENIED");
    assert.equal(pending.statusOf(hash)?.kind, "refused");
    await opened.journal.end();
    assert.equal((await open()).statusOf(hash)?.kind, "refused", "a restart does not revive it");
  });

  it("stays pending for any other code, whatever the number of replicas", async () => {
    const pending = await open();
    const submitted = await pending.submitRaw(transfer(0, 0));
    assert.ok(submitted.ok);
    for (const code of ["TX_SENDER_HAS_CODE", "TX_POOL_FULL", "DISK_FULL"]) {
      for (let replica = 0; replica < 4; replica++) {
        pending.onReplicaRefused(replica, bytesToHash(submitted.value), code);
      }
      assert.deepEqual(pending.statusOf(submitted.value), { kind: "pending", code });
    }
  });
});
