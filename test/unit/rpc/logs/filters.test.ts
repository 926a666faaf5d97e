import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { bytesToHex } from "../../../../src/base/hex.ts";
import { DEFAULT_RPC_LIMITS } from "../../../../src/rpc/rpc-options.ts";
import { CONTRACTS, hexOf, RpcNode, topic, word } from "../rpc-node.ts";

type Json = Readonly<Record<string, unknown>>;

describe("filters", () => {
  let node: RpcNode;
  let nonce = 0n;

  const ask = (method: string, ...params: readonly unknown[]): Promise<unknown> =>
    node.standard(method, ...params);
  const code = async (method: string, ...params: readonly unknown[]): Promise<number> =>
    (await node.request("/standard", method, params)).error!.code;
  const log = async (value: bigint): Promise<string> => {
    const data = topic(value);
    const hash = await node.send(0, { nonce, to: CONTRACTS.logger, data });
    nonce++;
    return hash;
  };

  before(async () => {
    node = await RpcNode.open({ limits: { filtersMax: 5, logBlocksMax: 3 } });
  });
  after(() => node.close());

  it("of blocks give each new hash once", async () => {
    const id = await ask("eth_newBlockFilter");
    assert.deepEqual(await ask("eth_getFilterChanges", id), []);
    await log(1n);
    const first = node.chain.seal();
    await log(2n);
    const second = node.chain.seal();
    const hashes = [first, second].map(({ hash }) => bytesToHex(hash));
    assert.deepEqual(await ask("eth_getFilterChanges", id), hashes);
    assert.deepEqual(await ask("eth_getFilterChanges", id), []);
    assert.equal(await ask("eth_uninstallFilter", id), true);
    assert.equal(await ask("eth_uninstallFilter", id), false);
    assert.equal(await code("eth_getFilterChanges", id), -32000);
  });

  it("of logs give all logs of a block with more than one answer may have", async () => {
    const own = await RpcNode.open({ limits: { logResultsMax: 2 } });
    try {
      const id = await own.standard("eth_newFilter", {});
      const values = [1n, 2n, 3n, 4n, 5n];
      for (const [at, value] of values.entries()) {
        await own.send(0, { nonce: BigInt(at), to: CONTRACTS.logger, data: topic(value) });
      }
      const { hash } = own.chain.seal();
      const seen: unknown[] = [];
      for (const count of [2, 2, 1, 0]) {
        const logs = (await own.standard("eth_getFilterChanges", id)) as readonly Json[];
        assert.equal(logs.length, count);
        seen.push(...logs.map(({ topics }) => (topics as readonly string[])[1]));
      }
      assert.deepEqual(seen, values.map(word));
      const byHash = await own.standard("eth_getLogs", { blockHash: bytesToHex(hash) });
      assert.equal((byHash as readonly Json[]).length, values.length);
    } finally {
      await own.close();
    }
  });

  it("of logs give each new log once, in parts if there are many blocks", async () => {
    const filter = { address: hexOf(CONTRACTS.logger), fromBlock: "0x0", topics: [null] };
    const id = await ask("eth_newFilter", filter);
    const other = await ask("eth_newFilter", { topics: [word(1n)] });
    const values = [10n, 11n, 12n, 13n];
    for (const value of values) {
      await log(value);
      node.chain.seal();
    }
    const seen: unknown[] = [];
    for (const count of [3, 1, 0]) {
      const logs = (await ask("eth_getFilterChanges", id)) as readonly Json[];
      assert.equal(logs.length, count);
      seen.push(...logs.map(({ topics }) => (topics as readonly string[])[1]));
    }
    assert.deepEqual(seen, values.map(word));
    assert.deepEqual(await ask("eth_getFilterChanges", other), []);
    const recent = await ask("eth_newFilter", { fromBlock: "0x5", toBlock: "0x6" });
    const all = (await ask("eth_getFilterLogs", recent)) as readonly Json[];
    assert.equal(all.length, 2);
    for (const one of [id, other, recent]) await ask("eth_uninstallFilter", one);
  });

  it("of waiting transactions give each hash once", async () => {
    const early = await log(20n);
    const id = await ask("eth_newPendingTransactionFilter");
    const hash = await log(21n);
    assert.deepEqual(await ask("eth_getFilterChanges", id), [hash]);
    assert.deepEqual(await ask("eth_getFilterChanges", id), []);
    assert.notEqual(early, hash);
    assert.equal(await code("eth_getFilterLogs", id), -32602);
    node.chain.seal();
    await ask("eth_uninstallFilter", id);
  });

  it("are bounded in number", async () => {
    const ids = [];
    for (let count = 0; count < 5; count++) ids.push(await ask("eth_newBlockFilter"));
    assert.equal(await code("eth_newBlockFilter"), -32005);
    assert.equal(await ask("eth_uninstallFilter", ids[0]), true);
    ids[0] = await ask("eth_newBlockFilter");
    assert.equal(new Set(ids).size, 5);
    for (const id of ids) await ask("eth_uninstallFilter", id);
  });

  it("are bounded in what all of them look for", async () => {
    const own = await RpcNode.open({ limits: { filterValuesMax: 10 } });
    const filterOf = (count: number): Json => ({
      address: Array.from({ length: count }, (_, index) => hexOf(BigInt(index + 1))),
      topics: [null, [word(1n), word(2n)]],
    });
    const made = async (count: number): Promise<unknown> =>
      (await own.request("/standard", "eth_newFilter", [filterOf(count)])).error?.code;
    try {
      const id = await own.standard("eth_newFilter", filterOf(6));
      assert.equal(await made(1), -32005);
      assert.equal(await own.standard("eth_uninstallFilter", id), true);
      assert.equal(await made(8), undefined);
      assert.equal(await made(1), -32005);
      assert.notEqual(await own.standard("eth_newBlockFilter"), undefined);
    } finally {
      await own.close();
    }
  });

  it("that are not polled expire", async (test) => {
    const now = performance.now.bind(performance);
    let skippedMs = 0;
    test.mock.method(performance, "now", () => now() + skippedMs);
    const { filterIdleMs } = DEFAULT_RPC_LIMITS;
    const asked = await ask("eth_newBlockFilter");
    const forgotten = await ask("eth_newBlockFilter");

    skippedMs += 0.6 * filterIdleMs;
    assert.deepEqual(await ask("eth_getFilterChanges", asked), []);
    skippedMs += 0.6 * filterIdleMs;
    assert.deepEqual(await ask("eth_getFilterChanges", asked), []);
    assert.equal(await code("eth_getFilterChanges", forgotten), -32000);
    skippedMs += 1.1 * filterIdleMs;
    assert.equal(await code("eth_getFilterChanges", asked), -32000);
  });
});
