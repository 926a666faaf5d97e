/**
 * A flood of transactions behind nonce gaps, by ethrpc and by a Byzantine client node straight to
 * the replicas, on a whole network in this process. The limits are small, so that the flood goes
 * far beyond them: without eviction the pools are full and the chain stands still for ever.
 */
import { clientPrincipalMin } from "../../../src/base/client-principal.ts";
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import type { ClientNode } from "../../../src/client/client-node.ts";
import { createTlsIdentity } from "../../../src/crypto/certificate.ts";
import { createSigner } from "../../../src/crypto/ed25519.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { ReplicaNode } from "../../../src/replica/replica-node.ts";
import { Transport } from "../../../src/transport/transport.ts";
import { CLIENT_CHANNEL, encodeClientMessage } from "../../../src/wire/client-codec.ts";
import { until } from "../../support/following-client.ts";
import {
  CLIENT,
  GENESIS,
  HOST,
  replicaOptions,
  seedOf,
  SILENT_LOGGER,
  transfer,
} from "../../support/replica-network.ts";
import { openClient, temporaryDirectory } from "./client-nodes.ts";

const BYZANTINE = 9;
const HONEST = 39;
const POOL = { transactionsMax: 128, bytesMax: 256 * 1024 };
const LARGE = new Uint8Array(32 * 1024);

/** Small ones by number, large ones by bytes: each kind alone fills the pool of a replica. */
const FLOOD: readonly Uint8Array[] = [
  ...Array.from({ length: 200 }, (_, index) => transfer(index % 20, 1 + Math.floor(index / 20))),
  ...Array.from({ length: 10 }, (_, index) => transfer(20 + (index % 10), 1 + index, 1n, LARGE)),
];

describe("a flood of transactions behind nonce gaps", () => {
  const directory = temporaryDirectory();
  const clientPath = path.join(directory.path, "client");
  const replicas: ReplicaNode[] = [];
  let node: ClientNode;
  let byzantine: Transport;
  let flooding: NodeJS.Timeout;
  let nonce = 0;

  const endpoints = (): { readonly host: string; readonly port: number }[] =>
    replicas.map(({ port }) => ({ host: HOST, port }));
  const openNode = async (): Promise<void> => {
    const pool = { ...POOL, senderTransactionsMax: 256 };
    ({ node } = await openClient(clientPath, undefined, { replicas: endpoints(), pool }));
    await node.whenReady();
  };
  const flood = (): void => {
    for (let start = 0; start < FLOOD.length; start += 10) {
      const transactions = FLOOD.slice(start, start + 10);
      const frame = encodeClientMessage({ kind: "submit", transactions });
      for (let replica = 0; replica < replicas.length; replica++) {
        byzantine.send(replica, [Uint8Array.of(CLIENT_CHANNEL), frame]);
      }
    }
  };
  /** How long an honest transfer takes to be final, in milliseconds. */
  const honestTransfer = async (): Promise<number> => {
    const startMs = performance.now();
    const bytes = transfer(HONEST, nonce++);
    const submitted = await node.pending.submitRaw(bytes, "address 10.0.0.2");
    assert.ok(submitted.ok, submitted.ok ? "" : submitted.error.code);
    const isFinal = (): boolean => node.reads.transactionStatus(keccak256(bytes))?.kind === "final";
    await until(isFinal, "an honest transfer is final");
    return performance.now() - startMs;
  };

  before(async () => {
    mkdirSync(clientPath);
    const clientPublicKeys = new Map(
      [CLIENT, BYZANTINE].map((client) => [client, createSigner(seedOf(client)).publicKey]),
    );
    for (const index of [0, 1, 2, 3]) {
      const dataPath = path.join(directory.path, `replica-${index}`);
      const options = replicaOptions(index, dataPath, { clientPublicKeys, pool: POOL });
      const dependencies = {
        logger: SILENT_LOGGER,
        onFatal: (error: unknown) => assert.fail(String(error)),
      };
      replicas.push(await ReplicaNode.open(options, dependencies));
    }
    replicas.forEach((replica, self) => {
      endpoints().forEach((endpoint, index) => {
        if (index !== self) replica.setEndpoint(index, endpoint);
      });
    });
    byzantine = await Transport.open(
      {
        self: BYZANTINE,
        clientPrincipalMin: clientPrincipalMin(GENESIS.replicaPublicKeys.length),
        identity: createTlsIdentity(seedOf(BYZANTINE), "byzantine"),
        peers: new Map(
          GENESIS.replicaPublicKeys.map((publicKey, replica) => {
            return [replica, { publicKey, endpoint: endpoints()[replica] }];
          }),
        ),
        listen: undefined,
      },
      { onUp: () => undefined, onDown: () => undefined, onFrame: () => undefined },
    );
    await openNode();
    await until(() => byzantine.status().every(({ isUp }) => isUp), "the Byzantine one is there");
    flood();
    flooding = setInterval(flood, 1_000);
  });
  after(async () => {
    clearInterval(flooding);
    await byzantine.close(0);
    await node.close();
    await Promise.all(replicas.map((replica) => replica.close()));
    directory.remove();
  });

  it("leaves an honest transfer final within a second, while it lasts", async () => {
    const sent = await Promise.all(
      FLOOD.map((bytes) => node.pending.submitRaw(bytes, "address 10.0.0.1")),
    );
    assert.ok(sent.some(({ ok }) => ok));
    await until(() => replicas.every((replica) => replica.report().pendingCount > 20), "it is in");
    const timesMs: number[] = [];
    for (let count = 0; count < 5; count++) timesMs.push(await honestTransfer());
    console.log(`honest transfers: ${timesMs.map(Math.round).join(", ")} ms`);
    // A busy machine may delay one of them; the flood would stop them all.
    assert.ok(Math.min(...timesMs) < 1_000, "one of them is that fast");
  });

  it("does not stop a client node that reads it back from its journal", async () => {
    const queuedBefore = node.status().pool.queued;
    assert.ok(queuedBefore > 20, `${queuedBefore} are queued`);
    await node.close();
    await openNode();
    assert.equal(node.status().pool.queued, queuedBefore, "what was promised is kept");
    await honestTransfer();
    assert.equal(node.status().stalledMs, 0, "nothing executable is left waiting");
  });
});
