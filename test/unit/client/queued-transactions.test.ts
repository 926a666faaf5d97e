/** Transactions behind a gap of nonces: they cost nothing to make, so they cost others nothing. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { ClientNode } from "../../../src/client/client-node.ts";
import type { ClientOptions } from "../../../src/client/client-options.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { bytesToHash } from "../../../src/wire/hash-text.ts";
import { until } from "../../support/following-client.ts";
import { transfer } from "../../support/replica-network.ts";
import { openClient, temporaryDirectory } from "./client-nodes.ts";
import { FinalChain } from "./final-chain.ts";
import { ServingNetwork } from "./serving-replicas.ts";

const HOUR_MS = 60 * 60 * 1_000;

describe("queued transactions of a client node", () => {
  let network: ServingNetwork;
  let directory: ReturnType<typeof temporaryDirectory>;
  let node: ClientNode;
  let nowMs: number;

  const open = async (more: Partial<ClientOptions> = {}): Promise<void> => {
    ({ node } = await openClient(directory.path, network, more, () => nowMs));
    await node.whenReady();
  };
  const submit = async (bytes: Uint8Array, source?: string): Promise<string> => {
    const submitted = await node.pending.submitRaw(bytes, source);
    return submitted.ok ? "ok" : submitted.error.code;
  };
  const isAtReplica = (bytes: Uint8Array): boolean =>
    network.replicas[0]?.submitted.has(bytesToHash(keccak256(bytes))) === true;
  const reasonOf = (bytes: Uint8Array): string | undefined => {
    const status = node.reads.transactionStatus(keccak256(bytes));
    return status?.kind === "refused" ? status.code : status?.kind;
  };

  beforeEach(async () => {
    nowMs = 1_000_000;
    directory = temporaryDirectory();
    network = await ServingNetwork.open(new FinalChain());
  });
  afterEach(async () => {
    await node.close();
    await network.close();
    directory.remove();
  });

  it("do not reach the replicas before their gap is closed, also after a restart", async () => {
    await open({ timing: { resendMinMs: 20, statusMs: 100 } });
    for (const nonce of [1, 2]) assert.equal(await submit(transfer(0, nonce)), "ok");
    assert.equal(await submit(transfer(1, 0)), "ok");
    await until(() => isAtReplica(transfer(1, 0)), "the executable one is sent");
    assert.equal(isAtReplica(transfer(0, 1)), false);
    await node.close();
    await open({ timing: { resendMinMs: 20, statusMs: 100 } });
    assert.equal(node.status().pool.queued, 2);
    assert.equal(await submit(transfer(2, 0)), "ok");
    await until(() => isAtReplica(transfer(2, 0)), "the executable one is sent");
    assert.equal(isAtReplica(transfer(0, 1)), false);
    assert.equal(await submit(transfer(0, 0)), "ok");
    await until(() => isAtReplica(transfer(0, 2)), "the gap is closed");
    assert.ok(isAtReplica(transfer(0, 1)));
  });

  it("give way to an executable one, and say so to those who ask", async () => {
    await open({ pool: { transactionsMax: 4, queuedMax: 4 } });
    const refused: string[] = [];
    node.on("transactionRefused", ({ code }) => refused.push(code));
    for (const nonce of [1, 2, 3, 4]) assert.equal(await submit(transfer(0, nonce)), "ok");
    assert.equal(await submit(transfer(1, 0)), "ok");
    assert.equal(reasonOf(transfer(0, 1)), "TX_EVICTED");
    assert.deepEqual(refused, ["TX_EVICTED"]);
    await until(() => isAtReplica(transfer(1, 0)), "the executable one is sent");
    assert.equal(await submit(transfer(0, 0)), "ok");
    assert.equal(await submit(transfer(0, 1)), "ok", "it may come again when the gap is closed");
    await until(() => isAtReplica(transfer(0, 1)), "and it is sent");
  });

  it("fill the journal, and the node that reads it back takes executable ones", async () => {
    const pool = { transactionsMax: 16, queuedMax: 16, sourceQueuedMax: 16 };
    await open();
    for (let nonce = 1; nonce <= 24; nonce++) assert.equal(await submit(transfer(0, nonce)), "ok");
    await node.close();
    await open({ pool });
    assert.equal(node.status().pool.queued, 24, "what was promised is kept");
    assert.equal(await submit(transfer(1, 0)), "ok");
    await until(() => isAtReplica(transfer(1, 0)), "it is sent");
    assert.equal(node.status().pool.queued, 15);
  });

  it("are limited by the caller that hands them in", async () => {
    await open({ pool: { sourceQueuedMax: 2, queuedMax: 3 } });
    assert.equal(await submit(transfer(0, 1), "address 10.0.0.1"), "ok");
    assert.equal(await submit(transfer(0, 2), "address 10.0.0.1"), "ok");
    assert.equal(await submit(transfer(0, 3), "address 10.0.0.1"), "TX_SOURCE_LIMIT");
    assert.equal(await submit(transfer(1, 1), "address 10.0.0.2"), "ok");
    assert.equal(await submit(transfer(2, 1), "address 10.0.0.3"), "ok");
    assert.equal(
      reasonOf(transfer(0, 1)),
      "TX_EVICTED",
      "the largest share of the queue gives way",
    );
  });

  it("expire long before the others", async () => {
    await open({ timing: { expiryCheckMs: 20 } });
    assert.equal(await submit(transfer(0, 1)), "ok");
    assert.equal(await submit(transfer(1, 0)), "ok");
    nowMs += HOUR_MS;
    await until(() => reasonOf(transfer(0, 1)) === "TX_EXPIRED", "the queued one is given up");
    assert.equal(reasonOf(transfer(1, 0)), "pending");
  });
});
