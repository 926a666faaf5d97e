/** Log endpoints that ask for patience, stay away for long, or are reached over TLS. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createTlsIdentity } from "../../../src/crypto/certificate.ts";
import { Shipper } from "../../../src/logging/shipper.ts";
import type { SenderTiming } from "../../../src/logging/shipper-sender.ts";
import { FaultyLogServer, until } from "../../support/faulty-log-server.ts";

const PROGRAM = path.join(import.meta.dirname, "../../support/processes/shipper-worker-program.ts");
const IDENTITY = createTlsIdentity(new Uint8Array(32).fill(7), "localhost");
/**
 * A ratio of 1 to 120, as that of a node. What changes over an outage is the wait between tries:
 * once it has reached its limit the second minute is as the tenth.
 */
const TIMING: SenderTiming = { answerTimeoutMs: 5_000, retryMinMs: 1, retryMaxMs: 120 };
/** With the waits of a node more than five minutes. */
const TRIES = 20;

describe("log endpoints in trouble", { timeout: 60_000 }, () => {
  let server: FaultyLogServer;
  let directory: string;
  let shipper: Shipper | undefined;

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), "quorate-outage-"));
    shipper = undefined;
  });
  afterEach(async () => {
    await shipper?.close(0);
    await server.goAway();
    rmSync(directory, { recursive: true, force: true });
  });

  function open(timing: Partial<SenderTiming> = TIMING): Shipper {
    const endpoint = { name: "endpoint_1", url: server.url, username: undefined };
    shipper = new Shipper({
      endpoints: [{ ...endpoint, password: undefined }],
      spoolDirectory: path.join(directory, "spool"),
      timing,
    });
    return shipper;
  }

  function failures(): number {
    return shipper?.counts.endpoints[0]?.failedRequests ?? 0;
  }

  function numbers(): number[] {
    return server.lines.map((text) => (JSON.parse(text) as { number: number }).number);
  }

  describe("a log endpoint that is away for long", () => {
    it("is tried ever more seldom, and gets every line in order when it is back", async () => {
      server = await FaultyLogServer.open();
      await server.goAway();
      const one = open();
      const startedMs = performance.now();
      let count = 0;
      while (failures() < TRIES) {
        one.write(JSON.stringify({ number: count }));
        count += 1;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const awayMs = performance.now() - startedMs;
      // Seven doublings lead to the limit, then every wait is at least half of it.
      const leastMs = (TRIES - 9) * (TIMING.retryMaxMs / 2);
      assert.ok(awayMs >= leastMs, `${TRIES} tries in ${awayMs.toFixed(0)} ms`);
      await server.listen();
      const backMs = performance.now();
      await until(() => server.lines.length >= count);
      assert.ok(performance.now() - backMs < 20 * TIMING.retryMaxMs, "it need not wait for long");
      assert.deepEqual(
        numbers(),
        Array.from({ length: count }, (_, number) => number),
      );
      assert.equal(one.counts.endpoints[0]?.droppedLines, 0);
      assert.equal(one.counts.overflowLines, 0);
    });
  });

  describe("Retry-After", () => {
    const waitFor = async (retryAfter: () => string, status: number): Promise<number> => {
      server = await FaultyLogServer.open();
      server.moods.push(status);
      server.retryAfter = retryAfter;
      // Before the answer for certain; the thread's start is part of the time.
      const startedMs = performance.now();
      open().write('{"number":1}');
      await until(() => server.lines.length === 1);
      return performance.now() - startedMs;
    };

    it("is waited for where it is in seconds", async () => {
      for (const status of [429, 503]) {
        assert.ok((await waitFor(() => "1", status)) >= 1_000);
        await shipper?.close(0);
        await server.goAway();
        rmSync(path.join(directory, "spool"), { recursive: true });
      }
    });

    it("is waited for where it is a date", async () => {
      const inTwoSeconds = (): string => new Date(Date.now() + 2_000).toUTCString();
      // A date has no fractions of a second.
      assert.ok((await waitFor(inTwoSeconds, 503)) >= 1_000);
    });

    it("that has passed or says nothing does not hold up anybody", async () => {
      for (const text of ["Thu, 01 Jan 1970 00:00:00 GMT", "soon", "-5", "0"]) {
        const waitedMs = await waitFor(() => text, 503);
        assert.ok(waitedMs < 2_000, `${text}: ${waitedMs.toFixed(0)} ms`);
        await shipper?.close(0);
        await server.goAway();
        rmSync(path.join(directory, "spool"), { recursive: true });
      }
    });
  });

  describe("an endpoint that refuses and asks for more at once", () => {
    it("is not flooded with retries", async () => {
      server = await FaultyLogServer.open();
      server.mood = 503;
      server.retryAfter = () => "0";
      const startedMs = performance.now();
      open({ ...TIMING, retryMinMs: 100 }).write('{"number":1}');
      await until(() => server.requests.length >= 6);
      const tookMs = performance.now() - startedMs;
      assert.ok(tookMs >= 500, `six requests in ${tookMs.toFixed(0)} ms`);
    });
  });

  describe("a log endpoint over TLS", { timeout: 30_000 }, () => {
    it("gets nothing while its certificate is not trusted", async () => {
      server = await FaultyLogServer.open(IDENTITY);
      open().write('{"number":1}');
      await until(() => failures() > 1);
      assert.match(shipper?.counts.endpoints[0]?.problem ?? "", /SELF_SIGNED|UNABLE_TO_VERIFY/);
      assert.deepEqual(server.requests, []);
    });

    it("gets its lines once NODE_EXTRA_CA_CERTS names who vouches for it", async () => {
      server = await FaultyLogServer.open(IDENTITY);
      const authorities = path.join(directory, "authorities.pem");
      writeFileSync(authorities, IDENTITY.certificatePem);
      const child = startProgram({ NODE_EXTRA_CA_CERTS: authorities });
      try {
        await until(() => server.lines.length >= 10, 20_000);
        assert.deepEqual(
          numbers(),
          Array.from({ length: 10 }, (_, number) => number),
        );
      } finally {
        const ended = new Promise((resolve) => child.once("exit", resolve));
        child.kill("SIGKILL");
        await ended;
      }
    });

    function startProgram(environment: Readonly<Record<string, string>>): ChildProcess {
      const args = [PROGRAM, server.url, path.join(directory, "spool"), "10"];
      const env = { ...process.env, ...environment };
      return spawn(process.execPath, args, { env, stdio: "ignore" });
    }
  });
});
