/** `quorate up` with real processes, as a newcomer meets it. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { SERVICES, startNetwork, type RunningNetwork } from "../support/network-process.ts";

describe("quorate up", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-up-"));
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

  it("runs five processes", async () => {
    assert.equal(network.pids().size, SERVICES.length);
    assert.equal(await network.rpc("eth_chainId"), "0x1388");
  });
});
