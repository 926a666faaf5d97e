/**
 * docs/ARCHITECTURE.md lists the functions that a raw transaction passes from the HTTP request to
 * its receipt. The list is compared with the sources, and with the functions that V8 saw called
 * while a real transaction went through a network in this process.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { Session, type Profiler } from "node:inspector/promises";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { bytesToHex } from "../../src/base/hex.ts";
import type { ClientNode } from "../../src/client/client-node.ts";
import { ReplicaNode } from "../../src/replica/replica-node.ts";
import { createMethodTable } from "../../src/rpc/methods/method-table.ts";
import { DEFAULT_RPC_OPTIONS } from "../../src/rpc/rpc-options.ts";
import { RpcServer } from "../../src/rpc/server/rpc-server.ts";
import { HOST, replicaOptions, SILENT_LOGGER, transfer } from "../support/replica-network.ts";
import { openClient, temporaryDirectory } from "../unit/client/client-nodes.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const FILES_MAX = 44;
const TRIES_MAX = 100;

type Hop = {
  readonly step: number;
  /** `thread` for a worker thread, whose calls the inspector of this one does not see. */
  readonly where: string;
  readonly file: string;
  readonly name: string;
  /** The step whose file names the function or what stands between; undefined for the first. */
  readonly from: number | undefined;
  readonly by: string;
};

const HOPS = readHops();

function readHops(): readonly Hop[] {
  const text = readFileSync(path.join(ROOT, "docs/ARCHITECTURE.md"), "utf8");
  const section = text.split(/^## /m).find((part) => part.startsWith("The life of a transaction"));
  const lines = (section ?? "").split("\n").filter((line) => /^\| \d+ /.test(line));
  return lines.map((line) => {
    const cells = line.split("|").map((cell) => cell.trim().replaceAll("`", ""));
    const [, step, where = "", file = "", name = "", from, by = ""] = cells;
    return {
      ...{ step: Number(step), where, file, name },
      from: from === "-" ? undefined : Number(from),
      by: by === "-" ? name : by,
    };
  });
}

function sourceOf(file: string): string {
  return readFileSync(path.join(ROOT, file), "utf8");
}

function defines(file: string, name: string): boolean {
  const definition = new RegExp(
    `^(?:export )?(?:async )?function ${name}[(<]|^  (?:async )?${name}[(<]|^    ${name}\\(.*\\) \\{$`,
    "m",
  );
  return definition.test(sourceOf(file));
}

function mentions(file: string, word: string): boolean {
  return new RegExp(`(?<![A-Za-z0-9])${word}(?![A-Za-z0-9])`).test(sourceOf(file));
}

describe("the life of a transaction in docs/ARCHITECTURE.md", () => {
  it("names functions that exist, in steps that follow each other", () => {
    assert.ok(HOPS.length > 30, `${HOPS.length} steps were found in the table`);
    for (const [index, { step, file, name, from, by }] of HOPS.entries()) {
      assert.equal(step, index + 1, "steps are numbered from 1");
      assert.ok(existsSync(path.join(ROOT, file)), `step ${step}: there is no ${file}`);
      assert.ok(defines(file, name), `step ${step}: ${file} defines no function ${name}`);
      if (from === undefined) continue;
      const before = HOPS[from - 1];
      assert.ok(before !== undefined && from < step, `step ${step} comes from step ${from}`);
      assert.ok(mentions(before.file, by), `step ${step}: ${before.file} does not name ${by}`);
    }
  });

  it("passes fewer than 45 files", () => {
    const files = new Set(HOPS.map(({ file }) => file));
    assert.ok(files.size <= FILES_MAX, `${files.size} files; at most ${FILES_MAX}`);
  });
});

describe("a raw transaction that is sent over HTTP", () => {
  const directory = temporaryDirectory();
  const failures: unknown[] = [];
  const replicas: ReplicaNode[] = [];
  let node: ClientNode;
  let server: RpcServer;

  before(async () => {
    const opened = [0, 1, 2, 3].map((index) =>
      ReplicaNode.open(replicaOptions(index, path.join(directory.path, `replica-${index}`)), {
        logger: SILENT_LOGGER,
        onFatal: (error) => failures.push(error),
      }),
    );
    replicas.push(...(await Promise.all(opened)));
    const endpoints = replicas.map(({ port }) => ({ host: HOST, port }));
    for (const [self, replica] of replicas.entries()) {
      for (const [index, endpoint] of endpoints.entries()) {
        if (index !== self) replica.setEndpoint(index, endpoint);
      }
    }
    const clientPath = path.join(directory.path, "client");
    mkdirSync(clientPath);
    ({ node } = await openClient(clientPath, undefined, { replicas: endpoints }));
    const methods = createMethodTable(node.reads, node.pending);
    server = await RpcServer.open({ ...DEFAULT_RPC_OPTIONS, port: 0 }, { methods });
    await node.whenReady();
  });
  after(async () => {
    await server.close();
    await node.close();
    await Promise.all(replicas.map((replica) => replica.close()));
    directory.remove();
  });

  const ask = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const response = await fetch(`http://${HOST}:${server.port}/standard`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const answer = (await response.json()) as { readonly result?: unknown };
    assert.ok(answer.result !== undefined, `${method}: ${JSON.stringify(answer)}`);
    return answer.result;
  };

  it("passes every function of the table until its receipt is there", async () => {
    const calls = await callsDuring(async () => {
      const hash = await ask("eth_sendRawTransaction", [bytesToHex(transfer(0, 0))]);
      // Each request waits for the receipt a little; a loaded machine may need several.
      for (let tries = 0; tries < TRIES_MAX; tries++) {
        const receipt = await ask("eth_getTransactionReceipt", [hash]);
        if (receipt === null) continue;
        assert.equal((receipt as { readonly status: string }).status, "0x1");
        return;
      }
      assert.fail("the receipt did not come");
    });
    for (const { step, where, file, name } of HOPS) {
      if (where === "thread") continue;
      const isCalled = calls.get(pathToFileURL(path.join(ROOT, file)).href)?.has(name) === true;
      assert.ok(isCalled, `step ${step}: ${name} of ${file} was not called`);
    }
    assert.deepEqual(failures, []);
  });
});

/** By the URL of their file, the names of the functions that were called meanwhile. */
async function callsDuring(act: () => Promise<void>): Promise<Map<string, Set<string>>> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    // Functions that ran before are reported once: from here on only those that run now.
    await session.post("Profiler.takePreciseCoverage");
    await act();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    await session.post("Profiler.stopPreciseCoverage");
    return new Map(result.map((script) => [script.url, calledIn(script)]));
  } finally {
    session.disconnect();
  }
}

function calledIn({ functions }: Profiler.ScriptCoverage): Set<string> {
  const called = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
  return new Set(called.map(({ functionName }) => functionName));
}
