/** Calls that take long, on a real client node with a real disk and real threads. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { readBigEndian } from "../../../src/base/big-endian.ts";
import type { CallRequest } from "../../../src/api/call-request.ts";
import type { ClientNode } from "../../../src/client/client-node.ts";
import type { CallLimits } from "../../../src/client/client-options.ts";
import { until } from "../../support/following-client.ts";
import { ACCOUNTS, transfer } from "../../support/replica-network.ts";
import { assemble, RETURN_TOP } from "../evm/bytecode.ts";
import { openClient, temporaryDirectory } from "./client-nodes.ts";
import { FinalChain } from "./final-chain.ts";
import { ServingNetwork } from "./serving-replicas.ts";

const ENDLESS = "JUMPDEST PUSH 0 JUMP";
/** Several milliseconds, then what follows: too long for the node's own thread. */
const LONG = `PUSH 200000 JUMPDEST PUSH 1 SWAP1 SUB DUP1 PUSH 4 JUMPI`;
const GAS = 10n ** 12n;

/** Runs the code as that of a constructor. */
function codeCall(source: string, gasLimit = GAS): CallRequest {
  const shared = { type: 0, chainId: undefined, nonce: 0n, gasPrice: 0n, value: 0n } as const;
  const data = assemble(source);
  return { sender: ACCOUNTS[0]!, transaction: { ...shared, gasLimit, to: undefined, data } };
}

