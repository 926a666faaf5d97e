/** Requests that wait for a transaction, and what they leave to the others. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { bytesToHex } from "../../../../src/base/hex.ts";
import { FinalityWaiters } from "../../../../src/client/transactions/finality-waiters.ts";
import { RequestSlots } from "../../../../src/rpc/server/request-slots.ts";
import { MemoryChain } from "../../../support/memory-chain.ts";
import { createMethodTable } from "../../../../src/rpc/methods/method-table.ts";
import { GENESIS } from "../../execution/test-chain.ts";
import { RpcNode, signedTransaction } from "../rpc-node.ts";

const WAIT_MS = 60_000;
const PIPELINED = 20;

/** A chain that says how many wait on it. */
class WatchedChain extends MemoryChain {
  waiting = 0;

  override async whenSettled(
    hash: Uint8Array,
    timeoutMs: number,
    aborted?: AbortSignal,
  ): ReturnType<MemoryChain["whenSettled"]> {
    this.waiting++;
    try {
      return await super.whenSettled(hash, timeoutMs, aborted);
    } finally {
      this.waiting--;
    }
  }
}

/** A transaction that waits for an earlier one. */
function gapped(nonce: number): string {
  return bytesToHex(signedTransaction(0, { nonce: BigInt(nonce) }));
}

function requestText(method: string, params: readonly unknown[]): string {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const head = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
}

async function until(condition: () => boolean, what: string): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (!condition()) {
    assert.ok(performance.now() < endMs, what);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function attack(port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  for (let nonce = 1; nonce <= PIPELINED; nonce++) {
    socket.write(requestText("eth_sendRawTransactionSync", [gapped(nonce), WAIT_MS]));
  }
  return socket;
}

describe("requests that wait for a transaction", () => {
  it("take no slot of those that work, and end with their connection", async () => {
    const chain = new WatchedChain(GENESIS);
    const methods = createMethodTable(chain, chain);
    const node = await RpcNode.open({ methods, limits: { concurrentRequestsMax: 3 } });
    try {
      const attacker = attack(node.server.port);
      await until(() => chain.waiting === PIPELINED, "all of them wait");
      for (let round = 0; round < 5; round++) {
        assert.equal(typeof (await node.standard("eth_blockNumber")), "string");
      }
      attacker.destroy();
      await until(() => chain.waiting === 0, "no wait outlives its connection");
    } finally {
      await node.close();
    }
  });

  it("have a share per connection and per address", async () => {
    const chain = new WatchedChain(GENESIS);
    const methods = createMethodTable(chain, chain);
    const limits = { connectionWaitersMax: 4, clientWaitersMax: 6 };
    const node = await RpcNode.open({ methods, limits });
    try {
      const first = attack(node.server.port);
      await until(() => chain.waiting === 4, "the share of a connection");
      const second = attack(node.server.port);
      await until(() => chain.waiting === 6, "the share of an address");
      const hash = (await node.send(0, { nonce: 90n })) as string;
      const refused = await node.request("/", "eth_sendRawTransactionSync", [gapped(91), WAIT_MS]);
      assert.equal(refused.error?.code, -32005);
      assert.equal(await node.standard("eth_getTransactionReceipt", hash), null, "not waited for");
      assert.equal(chain.waiting, 6);
      first.destroy();
      second.destroy();
      await until(() => chain.waiting === 0, "the places are free again");
      const sync = node.request("/", "eth_sendRawTransactionSync", [gapped(0), WAIT_MS]);
      await until(() => chain.waiting === 1, "it may wait");
      chain.seal();
      const { result } = await sync;
      assert.equal((result as { readonly status: string }).status, "0x1");
    } finally {
      await node.close();
    }
  });
});

describe("a slot", () => {
  it("is free while any part of its request waits", () => {
    const slots = new RequestSlots(1);
    const slot = slots.take();
    assert.equal(slots.take(), undefined);
    slot?.pause();
    slot?.pause();
    assert.equal(slots.used, 0);
    slot?.resume();
    assert.equal(slots.used, 0);
    slot?.resume();
    assert.equal(slots.used, 1);
    slot?.release();
    assert.equal(slots.used, 0);
  });
});

describe("the wait for a settlement", () => {
  it("ends when it is aborted, also before it began", async () => {
    const settlements = new FinalityWaiters();
    const controller = new AbortController();
    const waited = settlements.wait(new Uint8Array(32), WAIT_MS, controller.signal);
    controller.abort();
    await waited;
    await settlements.wait(new Uint8Array(32), WAIT_MS, controller.signal);
  });
});
