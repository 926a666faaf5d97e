/**
 * One counter in a contract, many callers at once, and nodes that are killed or hang meanwhile:
 * what the callers saw must be explainable by one order of all operations that keeps to real time.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { bytesToHex, hexToBytes, type Hex } from "../../src/base/hex.ts";
import { encodeTransaction } from "../../src/chain/transaction-encoder.ts";
import { signTransaction } from "../../src/chain/transaction-sender.ts";
import { keccak256 } from "../../src/crypto/keccak256.ts";
import { findAnomaly, type Operation } from "../support/counter-history.ts";
import {
  startNetwork,
  waitFor,
  type RunningNetwork,
  type Service,
} from "../support/processes/network-process.ts";

/**
 * Called without data it returns the counter; with data it adds one and logs what it made:
 * CALLDATASIZE inc JUMPI | SLOAD(0) RETURN | inc: SLOAD(0) + 1, SSTORE(0), LOG0.
 */
const RUNTIME = "36600c575f545f5260205ff35b5f54600101805f555f5260205fa000";
const CREATION = hexToBytes(`0x601c8060095f395ff3${RUNTIME}`);
const WRITERS = 6;
const READERS = 4;
const RETRY_MS = 20;

type Receipt = { readonly contractAddress: Hex; readonly logs: readonly { readonly data: Hex }[] };

describe("a counter under faults", () => {
  let network: RunningNetwork;
  let counter: Hex;
  const operations: Operation[] = [];
  let isOver = false;

  before(async () => {
    network = await startNetwork({});
    const receipt = await send("deployer", 0n, { to: undefined, data: CREATION });
    counter = receipt.contractAddress;
  });
  after(() => network.stop());

  /** Until there is a receipt, whatever the nodes do meanwhile. */
  const send = async (
    name: string,
    nonce: bigint,
    call: { readonly to: bigint | undefined; readonly data: Uint8Array },
  ): Promise<Receipt> => {
    const key = keccak256(new TextEncoder().encode(`counter ${name}`));
    const fees = { maxPriorityFeePerGas: 0n, maxFeePerGas: 0n, gasLimit: 200_000n, value: 0n };
    const { chainId } = network;
    const unsigned = { type: 2, chainId, nonce, ...fees, ...call, accessList: [] } as const;
    const raw = bytesToHex(encodeTransaction(signTransaction(unsigned, key)));
    const hash = bytesToHex(keccak256(hexToBytes(raw)));
    await insist(async () => (await network.rpc("eth_sendRawTransaction", [raw])) ?? undefined);
    return insist(async () => {
      const receipt = await network.rpc("eth_getTransactionReceipt", [hash]);
      return (receipt as Receipt | null) ?? undefined;
    });
  };
  const write = async (index: number): Promise<void> => {
    const to = BigInt(counter);
    for (let nonce = 0n; !isOver; nonce++) {
      const calledMs = performance.now();
      const { logs } = await send(`writer ${index}`, nonce, { to, data: Uint8Array.of(1) });
      const answeredMs = performance.now();
      operations.push({ kind: "increment", calledMs, answeredMs, value: Number(logs[0]!.data) });
    }
  };
  const read = async (): Promise<void> => {
    while (!isOver) {
      const calledMs = performance.now();
      // A read that fails says nothing; the next one is another operation.
      const value = await network.rpc("eth_call", [{ to: counter }, "latest"]).catch(() => null);
      const answeredMs = performance.now();
      if (value !== null) {
        operations.push({ kind: "read", calledMs, answeredMs, value: Number(value) });
      }
      await pause(5);
    }
  };
  const leader = async (): Promise<Service> => {
    const status = (await insist(() => network.rpc("quorate_status"))) as { leader?: number };
    return `replica-${status.leader ?? 0}` as Service;
  };
  const incrementCount = (): number => operations.filter(({ kind }) => kind === "increment").length;
  /** Operations go on, writes as well: reads alone would not wait for a leader. */
  const settle = (): Promise<void> => {
    const target = operations.length + 100;
    const incrementTarget = incrementCount() + WRITERS;
    return waitFor(
      () => operations.length >= target && incrementCount() >= incrementTarget,
      "operations end",
      60_000,
    );
  };
  const whenRunning = (service: Service): Promise<void> =>
    waitFor(() => network.pid(service) !== undefined, `${service} runs`);

  it("has a history that one order explains", async () => {
    const callers = [
      ...Array.from({ length: WRITERS }, (_, index) => write(index)),
      ...Array.from({ length: READERS }, () => read()),
    ];
    await settle();
    network.kill(await leader());
    await settle();
    network.kill("client-0");
    await settle();
    const hanging = await leader();
    await whenRunning(hanging);
    network.kill(hanging, "SIGSTOP");
    await pause(2_000);
    network.kill(hanging, "SIGCONT");
    await settle();
    // Replicas that come back may not know at once of the last blocks that were final.
    for (let round = 0; round < 3; round++) {
      for (const [service] of network.pids()) network.kill(service);
      await settle();
    }
    isOver = true;
    await Promise.all(callers);
    const increments = incrementCount();
    console.log(`${increments} increments, ${operations.length - increments} reads`);
    assert.equal(findAnomaly(operations), undefined);
    const last = Number(await network.rpc("eth_call", [{ to: counter }, "latest"]));
    assert.equal(last, increments, "every increment happened once");
  });
});

async function insist<Value>(ask: () => Promise<Value | undefined>): Promise<Value> {
  for (;;) {
    const value = await ask().catch(() => undefined);
    if (value !== undefined) return value;
    await pause(RETRY_MS);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
