/** A client node with ethrpc and its health port in one process, as `quorate client` runs them. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { bytesToHex } from "../../../src/base/hex.ts";
import type { ClientNode } from "../../../src/client/client-node.ts";
import { HealthServer } from "../../../src/metrics/health-server.ts";
import { createMethodTable } from "../../../src/rpc/methods/method-table.ts";
import { DEFAULT_RPC_OPTIONS } from "../../../src/rpc/rpc-options.ts";
import { RpcServer } from "../../../src/rpc/server/rpc-server.ts";
import { assemble } from "../evm/bytecode.ts";
import { openClient, temporaryDirectory } from "./client-nodes.ts";
import { FinalChain } from "./final-chain.ts";
import { ServingNetwork } from "./serving-replicas.ts";

/** Straight-line code of little more than a kilobyte that hashes 60 MB. */
const HASHES = assemble(`PUSH ${1 << 20} PUSH 0 KECCAK256 POP `.repeat(60));
const BATCH = 10;
const CHEAP = 10;

describe("a client node under a heavy batch", () => {
  let network: ServingNetwork;
  let directory: ReturnType<typeof temporaryDirectory>;
  let node: ClientNode;
  let rpc: RpcServer;
  let health: HealthServer;

  beforeEach(async () => {
    directory = temporaryDirectory();
    network = await ServingNetwork.open(new FinalChain());
    ({ node } = await openClient(directory.path, network, { calls: { timeMaxMs: 500 } }));
    await node.whenReady();
    const methods = createMethodTable(node.reads, node.pending);
    rpc = await RpcServer.open({ ...DEFAULT_RPC_OPTIONS, port: 0 }, { methods });
    const source = { notReadyReason: () => undefined, status: () => ({}) };
    health = await HealthServer.open({ host: "127.0.0.1", port: 0 }, source);
  });
  afterEach(async () => {
    await health.close();
    await rpc.close();
    await node.close();
    await network.close();
    directory.remove();
  });

  const post = async (body: unknown): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${rpc.port}/standard`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });
    return response.json();
  };

  for (const method of ["eth_call", "eth_estimateGas"]) {
    it(`/live and cheap requests are answered while a batch of ${method} runs`, async () => {
      const params = [{ data: bytesToHex(HASHES), gas: "0x2faf080" }, "latest"];
      const items = Array.from({ length: BATCH }, (_, id) => ({
        ...{ jsonrpc: "2.0", id, method, params },
      }));
      const state = { isAnswered: false };
      const batch = post(items).finally(() => {
        state.isAnswered = true;
      });
      let answeredCount = 0;
      while (answeredCount < CHEAP && !isAnswered(state)) {
        const live = await fetch(`http://127.0.0.1:${health.port}/live`);
        assert.equal(live.status, 200);
        await live.arrayBuffer();
        const cheap = { jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] };
        assert.deepEqual(await post(cheap), { jsonrpc: "2.0", id: 1, result: "0x0" });
        answeredCount++;
      }
      assert.ok(!isAnswered(state), "they were answered before the batch was");
      const answers = (await batch) as { id: number }[];
      assert.deepEqual(
        answers.map(({ id }) => id),
        items.map(({ id }) => id),
      );
    });
  }
});

function isAnswered(state: { readonly isAnswered: boolean }): boolean {
  return state.isAnswered;
}
