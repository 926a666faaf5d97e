/** `quorate up` with real processes, as a newcomer meets it. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import {
  assertOneLine,
  PROGRAM,
  READY_LINE,
  rpc,
  runCommand,
  SERVICES,
  startNetwork,
  supervisorRecord,
  waitFor,
  type CommandResult,
  type RunningNetwork,
} from "../support/processes/network-process.ts";
import { sendOne } from "../support/network-transfers.ts";

type JsonRecord = Readonly<Record<string, unknown>>;

const QUANTITY = /^0x(0|[1-9a-f][0-9a-f]*)$/;
const DATA = /^0x([0-9a-f]{2})*$/;
const HASH = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;
const FIRST_DEV_ACCOUNT = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const DEFAULT_TIMESTAMP = `0x${(Date.UTC(2022, 11, 2, 0, 1, 0) / 1000).toString(16)}`;

const directory = mkdtempSync(path.join(tmpdir(), "quorate-up-"));

describe("quorate up", () => {
  const dataPath = path.join(directory, "network");
  let network: RunningNetwork;

  before(async () => {
    network = await startNetwork({ dataPath });
    console.log(`first start: ready after ${Math.round(network.readyMs)} ms`);
  });
  after(async () => {
    await network.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const refused = async (args: readonly string[], code: string, words: RegExp): Promise<void> => {
    const result = await runCommand(args);
    assertOneLine(result, code, words);
  };
  const blockNumber = async (): Promise<number> => Number(await network.rpc("eth_blockNumber"));

  it("runs four replicas and a client node as processes", () => {
    const pids = network.pids();
    assert.deepEqual([...pids.keys()], [...SERVICES]);
    assert.equal(new Set(pids.values()).size, SERVICES.length);
  });

  it("writes the ready line once, as a line of its own and as an entry's message", () => {
    const lines = readFileSync(path.join(dataPath, "logs/client-0.log"), "utf8").split("\n");
    assert.equal(lines.filter((line) => line === READY_LINE).length, 1);
    const entries = lines.filter((line) => line.startsWith("{"));
    const ready = entries
      .map((line) => JSON.parse(line) as JsonRecord)
      .filter(({ message }) => message === READY_LINE);
    assert.equal(ready.length, 1);
    assert.equal(ready[0]!["service_name"], "client-0-clientservice");
  });

  it("answers the sample call of the specification in its exact shape", async () => {
    const response = await fetch(network.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: '{"id":1,"jsonrpc":"2.0","method":"eth_getBlockByNumber","params":["0x00",true]}',
    });
    assert.equal(response.status, 200);
    const answer = (await response.json()) as JsonRecord;
    assert.deepEqual(Object.keys(answer), ["id", "jsonrpc", "method", "result"]);
    assert.equal(answer["id"], 1);
    assert.equal(answer["jsonrpc"], "2.0");
    assert.equal(answer["method"], "eth_getBlockByNumber");
    assertSampleBlock(answer["result"] as JsonRecord);
  });

  it("makes transactions final", async () => {
    await sendOne(network, 0);
    await sendOne(network, 1);
    assert.equal(await blockNumber(), 2);
  });

  it("tells ethrpc and status where the network stands", async () => {
    let status: JsonRecord = {};
    // What it knows of the replicas is up to a second old, and one link may come late.
    const knowsAll = async (): Promise<boolean> => {
      status = (await network.rpc("quorate_status")) as JsonRecord;
      return status["replicasUp"] === 4 && status["problem"] === null;
    };
    await waitFor(knowsAll, "the client node knows that all is well");
    assert.equal(status["isReady"], true);
    assert.equal(status["blockNumber"], "0x2");
    const replicas = (await network.rpc("quorate_replicas")) as JsonRecord[];
    assert.deepEqual(
      replicas.map(({ replica, isUp }) => [replica, isUp]),
      [0, 1, 2, 3].map((replica) => [replica, true]),
    );
    for (const service of SERVICES.slice(0, 4)) {
      const isLinked = async (): Promise<boolean> => {
        const { peersUp } = (await network.health(service, "/status")) as { peersUp: unknown[] };
        return peersUp.length === 3;
      };
      await waitFor(isLinked, `${service} has links to all others`);
    }
    const shown = await runCommand(["status", "--data", dataPath, "--json"]);
    assert.equal(shown.code, 0, shown.stderr);
    const report = JSON.parse(shown.stdout) as { replicas: JsonRecord[]; client: JsonRecord };
    assert.deepEqual(
      report.replicas.map(({ isUp, mode, peersUp }) => ({ isUp, mode, peersUp })),
      Array.from({ length: 4 }, () => ({ isUp: true, mode: "active", peersUp: 3 })),
    );
    assert.equal(report.client["blockNumber"], "2");
    const table = await runCommand(["status", "--data", dataPath]);
    // A slow start may have seen a change of the leader.
    assert.equal(table.stdout.match(/^replica-\d +up +leader /gm)?.length, 1, table.stdout);
    assert.match(table.stdout, /all is well/);
  });

  it("answers /live, /ready and /status on every node", async () => {
    for (const service of SERVICES) {
      assert.deepEqual(await network.health(service, "/live"), { isLive: true }, service);
      assert.deepEqual(await network.health(service, "/ready"), { isReady: true }, service);
      const status = (await network.health(service, "/status")) as JsonRecord;
      assert.equal(status["pid"], network.pid(service), service);
    }
  });

  it("refuses a second network on the same data in one line that says what to do", async () => {
    await refused(["up", "--data", dataPath], "NETWORK_RUNNING", /quorate down --data/);
  });

  it("refuses a port of ethrpc that is taken", async () => {
    const { port } = new URL(network.url);
    const args = ["up", "--data", path.join(directory, "other"), "--port", port];
    await refused(args, "PORT_TAKEN", /give another --port/);
  });

  it("shows logs of one service or of all", async () => {
    const all = await runCommand(["logs", "--data", dataPath, "--lines", "1000"]);
    const services = entriesOf(all).map((entry) => entry["service_name"]);
    const nodes = ["replica-0", "replica-3", "client-0-clientservice", "client-0-ethrpc"];
    for (const name of nodes) assert.ok(services.includes(name), name);
    const one = await runCommand(["logs", "client-0-ethrpc", "--data", dataPath]);
    const names = entriesOf(one).map((entry) => entry["service_name"]);
    assert.deepEqual([...new Set(names)], ["client-0-ethrpc"]);
    for (const entry of entriesOf(all)) {
      assert.match(String(entry["logtime"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{3},\+0000$/);
      assert.equal(entry["blockchain_id"], "quorate-5000");
    }
  });

  it("never writes a private key to a log", () => {
    for (const service of SERVICES) {
      const log = readFileSync(path.join(dataPath, `logs/${service}.log`), "utf8");
      assert.doesNotMatch(log, /PRIVATE KEY/, service);
      for (const { privateKey } of network.accounts) {
        assert.ok(!log.includes(privateKey.slice(2)), service);
      }
    }
  });

  it("starts a node again that was killed, a replica or the client", async () => {
    for (const service of ["replica-1", "client-0"] as const) {
      const before = network.pid(service);
      network.kill(service, "SIGKILL");
      const isBack = async (): Promise<boolean> => {
        const pid = network.pid(service);
        if (pid === undefined || pid === before) return false;
        const ready = network.health(service, "/ready") as Promise<JsonRecord>;
        return ready.then(({ isReady }) => isReady === true).catch(() => false);
      };
      await waitFor(isBack, `${service} is back`);
    }
    await sendOne(network, 2);
    assert.match(network.output.stderr, /replica-1: was ended by SIGKILL/);
  });

  it("says why there is no progress when two replicas are down", async () => {
    // Stopped, not ended: the supervisor does not start them again.
    const stopped = ["replica-2", "replica-3"] as const;
    for (const service of stopped) network.kill(service, "SIGSTOP");
    const shown = await runCommand(["status", "--data", dataPath]);
    for (const service of stopped) network.kill(service, "SIGCONT");
    assert.equal(shown.code, 1);
    assert.match(shown.stdout, /no progress: 2 of 4 replicas are up, 3 are needed/);
    await sendOne(network, 3);
  });

  it("stops all nodes at SIGTERM and goes on with the chain at the next start", async () => {
    const pids = [...network.pids().values()];
    const { hash } = (await network.rpc("eth_getBlockByNumber", ["latest", false])) as {
      hash: string;
    };
    assert.equal(await network.stop(), 0);
    for (const pid of pids) assert.equal(isAlive(pid), false, `process ${pid} is gone`);
    assert.equal(existsSync(path.join(dataPath, "supervisor.json")), false);
    network = await startNetwork({ dataPath });
    console.log(`second start: ready after ${Math.round(network.readyMs)} ms`);
    const block = (await network.rpc("eth_getBlockByNumber", ["latest", false])) as JsonRecord;
    assert.equal(block["hash"], hash);
    assert.equal(await blockNumber(), 4);
    await sendOne(network, 4);
  });

  it("leaves no process behind when the supervisor is killed, and starts again", async () => {
    const pids = [...network.pids().values()];
    network.supervisor.kill("SIGKILL");
    // At once: it waits for what is left of the network before.
    network = await startNetwork({ dataPath });
    for (const pid of pids) await waitFor(() => !isAlive(pid), `process ${pid} is gone`);
    await sendOne(network, 5);
  });
});

describe("quorate up in other ways", () => {
  const otherDirectory = mkdtempSync(path.join(tmpdir(), "quorate-other-"));
  after(() => rmSync(otherDirectory, { recursive: true, force: true }));

  it("--detach returns when the network is ready, and down stops it", async () => {
    const dataPath = path.join(otherDirectory, "detached");
    const started = await runCommand(["up", "--data", dataPath, "--port", "0", "--detach"]);
    assert.equal(started.code, 0, started.stderr);
    assert.ok(started.stdout.split("\n").includes(READY_LINE));
    assert.match(started.stdout, /INSECURE/);
    const { pid, rpcUrl } = supervisorRecord(dataPath);
    assert.equal(await rpc(rpcUrl, "eth_chainId"), "0x1388");
    const stopped = await runCommand(["down", "--data", dataPath]);
    assert.equal(stopped.code, 0, stopped.stderr);
    assert.equal(isAlive(pid), false);
  });

  it("--ephemeral leaves nothing, Ctrl-C stops it, flags make another genesis", async () => {
    const flags = ["--chain-id", "1234", "--genesis-timestamp", "2023-04-05 06:07:08"];
    const args = [PROGRAM, "up", "--ephemeral", "--port", "0", "--json", ...flags];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
    const [output] = (await once(child.stdout, "data")) as [Buffer];
    const summary = JSON.parse(output.toString()) as { rpcUrl: string; data: string };
    assert.equal(await rpc(summary.rpcUrl, "eth_chainId"), "0x4d2");
    const block = (await rpc(summary.rpcUrl, "eth_getBlockByNumber", ["0x0", false])) as JsonRecord;
    assert.equal(block["timestamp"], `0x${(Date.UTC(2023, 3, 5, 6, 7, 8) / 1000).toString(16)}`);
    child.kill("SIGINT");
    await once(child, "close");
    assert.equal(child.exitCode, 0);
    assert.equal(existsSync(summary.data), false);
  });
});

function assertSampleBlock(block: JsonRecord): void {
  const forms: Readonly<Record<string, RegExp>> = {
    extraData: DATA,
    gasLimit: QUANTITY,
    gasUsed: QUANTITY,
    hash: HASH,
    miner: ADDRESS,
    nonce: /^0x[0-9a-f]{16}$/,
    stateRoot: HASH,
  };
  for (const [name, form] of Object.entries(forms)) {
    assert.equal(typeof block[name], "string", name);
    assert.match(String(block[name]), form, name);
  }
  assert.equal(block["number"], "0x0");
  assert.equal(block["parentHash"], `0x${"0".repeat(64)}`);
  assert.equal(block["timestamp"], DEFAULT_TIMESTAMP);
  assert.ok(Number.isInteger(block["size"]), "size is a JSON integer");
  const transactions = block["transactions"] as JsonRecord[];
  assert.equal(transactions.length, 1);
  const [transaction = {}] = transactions;
  assert.match(String(transaction["hash"]), HASH);
  const names = [
    ...["blockHash", "blockNumber", "contractAddress", "from", "gas", "gasPrice", "input"],
    ...["logs", "nonce", "to", "transactionIndex", "value"],
  ];
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, transaction[name]])), {
    blockHash: block["hash"],
    blockNumber: "0x0",
    contractAddress: "0x",
    from: `0x${"0".repeat(40)}`,
    gas: "0x0",
    gasPrice: 0,
    input: "0x",
    logs: [],
    nonce: "0x0",
    to: FIRST_DEV_ACCOUNT,
    transactionIndex: "0x0",
    value: `0x${"7fffffffffffffff".padStart(64, "0")}`,
  });
}

function entriesOf({ stdout }: CommandResult): readonly JsonRecord[] {
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line) as JsonRecord);
}

/** A process that has ended may wait to be counted by a parent that never does: it is gone. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)]);
  const state = stdout.toString().trim();
  return state !== "" && !state.startsWith("Z");
}
