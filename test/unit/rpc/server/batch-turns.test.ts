/** A batch leaves the event loop to others while it is carried out. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Dispatcher } from "../../../../src/rpc/server/dispatcher.ts";
import type { BoundMethod, MethodTable } from "../../../../src/rpc/method.ts";
import { DEFAULT_RPC_LIMITS } from "../../../../src/rpc/rpc-options.ts";

const ITEM_MS = 4;
const ITEMS = 60;

/** Keeps the thread busy, as a call does. */
function spin(): number {
  const endMs = performance.now() + ITEM_MS;
  let rounds = 0;
  while (performance.now() < endMs) rounds++;
  return rounds;
}

const METHODS: Readonly<Record<string, BoundMethod["run"]>> = {
  direct: spin,
  promised: () => Promise.resolve().then(spin),
  /** As estimates are: what they need is at hand, but promised. */
  prepared: async () => {
    for (let step = 0; step < 5; step++) await Promise.resolve();
    return spin();
  },
};

function tableOf(): MethodTable {
  return new Map(Object.entries(METHODS).map(([name, run]) => [name, { name, run }]));
}

describe("the turns of a batch", () => {
  for (const method of Object.keys(METHODS)) {
    it(`others have their turn between the items of a batch (${method})`, async () => {
      const dispatcher = new Dispatcher(DEFAULT_RPC_LIMITS, { methods: tableOf() });
      const items = Array.from({ length: ITEMS }, (_, id) => ({ jsonrpc: "2.0", id, method }));
      const state = { isOver: false, turns: 0 };
      const answer = Promise.resolve(
        dispatcher.answer(Buffer.from(JSON.stringify(items)), "standard"),
      ).finally(() => {
        state.isOver = true;
      });
      while (!state.isOver) {
        await new Promise((resolve) => setImmediate(resolve));
        state.turns++;
      }
      const answers = JSON.parse((await answer).text ?? "") as { id: number }[];
      assert.deepEqual(
        answers.map(({ id }) => id),
        items.map(({ id }) => id),
      );
      // A turn of 10 ms has at most four items in it, whatever else the machine does.
      assert.ok(state.turns >= ITEMS / 6, `${state.turns} turns`);
    });
  }

  it("items that wait for something outside wait together", async () => {
    const waiting: (() => void)[] = [];
    const wait: BoundMethod["run"] = () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === ITEMS) for (const end of waiting) end();
      });
    const methods = new Map([["wait", { name: "wait", run: wait }]]);
    const dispatcher = new Dispatcher(DEFAULT_RPC_LIMITS, { methods });
    const items = Array.from({ length: ITEMS }, (_, id) => ({
      ...{ jsonrpc: "2.0", id, method: "wait" },
    }));
    const { text } = await dispatcher.answer(Buffer.from(JSON.stringify(items)), "standard");
    assert.equal((JSON.parse(text ?? "") as unknown[]).length, ITEMS);
  });
});
