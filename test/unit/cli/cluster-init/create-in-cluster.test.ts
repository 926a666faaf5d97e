import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createInCluster } from "../../../../src/cli/cluster-init/create-in-cluster.ts";
import type { SecretData, SecretStore } from "../../../../src/cli/cluster-init/secret-store.ts";
import {
  parseWantedNetwork,
  type WantedNetwork,
} from "../../../../src/cli/cluster-init/wanted-network.ts";
import { genesisAdmins } from "../../../../src/chain/genesis.ts";
import { parseNetworkFile } from "../../../../src/config/network-file.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const ACCOUNT = `0x${"11".repeat(20)}`;

function wanted(genesis: object = {}, more: object = {}): WantedNetwork {
  const parsed = parseWantedNetwork(
    JSON.stringify({
      release: "demo",
      blockchainId: "demo",
      genesis: {
        chainId: 5000,
        timestamp: "2022-12-02 00:01:00",
        gasLimit: 60_000_000,
        alloc: [],
        isWritePermissioned: false,
        isReadPermissioned: false,
        ...genesis,
      },
      replicas: [0, 1, 2, 3].map((index) => ({ host: `demo-replica-${index}`, port: 7000 })),
      secrets: { keys: "demo-keys", admin: "demo-admin", network: "demo-network" },
      makesKeys: true,
      ...more,
    }),
  );
  assert.ok(parsed.ok, "the form holds");
  return parsed.value;
}

/** A cluster's Secrets, with what was created in order. */
class Secrets implements SecretStore {
  readonly kept = new Map<string, SecretData>();
  readonly created: string[] = [];
  /** Stops the Job before it makes this one. */
  failsAt: string | undefined;

  get(name: string): Promise<SecretData | undefined> {
    return Promise.resolve(this.kept.get(name));
  }

  create(name: string, data: SecretData): Promise<boolean> {
    if (name === this.failsAt) return Promise.reject(new Error("the Job was ended"));
    if (this.kept.has(name)) return Promise.resolve(false);
    this.kept.set(name, data);
    this.created.push(name);
    return Promise.resolve(true);
  }
}

async function refusal(wish: WantedNetwork, secrets: Secrets): Promise<Error> {
  const before = JSON.stringify([...secrets.kept]);
  let failure: unknown;
  await createInCluster(wish, secrets, NOW_MS).catch((error: unknown) => (failure = error));
  assert.equal(JSON.stringify([...secrets.kept]), before, "nothing was changed");
  assert.ok(failure instanceof Error, "it was refused");
  return failure;
}

