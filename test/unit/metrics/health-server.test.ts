import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { CodedError } from "../../../src/base/coded-error.ts";
import { HealthServer } from "../../../src/metrics/health-server.ts";

describe("the health server", () => {
  let server: HealthServer;
  let reason: string | undefined;

  before(async () => {
    server = await HealthServer.open(
      { host: "127.0.0.1", port: 0 },
      { notReadyReason: () => reason, status: () => ({ height: 7, amount: 2n ** 70n }) },
    );
  });
  after(() => server.close());

  const get = async (place: string, method = "GET"): Promise<[number, unknown]> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${place}`, { method });
    return [response.status, await response.json()];
  };

  it("is live while the process works", async () => {
    assert.deepEqual(await get("/live"), [200, { isLive: true }]);
  });

  it("is ready when the node is, and says why it is not", async () => {
    assert.deepEqual(await get("/ready"), [200, { isReady: true }]);
    reason = "the replica is probing";
    assert.deepEqual(await get("/ready"), [503, { isReady: false, reason }]);
  });

  it("gives the status as JSON, large numbers as text", async () => {
    assert.deepEqual(await get("/status"), [200, { height: 7, amount: String(2n ** 70n) }]);
  });

  it("refuses other places and other methods", async () => {
    assert.equal((await get("/keys"))[0], 404);
    assert.equal((await get("/status", "POST"))[0], 405);
  });

  it("says by a code that its port is taken", async () => {
    const source = { notReadyReason: () => undefined, status: () => ({}) };
    const opening = HealthServer.open({ host: "127.0.0.1", port: server.port }, source);
    await assert.rejects(opening, (error) => {
      return error instanceof CodedError && error.code === "HEALTH_LISTEN_FAILED";
    });
  });
});
