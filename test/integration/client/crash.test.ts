/** kill -9 while a client node follows: what it shows afterwards is the chain, without a hole. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../../support/following-client.ts";
import { ACCOUNTS, transfer } from "../../support/replica-network.ts";
import { lastReported, runUntil } from "../../unit/storage/child-process.ts";
import { openClient, temporaryDirectory } from "../../unit/client/client-nodes.ts";
import { FinalChain } from "../../unit/client/final-chain.ts";
import { FOLLOWING_NODE } from "../../unit/client/following-node.ts";
import { ServingNetwork } from "../../unit/client/serving-replicas.ts";

const KILLS = 4;

describe("a client node that is killed while it follows", () => {
  it("shows every block again after each kill, and goes on", async () => {
    const directory = temporaryDirectory();
    const network = await ServingNetwork.open(new FinalChain());
    let nonce = 0;
    const growth = setInterval(() => {
      network.order([transfer(0, nonce)], nonce % 4 === 0 ? "none" : "fast");
      nonce++;
    }, 15);
    try {
      const ports = network.endpoints.map(({ port }) => String(port));
      const command = [process.execPath, FOLLOWING_NODE, directory.path, ...ports];
      let shown = 0;
      for (let kill = 0; kill < KILLS; kill++) {
        const { lines, signal } = await runUntil(command, ({ length }) => length > 8, {
          delayMs: 37 * kill,
        });
        assert.equal(signal, "SIGKILL");
        const first = Number(lines[0]?.slice("published ".length));
        assert.ok(first <= shown + 1, `kill ${kill}: ${first} comes after ${shown}`);
        shown = Math.max(shown, lastReported(lines, "published") ?? 0);
      }
      clearInterval(growth);
      network.order([transfer(1, 0)]);
      const { node, failures } = await openClient(directory.path, network);
      await until(() => node.status().publishedHeight === network.chain.height, "all blocks");
      for (let number = 0n; number < network.chain.blockNumber; number++) {
        const block = node.reads.blockByNumber(number);
        assert.ok(block !== undefined, `block ${number}`);
        assert.equal(block.receipts.length, 1, `block ${number}`);
        assert.equal(node.reads.stateAt(block)?.nonce(ACCOUNTS[0]!), number, `block ${number}`);
      }
      assert.deepEqual(failures, []);
      await node.close();
    } finally {
      clearInterval(growth);
      await network.close();
      directory.remove();
    }
  });
});
