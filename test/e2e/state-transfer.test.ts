/**
 * A replica whose data is gone comes back under load, and one of those it asks is a Byzantine
 * replica.
 */
import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { FollowingClient, until } from "../support/following-client.ts";
import { REPLICA_COUNT, transfer } from "../support/replica-network.ts";
import { ALL, ReplicaProcesses } from "./replica-processes.ts";

const LOAD_INTERVAL_MS = 50;
const SENDERS = 10;
const WAITING_MAX = 500;
const GAP_MIN = 40;
const HEIGHT_BEFORE = 150;
const EXECUTE_DELAY_MS = 300;
const VICTIM = 3;
const BYZANTINE = 1;
const FOUND_OUT = new RegExp(`gave no state.*"peer":${BYZANTINE}.*SNAPSHOT_STATE_WRONG`);

describe("a replica that lost its data", () => {
  const processes = new ReplicaProcesses();
  let client: FollowingClient;
  let load: NodeJS.Timeout | undefined;
  let lostAt = 0;
  const nonces = Array.from({ length: SENDERS }, () => 0);
  const start = (index: number, startMode: "bootstrap" | "resume"): Promise<void> =>
    processes.start(index, startMode, {
      transferGapMin: GAP_MIN,
      ...(startMode === "resume" && { executeDelayMs: EXECUTE_DELAY_MS }),
      // The correct ones refuse until the Byzantine one was detected, so that it is certainly
      // asked.
      stateManners: index === BYZANTINE ? "lies" : "refuses-until-told",
    });

  before(async () => {
    await processes.choosePorts();
    await Promise.all(ALL.map((index) => start(index, "bootstrap")));
    client = await FollowingClient.open(processes.ports);
    load = setInterval(() => {
      if (client.waiting.size > WAITING_MAX) return;
      client.submit(nonces.map((_, account) => transfer(account, nonces[account]!++)));
    }, LOAD_INTERVAL_MS);
    await until(() => client.finalHeight > HEIGHT_BEFORE, "the network orders", 60_000);
  });
  after(async () => {
    clearInterval(load);
    await client.close();
    await processes.close();
  });

  it("takes the state of a peer, whatever a Byzantine peer gives it, and takes part again", async () => {
    await processes.kill(VICTIM);
    rmSync(processes.dataPath(VICTIM), { recursive: true });
    lostAt = client.finalHeight;
    for (const results of client.results.values()) results.delete(VICTIM);
    const startMs = performance.now();
    await start(VICTIM, "resume");
    await until(() => FOUND_OUT.test(processes.log), "the Byzantine replica is found out", 60_000);
    for (const index of ALL) if (index !== BYZANTINE && index !== VICTIM) processes.tell(index);
    await until(
      () => client.results.get(client.finalHeight)?.has(VICTIM) === true,
      "it signs",
      120_000,
    );
    const ms = Math.round(performance.now() - startMs);
    console.log(`emptied at height ${lostAt}: signs results again after ${ms} ms`);
  });

  it("a replica that took a state has not executed the heights below it one by one", async () => {
    const { executedBlocks, stateTransfers } = await processes.counters(VICTIM);
    assert.ok(stateTransfers >= 1, `${stateTransfers} transfers`);
    const heights = [...client.results].filter(([, results]) => results.has(VICTIM));
    const first = Math.min(...heights.map(([height]) => height));
    assert.ok(first >= GAP_MIN, `it signed height ${first}`);
    // It executes on while the state is fetched, so some heights below the state are its own.
    assert.ok(
      executedBlocks < client.finalHeight - GAP_MIN / 2,
      `${executedBlocks} executed of ${client.finalHeight}, with results from ${first} on`,
    );
    assert.ok(!existsSync(path.join(processes.dataPath(VICTIM), "state.incoming")));
    assert.match(processes.log, new RegExp(`${BYZANTINE} lies about its state to ${VICTIM}`));
    console.log(`first height of its own: ${first}; executed ${executedBlocks}`);
  });

  it("agrees with the others on every later state", async () => {
    clearInterval(load);
    await until(() => client.waiting.size === 0, "all that was submitted is final");
    const all = (height: number): boolean => client.results.get(height)?.size === REPLICA_COUNT;
    await until(() => all(client.finalHeight), "all have executed all");
    let compared = 0;
    for (const [height, results] of client.results) {
      assert.equal(new Set(results.values()).size, 1, `results differ at height ${height}`);
      if (results.has(VICTIM)) compared++;
    }
    assert.ok(compared > 0);
    const submitted = nonces.reduce((sum, nonce) => sum + nonce, 0);
    assert.equal(client.ordered.size, submitted);
  });
});
