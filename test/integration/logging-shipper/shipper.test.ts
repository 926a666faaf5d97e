import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { CodedError } from "../../../src/base/coded-error.ts";
import { Shipper, type ShipperOptions } from "../../../src/logging/shipper.ts";
import { endpointPort, endpointUrl } from "../../../src/logging/shipper-endpoint.ts";
import { FaultyLogServer, until } from "../../support/faulty-log-server.ts";
import { runShipperProgram } from "../../support/processes/shipper-worker-program.ts";

const TIMING = { answerTimeoutMs: 5_000, retryMinMs: 10, retryMaxMs: 40 };
const PROGRAM = path.join(import.meta.dirname, "../../support/processes/shipper-worker-program.ts");

describe("log endpoint", () => {
  const cases: readonly (readonly [string, string, number])[] = [
    ["http://logstash-logstash.default.svc.cluster.local", "http:", 8080],
    ["http://host/", "http:", 8080],
    ["http://host/path?x=1", "http:", 8080],
    ["http://host:80", "http:", 80],
    ["http://host:9000/", "http:", 9000],
    ["https://host", "https:", 8080],
    ["https://host:443/x", "https:", 443],
    ["http://[::1]", "http:", 8080],
    ["http://[::1]:80", "http:", 80],
    ["HTTP://HOST:80", "http:", 80],
  ];
  for (const [url, protocol, port] of cases) {
    it(`is at port ${port} for ${url}`, () => {
      const parsed = endpointUrl({ name: "endpoint_1", url });
      assert.deepEqual([parsed.protocol, endpointPort(parsed)], [protocol, port]);
    });
  }

  it("is refused where it is no http address or holds a password", () => {
    for (const url of ["", "host:8080", "ftp://host", "http://", "http://user:secret@host"]) {
      assert.throws(
        () => endpointUrl({ name: "endpoint_1", url }),
        (error) =>
          error instanceof CodedError &&
          error.code === "LOG_ENDPOINT_INVALID" &&
          !error.message.includes("secret"),
        url,
      );
    }
  });
});