describe("creating a network in a cluster", () => {
  it("makes keys, then the admin account, then the network of both", async () => {
    const secrets = new Secrets();
    await createInCluster(wanted(), secrets, NOW_MS);
    assert.deepEqual(secrets.created, ["demo-keys", "demo-admin", "demo-network"]);
    const file = parseNetworkFile(secrets.kept.get("demo-network")?.["network.json"] ?? "", NOW_MS);
    assert.ok(file.ok);
    assert.equal(file.value.genesis.alloc.length, 1, "the admin is funded");
    assert.equal(file.value.replicas[2]?.host, "demo-replica-2");
    assert.equal(file.value.clients.has(8), true);
    assert.doesNotMatch(JSON.stringify(secrets.kept.get("demo-network")), /PRIVATE/);
  });

  it("keeps everything when it runs again", async () => {
    const secrets = new Secrets();
    await createInCluster(wanted(), secrets, NOW_MS);
    const before = JSON.stringify([...secrets.kept]);
    const outcomes = await createInCluster(wanted(), secrets, NOW_MS);
    assert.equal(JSON.stringify([...secrets.kept]), before);
    assert.ok(outcomes.every(({ isNew }) => !isNew));
  });

  it("goes on where a Job was ended, with the same keys", async () => {
    const secrets = new Secrets();
    secrets.failsAt = "demo-network";
    await assert.rejects(createInCluster(wanted(), secrets, NOW_MS));
    const keys = JSON.stringify(secrets.kept.get("demo-keys"));
    secrets.failsAt = undefined;
    await createInCluster(wanted(), secrets, NOW_MS);
    assert.equal(JSON.stringify(secrets.kept.get("demo-keys")), keys);
  });

  it("ends in one network when two Jobs run at once", async () => {
    const secrets = new Secrets();
    await Promise.all([
      createInCluster(wanted(), secrets, NOW_MS),
      createInCluster(wanted(), secrets, NOW_MS),
    ]);
    await createInCluster(wanted(), secrets, NOW_MS);
    assert.equal(secrets.created.length, 3);
  });

  it("makes no admin account where accounts are given", async () => {
    const secrets = new Secrets();
    const alloc = [{ address: ACCOUNT, balance: "7" }];
    await createInCluster(wanted({ alloc }), secrets, NOW_MS);
    assert.deepEqual(secrets.created, ["demo-keys", "demo-network"]);
  });

  it("refuses every change of the genesis, by the names of the chart", async () => {
    const secrets = new Secrets();
    await createInCluster(wanted(), secrets, NOW_MS);
    const changes: readonly (readonly [WantedNetwork, RegExp])[] = [
      [wanted({ chainId: 6000 }), /config\.chainId: the network has 5000, the values ask for 6000/],
      [wanted({ timestamp: "2023-01-01 00:00:00" }), /genesisBlock\.timestamp/],
      [wanted({ gasLimit: 30_000_000 }), /genesisBlock\.gasLimit/],
      [wanted({ isWritePermissioned: true }), /ethPermissioningWriteEnabled/],
      [wanted({ isReadPermissioned: true }), /ethPermissioningReadEnabled/],
      [wanted({ alloc: [{ address: ACCOUNT, balance: 1 }] }), /genesisBlock\.alloc/],
      [wanted({}, { blockchainId: "other" }), /global\.blockchainId/],
    ];
    for (const [wish, message] of changes) {
      const error = await refusal(wish, secrets);
      assert.match(error.message, /^CLUSTER_GENESIS_CHANGED/);
      assert.match(error.message, message);
    }
  });

  it("refuses keys that are gone, damaged or of another network", async () => {
    const secrets = new Secrets();
    await createInCluster(wanted(), secrets, NOW_MS);
    const keys = secrets.kept.get("demo-keys") ?? {};
    secrets.kept.delete("demo-keys");
    assert.match((await refusal(wanted(), secrets)).message, /^CLUSTER_SECRET_MISSING/);
    secrets.kept.set("demo-keys", { ...keys, "replica-1.key": "" });
    assert.match((await refusal(wanted(), secrets)).message, /^CLUSTER_SECRET_INVALID/);
    secrets.kept.set("demo-keys", { ...keys, "replica-1.key": keys["replica-2.key"] ?? "" });
    assert.match((await refusal(wanted(), secrets)).message, /^CLUSTER_KEY_WRONG.*replica-1/);
  });

  it("waits for keys that the operator brings, and makes none", async () => {
    const secrets = new Secrets();
    const wish = wanted({}, { makesKeys: false });
    assert.match((await refusal(wish, secrets)).message, /^CLUSTER_SECRET_MISSING/);
    const others = new Secrets();
    await createInCluster(wanted(), others, NOW_MS);
    secrets.kept.set("demo-keys", others.kept.get("demo-keys") ?? {});
    await createInCluster(wish, secrets, NOW_MS);
    assert.deepEqual(secrets.created, ["demo-admin", "demo-network"]);
  });

  it("lets one transaction ask for no more gas than a block has", async () => {
    const secrets = new Secrets();
    await createInCluster(wanted({ gasLimit: 1_000_000 }), secrets, NOW_MS);
    assert.match(JSON.stringify(secrets.kept.get("demo-network")), /transactionGasMax.{4}1000000/);
  });

  it("refuses a timestamp that has not come yet", async () => {
    const error = await refusalOfNew(wanted({ timestamp: "2027-01-01 00:00:00" }));
    assert.match(error.message, /^CONFIG_INVALID.*GENESIS_TIMESTAMP_IN_FUTURE/);
  });

  it("takes accounts of another chain along, and makes an admin beside them", async () => {
    const secrets = new Secrets();
    const carried = Array.from({ length: 9 }, (_, index) => ({
      address: `0x${String(index + 1).repeat(40)}`,
      balance: 7,
      isAdmin: false,
      ...(index === 0 && { nonce: 2, code: "0x6001", storage: { "0x2": "0x3", "0x1": "0x0" } }),
    }));
    await createInCluster(wanted({ alloc: carried }), secrets, NOW_MS);
    const file = parseNetworkFile(secrets.kept.get("demo-network")?.["network.json"] ?? "", NOW_MS);
    assert.ok(file.ok);
    const { alloc } = file.value.genesis;
    assert.equal(alloc.length, 10);
    assert.deepEqual(genesisAdmins(file.value.genesis), [alloc[0]?.address]);
    assert.deepEqual(alloc[1]?.carried, {
      isAdmin: false,
      nonce: 2n,
      code: Uint8Array.of(0x60, 1),
      storage: [[2n, 3n]],
    });
    // The same values again are the same network; others are told without listing them all.
    await createInCluster(wanted({ alloc: carried }), secrets, NOW_MS);
    const { message } = await refusal(wanted({ alloc: [] }), secrets);
    assert.match(message, /genesisBlock\.alloc: the network has 0x1{40}=7 \(0x.* and 6 more/);
    const turned = await refusal(wanted({ alloc: carried.toReversed() }), secrets);
    assert.match(turned.message, /another order of them/);
  });
});

async function refusalOfNew(wish: WantedNetwork): Promise<Error> {
  let failure: unknown;
  const secrets = new Secrets();
  await createInCluster(wish, secrets, NOW_MS).catch((error: unknown) => (failure = error));
  assert.ok(!secrets.kept.has("demo-network"), "no network was founded");
  assert.ok(failure instanceof Error, "it was refused");
  return failure;
}