describe("long calls on a client node", () => {
  let network: ServingNetwork;
  let directory: ReturnType<typeof temporaryDirectory>;
  let node: ClientNode;

  const open = async (calls: Partial<CallLimits>, stateFlushMs = 60_000): Promise<void> => {
    const timing = { stallMs: 150, statusMs: 100, stateFlushMs };
    ({ node } = await openClient(directory.path, network, { calls, timing }));
    await node.whenReady();
  };
  const order = async (count: number): Promise<void> => {
    const first = network.chain.height;
    for (let nonce = first; nonce < first + count; nonce++)
      network.order([transfer(0, nonce, 10n)]);
    await until(() => node.status().publishedHeight >= first + count, "the blocks are published");
  };
  const callAt = async (source: string, number: bigint): Promise<bigint> => {
    const called = await node.reads.call(codeCall(source), node.reads.blockByNumber(number)!);
    assert.ok(called.ok, called.ok ? "" : called.error.kind);
    return readBigEndian(called.value, 0, 32);
  };

  beforeEach(async () => {
    directory = temporaryDirectory();
    network = await ServingNetwork.open(new FinalChain());
  });
  afterEach(async () => {
    await node.close();
    await network.close();
    directory.remove();
  });

  it("an endless call ends with its time, and holds nothing up meanwhile", async () => {
    await open({ gasMax: GAS, timeMaxMs: 1_500 });
    const startedMs = performance.now();
    const endless = Promise.resolve(node.reads.call(codeCall(ENDLESS), node.reads.latestBlock()));
    let longestMs = performance.now() - startedMs;
    const state = { isOver: false };
    void endless.then(() => (state.isOver = true));
    while (!state.isOver) {
      const turnMs = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 1));
      assert.equal(node.reads.latestBlock().header.number, 0n);
      longestMs = Math.max(longestMs, performance.now() - turnMs);
    }
    const called = await endless;
    assert.deepEqual(called, { ok: false, error: { kind: "stopped" } });
    assert.ok(performance.now() - startedMs >= 1_500, "it had its time");
    assert.ok(longestMs < 1_000, `the node waited ${longestMs} ms`);
  });

  it("sees every block at once, written or not, and the hashes of blocks", async () => {
    await open({ gasMax: GAS });
    const balance = `${LONG} PUSH ${ACCOUNTS[1]!} BALANCE ${RETURN_TOP}`;
    const hash = `${LONG} PUSH 1 NUMBER SUB BLOCKHASH ${RETURN_TOP}`;
    const check = async (): Promise<void> => {
      const latest = node.reads.latestBlock().header.number;
      for (let number = 0n; number <= latest; number++) {
        assert.equal(await callAt(balance, number), 10n ** 18n + 10n * number, `block ${number}`);
        const parent = number === 0n ? 0n : wordOf(node.reads.blockByNumber(number - 1n)!.hash);
        assert.equal(await callAt(hash, number), parent, `the parent of ${number}`);
      }
    };
    await check();
    await order(2);
    await check();
    await order(3);
    await check();
    await node.close();
    await open({ gasMax: GAS }, 1);
    await order(2);
    await check();
    await order(1);
    await check();
  });

  it("an estimate and an access list that take long are as good as short ones", async () => {
    await open({ gasMax: 16_000_000n });
    const latest = node.reads.latestBlock();
    const source = `${LONG} PUSH ${ACCOUNTS[1]!} BALANCE STOP`;
    const estimated = await node.reads.estimateGas(codeCall(source), latest);
    assert.ok(estimated.ok);
    const enough = await node.reads.call(codeCall(source, estimated.value), latest);
    assert.equal(enough.ok, true);
    const short = await node.reads.call(codeCall(source, estimated.value - 1n), latest);
    assert.equal(short.ok, false);
    const listed = await node.reads.createAccessList(codeCall(source), latest);
    assert.ok(listed.ok);
    assert.deepEqual(listed.value.accessList, [{ address: ACCOUNTS[1]!, storageKeys: [] }]);
  });

  it("proves accounts of old blocks as of the latest", async () => {
    await open({});
    await order(3);
    for (const number of [1n, 2n, 3n]) {
      const proved = await node.reads.prove(ACCOUNTS[1]!, [], node.reads.blockByNumber(number)!);
      assert.ok(proved.ok);
      assert.equal(proved.value.account?.balance, 10n ** 18n + 10n * number);
      assert.ok(proved.value.proof.length > 0);
    }
  });

  it("traces, simulates and keeps nothing of it", async () => {
    await open({});
    await order(2);
    const block = node.reads.blockByNumber(2n)!;
    const options = { tracer: "callTracer", isTopOnly: false, hasLogs: false } as const;
    const traced = await node.reads.traceTransactions(block, { first: 0, last: 0 }, options);
    assert.ok(traced.ok);
    const trace = JSON.parse(traced.value[0]!) as Readonly<Record<string, unknown>>;
    assert.equal(trace["value"], "0xa");
    assert.equal(trace["gasUsed"], "0x5208");
    const calls = [{ ...codeCall("STOP", 100_000n), hasNonce: false, hasGas: true }];
    const blocks = [{ stateOverrides: [], blockOverrides: {}, calls }];
    const request = { blocks, isValidated: true, hasTransferLogs: false };
    const simulated = await node.reads.simulate(request, block);
    assert.ok(simulated.ok);
    assert.equal(simulated.value[0]?.header.number, 3n);
    assert.deepEqual(simulated.value[0].header.parentHash, block.hash);
    assert.equal(node.reads.latestBlock().header.number, 2n);
  });

  it("a thread that does not stop is ended, and the next call has a new one", async () => {
    await open({ gasMax: GAS, timeMaxMs: 300, stopGraceMs: 100 });
    // MODEXP of 8,192-byte numbers: one step that takes seconds.
    const input = Array.from({ length: 3 }, (_, at) => `PUSH 8192 PUSH ${32 * at} MSTORE`).join(
      " ",
    );
    const ones = `PUSH ${2n ** 256n - 1n}`;
    const modexp =
      `${input} ${ones} PUSH 96 MSTORE ${ones} PUSH 8288 MSTORE ${ones} PUSH 16480 MSTORE ` +
      `${ones} PUSH 24640 MSTORE ` +
      `PUSH 0 PUSH 0 PUSH 24672 PUSH 0 PUSH 0 PUSH 5 GAS CALL STOP`;
    const stuck = await node.reads.call(codeCall(modexp), node.reads.latestBlock());
    assert.deepEqual(stuck, { ok: false, error: { kind: "stopped" } });
    assert.equal(await callAt(`${LONG} PUSH 7 ${RETURN_TOP}`, 0n), 7n);
  });

  it("the heavy calls of one caller do not keep another's waiting", async () => {
    await open({ gasMax: GAS, timeMaxMs: 20_000, stopGraceMs: 100 });
    const latest = node.reads.latestBlock();
    const heavy = { ended: 0 };
    const heavyCalls = Array.from({ length: 8 }, async () => {
      const called = await node.reads.call(codeCall(ENDLESS), latest, () => "heavy");
      heavy.ended++;
      return called;
    });
    const source = `${LONG} PUSH 7 ${RETURN_TOP}`;
    for (const caller of ["first", "second"]) {
      const called = await node.reads.call(codeCall(source), latest, () => caller);
      assert.ok(called.ok, caller);
    }
    const options = { tracer: "callTracer", isTopOnly: false, hasLogs: false } as const;
    const traced = await node.reads.traceCall(codeCall("STOP"), latest, options, () => "third");
    assert.ok(traced.ok);
    assert.equal(heavy.ended, 0, "none of the heavy ones had to end before");
    await node.close();
    await Promise.all(heavyCalls);
  });

  it("what costs much before its first opcode does not run on the node's own thread", async () => {
    await open({});
    const latest = node.reads.latestBlock();
    const request = codeCall("STOP", 10_000_000n);
    const override = { address: 0x77n, code: new Uint8Array(1_000_000) };
    const slots = Array.from({ length: 1_024 }, (_, slot) => BigInt(slot));
    const jobs = [
      () => node.reads.call({ ...request, stateOverrides: [override] }, latest),
      () => node.reads.estimateGas({ ...request, stateOverrides: [override] }, latest),
      () => node.reads.prove(ACCOUNTS[0]!, slots, latest),
    ];
    for (const [index, run] of jobs.entries()) {
      const outcome = run();
      assert.ok(outcome instanceof Promise, `job ${index} waits for a thread`);
      assert.equal((await outcome).ok, true, `job ${index}`);
    }
    assert.ok(!(node.reads.call(request, latest) instanceof Promise), "a short one runs at once");
  });

  it("calls that end at once leave the event loop to others, too", async () => {
    await open({});
    const latest = node.reads.latestBlock();
    const short = `PUSH 1000 JUMPDEST PUSH 1 SWAP1 SUB DUP1 PUSH 3 JUMPI STOP`;
    const request = codeCall(short, 10_000_000n);
    const calls = Array.from({ length: 2_000 }, () => node.reads.call(request, latest));
    const later = calls.filter((called) => called instanceof Promise);
    // Together they take far longer than a turn has for them.
    assert.ok(later.length > calls.length / 2, `${later.length} waited for another turn`);
    for (const called of calls) assert.equal((await called).ok, true);
  });

  it("refuses what is too much, and keeps no thread when there is nothing to do", async () => {
    await open({ gasMax: GAS, timeMaxMs: 500, waitingMax: 1, idleMaxMs: 20 });
    const latest = node.reads.latestBlock();
    const outcomes = await Promise.all(
      Array.from({ length: 4 }, async () => node.reads.call(codeCall(ENDLESS), latest)),
    );
    const kinds = outcomes.map((outcome) => (outcome.ok ? "ok" : outcome.error.kind));
    assert.deepEqual(kinds, ["stopped", "stopped", "busy", "busy"]);
    await until(() => node.readThreadCount === 0, "the thread is ended");
    assert.equal(await callAt(`${LONG} PUSH 7 ${RETURN_TOP}`, 0n), 7n);
  });
});

function wordOf(bytes: Uint8Array): bigint {
  return readBigEndian(bytes, 0, 32);
}
