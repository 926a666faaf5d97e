/** A hash that was given is a promise (SPEC E13). */
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { ClientNode, ClientStatus } from "../../../src/client/client-node.ts";
import type { ClientOptions } from "../../../src/client/client-options.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { bytesToHash } from "../../../src/wire/hash-text.ts";
import { until } from "../../support/following-client.ts";
import { ACCOUNTS, GENESIS, transfer } from "../../support/replica-network.ts";
import { runUntil } from "../storage/child-process.ts";
import { openClient, temporaryDirectory } from "./client-nodes.ts";
import { FinalChain } from "./final-chain.ts";
import { ServingNetwork, ServingReplica } from "./serving-replicas.ts";
import { SUBMITTING_NODE } from "./submitting-node.ts";

describe("what a client node promised", () => {
  let network: ServingNetwork;
  let directory: ReturnType<typeof temporaryDirectory>;
  let node: ClientNode;

  const open = async (more: Partial<ClientOptions> = {}): Promise<void> => {
    ({ node } = await openClient(directory.path, network, more));
  };
  const submit = async (bytes: Uint8Array): Promise<Uint8Array> => {
    const submitted = await node.pending.submitRaw(bytes);
    assert.ok(submitted.ok, submitted.ok ? "" : submitted.error.code);
    return submitted.value;
  };
  const countOf = (replica: number, bytes: Uint8Array): number =>
    network.replicas[replica]!.submitted.get(bytesToHash(keccak256(bytes)))?.count ?? 0;
  const status = (): ClientStatus => node.status();

  beforeEach(async () => {
    directory = temporaryDirectory();
    network = await ServingNetwork.open(new FinalChain());
  });
  afterEach(async () => {
    await node.close();
    await network.close();
    directory.remove();
  });

  it("survives kill -9 and is sent again until it is final", async () => {
    const command = [process.execPath, SUBMITTING_NODE, directory.path, "20"];
    const child = await runUntil(command, ({ length }) => length > 0);
    assert.deepEqual(child.lines, ["promised"]);
    assert.equal(child.signal, "SIGKILL");
    await open();
    assert.equal(status().openTransactions, 20);
    await until(() => countOf(3, transfer(19, 0)) >= 2, "sent, and sent again");
    network.orderSubmitted();
    await until(() => status().openTransactions === 0, "all are final");
    for (let account = 0; account < 20; account++) {
      const found = node.reads.transactionStatus(keccak256(transfer(account, 0)));
      assert.equal(found?.kind, "final", `account ${account}`);
    }
    await node.close();
    await open();
    assert.equal(status().openTransactions, 0, "and is not promised twice");
  });

  it("is sent to a replica that was away", async () => {
    await open({ timing: { resendMinMs: 60_000, stallMs: 150 } });
    await node.whenReady();
    const bytes = transfer(0, 0);
    await network.replicas[2]!.close();
    await submit(bytes);
    await until(() => countOf(3, bytes) === 1, "the others have it");
    const { port } = network.replicas[2]!;
    network.replicas[2] = await ServingReplica.open(2, network.chain, port);
    node.setEndpoint(2, { host: "127.0.0.1", port: network.replicas[2].port });
    await until(() => countOf(2, bytes) === 1, "it gets it when it is back");
  });

  it("is given up with a reason when its nonce was used by another, also after a restart", async () => {
    await open();
    const refused: string[] = [];
    node.on("transactionRefused", ({ code }) => refused.push(code));
    const hash = await submit(transfer(0, 0, 1n));
    network.order([transfer(0, 0, 2n)]);
    await until(() => refused.length === 1, "it is reported");
    assert.deepEqual(refused, ["TX_NONCE_TOO_LOW"]);
    const reasonOf = (): string | undefined => {
      const found = node.reads.transactionStatus(hash);
      return found?.kind === "refused" ? found.code : undefined;
    };
    assert.equal(reasonOf(), "TX_NONCE_TOO_LOW");
    await submit(transfer(1, 0));
    await node.close();
    await open();
    assert.equal(reasonOf(), "TX_NONCE_TOO_LOW");
    assert.equal(status().openTransactions, 1);
  });

  it("is kept when it was ordered too early, and taken when its turn comes", async () => {
    await open();
    const early = await submit(transfer(0, 1));
    network.order([transfer(0, 1), transfer(3, 0)]);
    await until(() => status().publishedHeight === 1, "the block is published");
    assert.equal(node.reads.transactionStatus(early)?.kind, "pending");
    assert.equal(countOf(0, transfer(0, 1)), 0, "replicas could not order it");
    await submit(transfer(0, 0));
    await until(() => countOf(0, transfer(0, 1)) > 0, "it is sent when the gap is closed");
    network.order([transfer(0, 0), transfer(0, 1)]);
    await until(
      () => node.reads.transactionStatus(early)?.kind === "final",
      "in order it is taken",
    );
  });

  it("expires in the end", async () => {
    let nowMs = 1_000_000;
    ({ node } = await openClient(
      directory.path,
      network,
      { timing: { expiryCheckMs: 20 }, pool: { lifetimeMs: 5_000 } },
      () => nowMs,
    ));
    const hash = await submit(transfer(0, 0));
    nowMs += 4_999;
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.equal(node.reads.transactionStatus(hash)?.kind, "pending");
    nowMs += 1;
    await until(() => node.reads.transactionStatus(hash)?.kind === "refused", "its time is over");
    assert.equal(status().openTransactions, 0);
  });

  it("stays promised when replicas deny what is permitted here: they are behind a grant", async () => {
    await open();
    await node.whenReady();
    const hash = await submit(transfer(0, 0));
    for (const replica of network.replicas) {
      const transactionId = bytesToHash(hash);
      replica.say({ kind: "refused", transactionId, code: "TX_PERMISSION_DENIED" });
    }
    await until(() => {
      const found = node.reads.transactionStatus(hash);
      return found?.kind === "pending" && found.code === "TX_PERMISSION_DENIED";
    }, "they are heard");
    await submit(transfer(1, 0));
    assert.equal(node.reads.transactionStatus(hash)?.kind, "pending");
  });

  it("fits in a journal that does not grow with what is done", async () => {
    await open({ journalSegmentSize: 64 * 1024 });
    await node.whenReady();
    for (let nonce = 0; nonce < 40; nonce++) {
      await Promise.all(ACCOUNTS.map((_, account) => submit(transfer(account, nonce))));
      await until(() => {
        network.orderSubmitted();
        return status().openTransactions === 0;
      }, `round ${nonce}`);
    }
    const open40 = transfer(7, 40);
    await submit(open40);
    const journalPath = path.join(directory.path, "journal");
    const sizes = readdirSync(journalPath).map(
      (name) => statSync(path.join(journalPath, name)).size,
    );
    const size = sizes.reduce((sum, each) => sum + each, 0);
    // A segment, and one that is kept for later; those 1,600 transactions take 250 KiB.
    assert.ok(size <= 192 * 1024, `${size} bytes`);
    await node.close();
    await open();
    assert.equal(status().openTransactions, 1);
    assert.equal(node.reads.pendingTransaction(keccak256(open40))?.sender, ACCOUNTS[7]);
  });
});

