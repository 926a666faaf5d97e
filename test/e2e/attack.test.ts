/**
 * The worst attacks of `npm run attack`, for a few seconds each. The bounds are those of a machine
 * that has other things to do, too: they tell a network that serves from one that was stopped.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { AttackRun, brokenPromises } from "../attack/run-attack.ts";
import { type RunningNetwork, startNetwork } from "../support/processes/network-process.ts";

const SECONDS = 4;
const PROMISES = {
  ...{ finalMsMax: 10_000, readMsMax: 10_000, clientMegabytesMax: 900, replicaMegabytesMax: 600 },
  stallSecondsMax: undefined,
  unhealthyMax: 8,
};
const WORST = ["gap-flood", "executable-flood", "heavy-batch", "ping-flood", "idle-web-sockets"];

describe("a network under attack", { timeout: 240_000 }, () => {
  let network: RunningNetwork;
  let run: AttackRun;

  before(async () => {
    network = await startNetwork();
    run = new AttackRun(network);
  });
  after(() => network.stop());

  for (const name of WORST) {
    it(`serves an honest caller during ${name}`, async () => {
      const report = await run.run([name], SECONDS);
      assert.deepEqual(brokenPromises(report, PROMISES), []);
    });
  }
});
