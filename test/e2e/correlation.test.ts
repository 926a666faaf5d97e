/** One transaction in the logs of five real processes, and the level of a process that runs. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { privateKeyToAccount } from "viem/accounts";
import type { Hex } from "../../src/base/hex.ts";
import {
  type RunningNetwork,
  type Service,
  SERVICES,
  startNetwork,
  waitFor,
} from "../support/processes/network-process.ts";

const REPLICAS = SERVICES.slice(0, 4);
const CLIENT = "client-0-clientservice";
const ORDERED = "transaction ordered";
const EXECUTED = "transaction executed";
const READABLE = "the receipt of a transaction can be read";

type Entry = Readonly<Record<string, unknown>>;

describe("correlation ids", { timeout: 120_000 }, () => {
  let network: RunningNetwork;
  let nonce = 0;

  before(async () => {
    network = await startNetwork();
  });
  after(() => network.stop());

  const entriesOf = (service: Service): readonly Entry[] =>
    readFileSync(path.join(network.dataPath, "logs", `${service}.log`), "utf8")
      .split("\n")
      // The last line may be written right now.
      .slice(0, -1)
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Entry);
  const allEntries = (): readonly Entry[] => SERVICES.flatMap(entriesOf);
  const toggle = async (message: string): Promise<void> => {
    const said = (): number => allEntries().filter((entry) => entry["message"] === message).length;
    const before = said();
    for (const service of SERVICES) network.kill(service, "SIGUSR2");
    await waitFor(() => said() === before + SERVICES.length, message);
  };
  const post = async (
    headers: Readonly<Record<string, string>>,
    body: object,
  ): Promise<unknown> => {
    const response = await fetch(network.url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ id: 1, jsonrpc: "2.0", ...body }),
    });
    return ((await response.json()) as { result?: unknown }).result;
  };
  const send = async (headers: Readonly<Record<string, string>>): Promise<Hex> => {
    const account = privateKeyToAccount(network.accounts[0]!.privateKey);
    const raw = await account.signTransaction({
      ...{ type: "legacy", to: account.address, value: 0n, gas: 21_000n, gasPrice: 0n },
      ...{ nonce: nonce++, chainId: Number(network.chainId) },
    });
    const hash = await post(headers, { method: "eth_sendRawTransaction", params: [raw] });
    await waitFor(
      async () => (await network.rpc("eth_getTransactionReceipt", [hash])) !== null,
      "the receipt",
    );
    return hash as Hex;
  };

  it("are in no entry while the level is info", async () => {
    await send({ "x-correlation-id": "quiet" });
    const found = allEntries().filter((entry) => entry["correlation_id"] !== undefined);
    assert.deepEqual(found, []);
    assert.deepEqual(
      allEntries().filter((entry) => entry["level"] === "debug"),
      [],
    );
  });

  it("begin when the level of the running nodes is changed to debug", async () => {
    await toggle("the log level is debug now");
    await post({ "x-correlation-id": "first" }, { method: "eth_blockNumber", params: [] });
    const isThere = (): boolean =>
      allEntries().some((entry) => entry["correlation_id"] === "first");
    await waitFor(isThere, "the request is in the log");
  });

  it("lead from a request through all replicas to the receipt", async () => {
    const hash = await send({ "x-correlation-id": "order-4711" });
    const about = (): readonly Entry[] =>
      allEntries().filter((entry) => entry["correlation_id"] === hash);
    const has = (service: string, message: string): boolean =>
      about().some((entry) => entry["service_name"] === service && entry["message"] === message);
    for (const replica of REPLICAS) {
      await waitFor(() => has(replica, ORDERED), `${replica}: ${ORDERED}`);
      await waitFor(() => has(replica, EXECUTED), `${replica}: ${EXECUTED}`);
    }
    await waitFor(() => has(CLIENT, READABLE), READABLE);
    assert.ok(has(CLIENT, "transaction accepted"));
    assert.ok(REPLICAS.some((replica) => has(replica, "transaction admitted")));
    const executed = about().filter((entry) => entry["message"] === EXECUTED);
    const results = new Set(executed.map((entry) => entry["result"]));
    assert.equal(results.size, 1, "all replicas say the same result");
    const heights = new Set(about().flatMap((entry) => entry["height"] ?? []));
    assert.equal(heights.size, 1, "and the same height");
    const [receipt] = about().filter((entry) => entry["message"] === READABLE);
    assert.equal(receipt?.["isSuccess"], true);
    const requests = (): readonly Entry[] =>
      entriesOf("client-0").filter((entry) => entry["correlation_id"] === "order-4711");
    await waitFor(() => requests().length > 0, "the request is in the log");
    const [request] = requests();
    assert.equal(request?.["transaction"], hash);
    assert.equal(request["service_name"], "client-0-ethrpc");
    assert.equal(request["method"], "eth_sendRawTransaction");
  });

  it("end when the level is changed back", async () => {
    await toggle("the log level goes back to what is configured");
    const hash = await send({});
    assert.ok(!allEntries().some((entry) => entry["correlation_id"] === hash));
  });
});
