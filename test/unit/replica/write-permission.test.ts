/** Four real replicas with write permissioning, and a client that checks nothing at all. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { hexToBytes } from "../../../src/base/hex.ts";
import { ANYONE, PERMISSION_ADDRESS } from "../../../src/chain/permissions.ts";
import { encodeTransaction } from "../../../src/chain/transaction-encoder.ts";
import { signTransaction } from "../../../src/chain/transaction-sender.ts";
import { encodeChange } from "../../../src/cli/permit/permission-abi.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { ReplicaNode } from "../../../src/replica/replica-node.ts";
import { bytesToHash } from "../../../src/wire/hash-text.ts";
import { FollowingClient, until } from "../../support/following-client.ts";
import {
  ACCOUNT_KEYS,
  ACCOUNTS,
  CHAIN_ID,
  GENESIS,
  HOST,
  replicaOptions,
  SILENT_LOGGER,
  transfer,
} from "../../support/replica-network.ts";

const ADMIN = 0;
const WRITER = 1;
const STRANGER = 6;

/** The admin takes every right from the writer. */
function revocation(nonce: bigint): Uint8Array {
  const entry = { from: ACCOUNTS[WRITER]!, to: ANYONE, rights: 0 };
  const unsigned = {
    type: 2 as const,
    chainId: CHAIN_ID,
    nonce,
    maxPriorityFeePerGas: 0n,
    maxFeePerGas: 0n,
    gasLimit: 500_000n,
    to: PERMISSION_ADDRESS,
    value: 0n,
    data: hexToBytes(encodeChange("updatePermissions", entry)),
    accessList: [],
  };
  return encodeTransaction(signTransaction(unsigned, ACCOUNT_KEYS[ADMIN]!));
}

describe("replicas of a network with write permissioning", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-permission-"));
  const genesis = {
    ...GENESIS,
    isWritePermissioned: true,
    alloc: [ADMIN, WRITER].map((account) => ({
      address: ACCOUNTS[account]!,
      balance: 10n ** 18n,
    })),
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

  it("refuse what is not permitted before it is ordered, from any sender", async () => {
    const denied = transfer(STRANGER, 0, 0n);
    const allowed = transfer(ADMIN, 0, 0n);
    client.submit([denied, allowed]);
    const [deniedId, allowedId] = [denied, allowed].map((bytes) => bytesToHash(keccak256(bytes)));
    await until(() => client.ordered.has(allowedId!), "the permitted one is in a final block");
    const refusedBy = (): Set<number> =>
      new Set(client.refusals.filter(({ id }) => id === deniedId).map(({ replica }) => replica));
    await until(() => refusedBy().size === replicas.length, "every replica refuses the other");
    const codes = new Set(client.refusals.map(({ code }) => code));
    assert.deepEqual([...codes], ["TX_PERMISSION_DENIED"]);
    assert.ok(!client.ordered.has(deniedId!), "it is in no block");
    client.waiting.delete(deniedId!);
  });

  it("drop what was permitted when it came and is not when its turn comes", async () => {
    const revoked = transfer(WRITER, 0, 0n);
    const transactions = [revocation(1n), revoked];
    client.submit(transactions);
    const ids = transactions.map((bytes) => bytesToHash(keccak256(bytes)));
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