describe("shipper", () => {
  let server: FaultyLogServer;
  let directory: string;
  let shipper: Shipper | undefined;

  beforeEach(async () => {
    server = await FaultyLogServer.open();
    directory = mkdtempSync(path.join(tmpdir(), "quorate-shipper-"));
    shipper = undefined;
  });
  afterEach(async () => {
    await shipper?.close(0);
    await server.goAway();
    rmSync(directory, { recursive: true, force: true });
  });

  function open(options: Partial<ShipperOptions> = {}): Shipper {
    shipper = new Shipper({
      endpoints: [endpoint(server)],
      spoolDirectory: path.join(directory, "spool"),
      timing: TIMING,
      ...options,
    });
    return shipper;
  }

  it("posts lines of JSON with the type and the credentials that the pipeline asks for", async () => {
    const own = { ...endpoint(server), username: "node", password: "p:w" };
    const one = open({ endpoints: [own] });
    one.write('{"a":1}\n');
    one.write('{"b":"ü"}');
    await until(() => server.lines.length === 2);
    assert.deepEqual(server.lines, ['{"a":1}', '{"b":"ü"}']);
    const [request] = server.requests;
    assert.equal(request?.headers["content-type"], "application/x-ndjson");
    const pair = Buffer.from("node:p:w").toString("base64");
    assert.equal(request.headers.authorization, `Basic ${pair}`);
  });

  it("sends no credentials where none are given", async () => {
    open().write("{}");
    await until(() => server.lines.length === 1);
    assert.equal(server.requests[0]?.headers.authorization, undefined);
  });

  it("tries again after 429, 5xx, resets and silence, in order and without loss", async () => {
    server.moods.push(500, 429, "reset", "silence", 503, 401, 302, "slow");
    const one = open({ timing: { ...TIMING, answerTimeoutMs: 200 } });
    for (let number = 0; number < 100; number += 1) one.write(line(number));
    await until(() => one.counts.endpoints[0]?.sentLines === 100);
    // The slow one takes its lines after all, when they have been sent again.
    assert.deepEqual([...new Set(numbers(server.lines))], range(100));
    assert.ok((one.counts.endpoints[0]?.failedRequests ?? 0) >= 7);
  });

  it("sends twice rather than never when an answer is lost", async () => {
    server.moods.push("lost answer");
    open().write(line(1));
    await until(() => server.lines.length === 2);
    assert.deepEqual(numbers(server.lines), [1, 1]);
  });

  it("waits before it tries again", async () => {
    const startedMs = performance.now();
    server.moods.push(503);
    const one = open({ timing: { ...TIMING, retryMinMs: 600, retryMaxMs: 600 } });
    one.write(line(1));
    await until(() => server.lines.length === 1);
    assert.ok(performance.now() - startedMs >= 300, "half of the wait at least");
  });

  it("keeps what comes while the endpoint is gone, and sends it when it is back", async () => {
    const seen: [boolean, string | undefined][] = [];
    shipper = new Shipper(
      {
        endpoints: [endpoint(server)],
        spoolDirectory: path.join(directory, "spool"),
        timing: TIMING,
        segmentSize: 4_096,
      },
      { onEndpoint: (_name, isUp, problem) => seen.push([isUp, problem]) },
    );
    shipper.write(line(0));
    await until(() => server.lines.length === 1);
    await server.goAway();
    for (let number = 1; number < 3_000; number += 1) shipper.write(line(number));
    await until(() => seen.length === 1);
    assert.deepEqual(seen[0], [false, "ECONNREFUSED"]);
    await until(() => shipper?.counts.endpoints[0]?.waitingLines === 2_999);
    await server.listen();
    await until(() => server.lines.length >= 3_000);
    assert.deepEqual(numbers(server.lines), range(3_000));
    await until(() => seen.at(-1)?.[0] === true);
    assert.equal(shipper.counts.endpoints[0]?.droppedLines, 0);
  });

  it("drops the oldest beyond the limit of the spool, and counts each", async () => {
    await server.goAway();
    const one = open({ spoolSizeMax: 40_000, segmentSize: 4_000 });
    const count = 5_000;
    for (let number = 0; number < count; number += 1) {
      one.write(line(number));
      if (number % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await until(() => (one.counts.endpoints[0]?.droppedLines ?? 0) > 0);
    await server.listen();
    await until(() => numbers(server.lines).at(-1) === count - 1);
    const { droppedLines } = one.counts.endpoints[0] ?? { droppedLines: 0 };
    const received = numbers(server.lines);
    assert.equal(droppedLines, count - received.length);
    assert.deepEqual(received, range(count).slice(-received.length), "the newest, without a gap");
    assert.ok(spoolSize(directory) <= 40_000 + 2 * 64 * 1024);
  });

  it("serves each endpoint for itself", async () => {
    const other = await FaultyLogServer.open();
    other.mood = 500;
    const both = [endpoint(server), { ...endpoint(other), name: "endpoint_2" }];
    const one = open({ endpoints: both });
    for (let number = 0; number < 10; number += 1) one.write(line(number));
    await until(() => server.lines.length === 10);
    other.mood = 200;
    await until(() => other.lines.length === 10);
    await other.goAway();
  });

  it("makes a batch smaller that is too large, and gives up a line that is refused", async () => {
    server.linesMax = 7;
    server.isPoison = (text) => text === line(33);
    const one = open();
    for (let number = 0; number < 100; number += 1) one.write(line(number));
    await until(() => server.lines.length === 99);
    assert.deepEqual(
      numbers(server.lines),
      range(100).filter((number) => number !== 33),
    );
    await until(() => one.counts.endpoints[0]?.rejectedLines === 1);
  });

  it("goes on in memory where the disk takes nothing", async () => {
    const file = path.join(directory, "file");
    writeFileSync(file, "");
    const one = open({ spoolDirectory: path.join(file, "spool"), memoryMax: 2_000 });
    server.mood = 500;
    for (let number = 0; number < 10; number += 1) one.write(line(number));
    await until(() => one.counts.endpoints[0]?.isUp === false);
    assert.equal(one.counts.isDegraded, true);
    server.mood = 200;
    await until(() => server.lines.length === 10);
  });

  it("sends what is left before it closes, and at the next start what it could not", async () => {
    const first = open();
    first.write(line(1));
    await first.close(5_000);
    assert.deepEqual(numbers(server.lines), [1]);
    server.mood = 500;
    const second = open();
    second.write(line(2));
    await second.close(100);
    server.mood = 200;
    open();
    await until(() => server.lines.length === 2);
    assert.deepEqual(numbers(server.lines), [1, 2], "and nothing twice");
  });

  it("loses nothing that was kept when the process is killed", { timeout: 30_000 }, async () => {
    assert.equal(typeof runShipperProgram, "function");
    server.mood = 503;
    const spool = path.join(directory, "spool");
    const child = spawn(process.execPath, [PROGRAM, server.url, spool, "2000"]);
    await new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
    server.mood = 200;
    open();
    await until(() => server.lines.length >= 2_000);
    assert.deepEqual(numbers(server.lines), range(2_000));
  });

  it("drops in memory what the thread cannot take in time, and counts it", () => {
    const one = open({ memoryMax: 10_000 });
    // Without a pause the thread's thanks are never heard.
    for (let number = 0; number < 2_000; number += 1) one.write(line(number).padEnd(100, " "));
    assert.ok(one.counts.overflowLines > 0);
  });
});

function endpoint({ url }: FaultyLogServer): ShipperOptions["endpoints"][number] {
  return { name: "endpoint_1", url, username: undefined, password: undefined };
}

function line(number: number): string {
  return JSON.stringify({ number });
}

function numbers(lines: readonly string[]): number[] {
  return lines.map((text) => (JSON.parse(text) as { number: number }).number);
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function spoolSize(directory: string): number {
  const spool = path.join(directory, "spool");
  return readdirSync(spool).reduce((sum, name) => sum + statSync(path.join(spool, name)).size, 0);
}
