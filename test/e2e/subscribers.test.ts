/** Many WebSocket subscribers on the running network, and what becomes of those who fall behind. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { privateKeyToAccount } from "viem/accounts";
import { WebSocket } from "ws";
import type { Hex } from "../../src/base/hex.ts";
import {
  startNetwork,
  waitFor,
  type RunningNetwork,
} from "../support/processes/network-process.ts";

const SUBSCRIBER_COUNT = 1_000;
/** Those who are cut off in the middle and come back. */
const LEAVER_COUNT = 50;
const BLOCK_COUNT = 10;
const POLICY_VIOLATION = 1008;
/** Code that returns 200,000 bytes: 100 such answers are more than the kernel and the node hold. */
const LARGE_ANSWER_CODE = "0x62030d405ff3";
const SLOW_REQUEST_COUNT = 100;
/** Less than the node waits for one that it has told to go. */
const SLOW_READER_PAUSE_MS = 1_500;
const SLOW_ROUNDS_MAX = 5;
const CONTRACT = "0x00000000000000000000000000000000000a11ce";

type Head = { readonly number: Hex; readonly hash: Hex; readonly parentHash: Hex };

class Subscriber {
  readonly heads: Head[] = [];
  readonly socket: WebSocket;
  isSubscribed = false;

  constructor(url: string) {
    this.socket = new WebSocket(url, { perMessageDeflate: false });
    this.socket.on("open", () => this.socket.send(SUBSCRIBE));
    this.socket.on("message", (data: Buffer) => {
      const { params } = JSON.parse(data.toString()) as { params?: { result: Head } };
      if (params === undefined) this.isSubscribed = true;
      else this.heads.push(params.result);
    });
  }

  get numbers(): number[] {
    return this.heads.map(({ number }) => Number(number));
  }
}

const SUBSCRIBE = JSON.stringify({
  ...{ jsonrpc: "2.0", id: 1, method: "eth_subscribe" },
  params: ["newHeads"],
});

describe("subscribers", () => {
  let network: RunningNetwork;
  let url: string;
  let nonce = 0;

  before(async () => {
    network = await startNetwork({});
    url = `ws://127.0.0.1:${new URL(network.url).port}/standard`;
  });

  after(async () => {
    await network.stop();
  });

  /** One transaction, one block. */
  async function makeBlock(): Promise<void> {
    const account = privateKeyToAccount(network.accounts[0]!.privateKey);
    const raw = await account.signTransaction({
      chainId: Number(network.chainId),
      nonce: nonce++,
      ...{ gas: 1_000_000n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
      to: account.address,
    });
    const hash = (await network.rpc("eth_sendRawTransaction", [raw])) as Hex;
    const isThere = async (): Promise<boolean> =>
      (await network.rpc("eth_getTransactionReceipt", [hash])) !== null;
    await waitFor(isThere, "a receipt");
  }

  async function open(count: number): Promise<Subscriber[]> {
    const subscribers = Array.from({ length: count }, () => new Subscriber(url));
    const areAll = (): boolean => subscribers.every(({ isSubscribed }) => isSubscribed);
    await waitFor(areAll, `${count} subscriptions`, 60_000);
    return subscribers;
  }

  async function latestNumber(): Promise<number> {
    return Number(await network.rpc("eth_blockNumber"));
  }

  it("a thousand get every block once and in order, and a gap can be read back", async () => {
    const subscribers = await open(SUBSCRIBER_COUNT);
    const first = (await latestNumber()) + 1;
    for (let i = 0; i < BLOCK_COUNT; i++) await makeBlock();
    const leavers = subscribers.slice(0, LEAVER_COUNT);
    for (const { socket } of leavers) socket.terminate();
    for (let i = 0; i < BLOCK_COUNT; i++) await makeBlock();
    const returned = await open(LEAVER_COUNT);
    for (let i = 0; i < BLOCK_COUNT; i++) await makeBlock();
    const last = await latestNumber();
    const all = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    assert.ok(all.length >= 3 * BLOCK_COUNT);
    const staying = subscribers.slice(LEAVER_COUNT);
    const haveLast = (): boolean =>
      [...staying, ...returned].every(({ numbers }) => numbers.at(-1) === last);
    await waitFor(haveLast, "the last block at every subscriber");
    for (const { numbers } of staying) assert.deepEqual(numbers, all);
    for (const [index, leaver] of leavers.entries()) {
      const before = leaver.heads;
      const since = returned[index]!.heads;
      const from = (leaver.numbers.at(-1) ?? first - 1) + 1;
      const between: Head[] = [];
      for (let number = from; number < Number(since[0]!.number); number++) {
        const params = [`0x${number.toString(16)}`, false];
        between.push((await network.rpc("eth_getBlockByNumber", params)) as Head);
      }
      const chain = [...before, ...between, ...since];
      assert.deepEqual(
        chain.map(({ number }) => Number(number)),
        all,
      );
      assert.ok(chain.every((head, i) => i === 0 || head.parentHash === chain[i - 1]!.hash));
    }
    for (const { socket } of [...staying, ...returned]) socket.close();
  });

  it("a reader that is too slow is cut off and told why; the others notice nothing", async () => {
    const [slow, other] = await open(2);
    const { socket } = slow!;
    const closed = once(socket, "close") as Promise<[number, Buffer]>;
    const ask = JSON.stringify({
      ...{ jsonrpc: "2.0", id: 2, method: "eth_call" },
      params: [{ to: CONTRACT }, "latest", { [CONTRACT]: { code: LARGE_ANSWER_CODE } }],
    });
    // What it does not read waits in the kernel first, then in the node, which has a limit. On a
    // machine that is busy the node may need more than one round to get there.
    for (let round = 0; round < SLOW_ROUNDS_MAX && socket.readyState === socket.OPEN; round++) {
      for (let i = 0; i < SLOW_REQUEST_COUNT; i++) socket.send(ask);
      socket.pause();
      await pauseMs(SLOW_READER_PAUSE_MS);
      socket.resume();
      await Promise.race([closed, pauseMs(SLOW_READER_PAUSE_MS)]);
    }
    const [code, reason] = await closed;
    assert.equal(code, POLICY_VIOLATION);
    assert.match(reason.toString(), /too slow/);
    await makeBlock();
    const last = await latestNumber();
    await waitFor(() => other!.numbers.at(-1) === last, "the block at the other subscriber");
    other!.socket.close();
  });
});

function pauseMs(duration: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, duration));
}
