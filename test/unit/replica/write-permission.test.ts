/** Four real replicas with write permissioning, and a client that checks nothing at all. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { ReplicaNode } from "../../../src/replica/replica-node.ts";
import { bytesToHash } from "../../../src/wire/hash-text.ts";
import { FollowingClient, until } from "../../support/following-client.ts";
import {
  ACCOUNTS,
  GENESIS,
  HOST,
  replicaOptions,
  SILENT_LOGGER,
  transfer,
} from "../../support/replica-network.ts";

const ADMIN = 0;
const STRANGER = 6;

describe("replicas of a network with write permissioning", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-permission-"));
  const genesis = {
    ...GENESIS,
    isWritePermissioned: true,
    alloc: [{ address: ACCOUNTS[ADMIN]!, balance: 10n ** 18n }],
  };
  let replicas: ReplicaNode[] = [];
  let client: FollowingClient;

  before(async () => {
    replicas = await Promise.all(
      [0, 1, 2, 3].map((index) =>
        ReplicaNode.open(replicaOptions(index, path.join(directory, `${index}`), { genesis }), {
          logger: SILENT_LOGGER,
          onFatal: (error) => assert.fail(String(error)),
        }),
      ),
    );
    const endpoints = replicas.map(({ port }) => ({ host: HOST, port }));
    replicas.forEach((replica, self) => {
      endpoints.forEach((endpoint, index) => {
        if (index !== self) replica.setEndpoint(index, endpoint);
      });
    });
    client = await FollowingClient.open(endpoints.map(({ port }) => port));
  });
  after(async () => {
    await client.close();
    await Promise.all(replicas.map((replica) => replica.close()));
    rmSync(directory, { recursive: true, force: true });
  });

  it("drop what is not permitted, whoever sent it, and include the rest", async () => {
    const denied = transfer(STRANGER, 0, 0n);
    const allowed = transfer(ADMIN, 0, 0n);
    client.submit([denied, allowed]);
    const ids = [denied, allowed].map((bytes) => bytesToHash(keccak256(bytes)));
    await until(() => ids.every((id) => client.ordered.has(id)), "both are in final blocks");
    await until(
      () => replicas.every(({ counters }) => counters.droppedTransactions === 1),
      "each replica dropped one",
    );
    const last = client.finalHeight;
    await until(() => (client.results.get(last)?.size ?? 0) >= 3, "they executed it");
    assert.equal(new Set(client.results.get(last)?.values()).size, 1, "with one result");
  });
});
