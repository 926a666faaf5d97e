/** Logs that go to many subscriptions. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BlockRecord } from "../../../../src/api/chain-reader.ts";
import { LogSearch } from "../../../../src/rpc/logs/log-search.ts";
import { LIMIT_EXCEEDED } from "../../../../src/rpc/rpc-error.ts";
import { DEFAULT_RPC_LIMITS } from "../../../../src/rpc/rpc-options.ts";
import type { SubscriberConnection } from "../../../../src/rpc/logs/subscriber-connection.ts";
import { Subscriptions } from "../../../../src/rpc/logs/subscriptions.ts";
import { MemoryChain } from "../../../support/memory-chain.ts";
import { assemble } from "../../evm/bytecode.ts";
import { GENESIS } from "../../execution/test-chain.ts";
import { signedTransaction } from "../rpc-node.ts";

const LOGGER = 0x11n << 32n;
/** Room for the logs of no block. */
const NO_MEMORY = { bloomBytesMax: 1_000_000, logBytesMax: 0 };
const ANY = { addresses: undefined, topics: [] };
const BLOCKS_WAITING_MAX = 256;

class CountingChain extends MemoryChain {
  receiptReads = 0;

  override receiptsOf(block: BlockRecord): ReturnType<MemoryChain["receiptsOf"]> {
    this.receiptReads++;
    return super.receiptsOf(block);
  }
}

class Listener implements SubscriberConnection {
  readonly owner = {};
  readonly told: string[] = [];
  ending: string | undefined;
  #onClose: (() => void)[] = [];

  send(text: string): void {
    this.told.push(text);
  }

  end(reason: string): void {
    this.ending = reason;
    for (const action of this.#onClose.splice(0)) action();
  }

  afterAnswer(action: () => void): void {
    action();
  }

  onClose(action: () => void): void {
    this.#onClose.push(action);
  }
}

function open(): { chain: CountingChain; subscriptions: Subscriptions; seal: () => void } {
  const code = assemble("PUSH 0 PUSH 0 LOG0 PUSH 0 PUSH 0 LOG0 STOP");
  const chain = new CountingChain(GENESIS, {
    contracts: [{ address: LOGGER, code, storage: [] }],
  });
  const subscriptions = new Subscriptions(chain, new LogSearch(chain, NO_MEMORY));
  let nonce = 0n;
  const seal = (): void => {
    assert.ok(chain.submitRaw(signedTransaction(0, { nonce: nonce++, to: LOGGER })).ok);
    chain.seal();
  };
  return { chain, subscriptions, seal };
}

async function settle(condition: () => boolean): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (!condition() && performance.now() < endMs) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("subscriptions to logs", () => {
  it("share one reading of each block, and tell its logs in their order", async () => {
    const { chain, subscriptions, seal } = open();
    const listener = new Listener();
    const topic = { kind: "logs", criteria: ANY } as const;
    for (let one = 0; one < 50; one++) subscriptions.add(topic, listener, DEFAULT_RPC_LIMITS);
    seal();
    seal();
    await settle(() => listener.told.length === 200);
    assert.equal(listener.told.length, 200);
    assert.equal(chain.receiptReads, 2);
    const indexes = listener.told.map((text) => /"logIndex":"(0x\d)"/.exec(text)?.[1]);
    const half = [...Array<string>(50).fill("0x0"), ...Array<string>(50).fill("0x1")];
    assert.deepEqual(indexes, [...half, ...half]);
  });

  it("do not let blocks pile up: the connection with the most of them is closed", async () => {
    const { subscriptions, seal } = open();
    const greedy = new Listener();
    const modest = new Listener();
    const topic = { kind: "logs", criteria: ANY } as const;
    for (let one = 0; one < 3; one++) subscriptions.add(topic, greedy, DEFAULT_RPC_LIMITS);
    subscriptions.add(topic, modest, DEFAULT_RPC_LIMITS);
    // No turn of the event loop passes in between: nothing is sent yet.
    for (let block = 0; block <= BLOCKS_WAITING_MAX; block++) seal();
    assert.match(greedy.ending ?? "", /too many log subscriptions/);
    assert.equal(modest.ending, undefined);
    const all = 2 * (BLOCKS_WAITING_MAX + 1);
    await settle(() => modest.told.length === all);
    assert.equal(modest.told.length, all, "the others miss nothing");
    assert.deepEqual(greedy.told, []);
  });

  it("have as many addresses and topics together as filters may have, and give them back", () => {
    const { subscriptions } = open();
    const limits = { ...DEFAULT_RPC_LIMITS, filterValuesMax: 10 };
    const criteria = { addresses: new Set([1n, 2n, 3n, 4n, 5n, 6n]), topics: [] };
    const topic = { kind: "logs", criteria } as const;
    const first = new Listener();
    const id = subscriptions.add(topic, first, limits);
    const second = new Listener();
    assert.throws(() => subscriptions.add(topic, second, limits), { code: LIMIT_EXCEEDED });
    assert.ok(subscriptions.remove(id, first));
    subscriptions.add(topic, second, limits);
    assert.throws(() => subscriptions.add(topic, first, limits), { code: LIMIT_EXCEEDED });
    second.end("gone");
    subscriptions.add(topic, first, limits);
  });
});