describe("what a client node rejects on submission", () => {
  const cases: [string, () => Uint8Array, string][] = [
    ["bytes that are no transaction", () => Uint8Array.of(1, 2, 3), "RLP_TRAILING_BYTES"],
    ["a nonce beyond the window", () => transfer(0, 5_000), "TX_NONCE_GAP_TOO_LARGE"],
    ["more than the sender has", () => transfer(0, 0, 10n ** 19n), "TX_INSUFFICIENT_BALANCE"],
    ["a second transaction of a nonce", () => transfer(5, 0, 2n), "TX_NONCE_TAKEN"],
    ["what the permission rules deny", () => transfer(6, 0), "TX_PERMISSION_DENIED"],
  ];
  for (const [what, bytes, code] of cases) {
    it(`${what}: ${code}`, async () => {
      const directory = temporaryDirectory();
      const { node } = await openClient(directory.path, undefined, {
        genesis: {
          ...GENESIS,
          isWritePermissioned: true,
          alloc: GENESIS.alloc.filter(({ address }) => address !== ACCOUNTS[6]),
        },
      });
      try {
        assert.ok((await node.pending.submitRaw(transfer(5, 0))).ok);
        const refused = await node.pending.submitRaw(bytes());
        assert.equal(refused.ok ? "taken" : refused.error.code, code);
        assert.equal(node.status().openTransactions, 1);
      } finally {
        await node.close();
      }
      directory.remove();
    });
  }
});
