/** Answers that take long to write down leave the event loop to others. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BlockReader, Prover, SenderContent } from "../../../src/api/chain-reader.ts";
import { formatPool } from "../../../src/rpc/format/format-pool.ts";
import type { JsonText } from "../../../src/rpc/json-text.ts";
import { ethGetProof } from "../../../src/rpc/methods/eth/account/eth-get-proof.ts";
import {
  ethFeeHistory,
  type FeeHistoryReader,
} from "../../../src/rpc/methods/eth/fee/eth-fee-history.ts";
import { DEFAULT_RPC_LIMITS } from "../../../src/rpc/rpc-options.ts";
import { RpcError } from "../../../src/rpc/rpc-error.ts";
import { transactionOf } from "../execution/test-chain.ts";
import { hexOf, RpcNode } from "./rpc-node.ts";

const PIECE_MS = 3;
const PIECES = 40;

function spin(): void {
  const endMs = performance.now() + PIECE_MS;
  while (performance.now() < endMs);
}

/** How many turns of the event loop others had until the work was done. */
async function turnsOf(work: Promise<unknown>): Promise<number> {
  const state = { isOver: false };
  const done = work.finally(() => {
    state.isOver = true;
  });
  let turns = 0;
  for (; !state.isOver; turns++) await new Promise((resolve) => setImmediate(resolve));
  await done;
  return turns;
}

function contentOf(count: number): SenderContent[] {
  const one = transactionOf(0, {});
  return Array.from({ length: count }, (_, sender) => ({
    ...{ sender: BigInt(sender), executable: [one], queued: [one, one] },
  }));
}

function poolOf(content: readonly SenderContent[]): Parameters<typeof formatPool>[0] {
  const empty = { sender: 0n, executable: [], queued: [] };
  const status = { executable: 0, queued: 0 };
  return {
    ...{ poolContent: () => content, poolStatus: () => status, poolContentOf: () => empty },
  };
}

describe("long answers", () => {
  it("a full pool is written in pieces", async () => {
    const format = (): string => {
      spin();
      return "tx";
    };
    const content = contentOf(PIECES / 2).map((one) => ({ ...one, queued: [] }));
    const work = formatPool(poolOf(content), String, format, 1_000_000);
    assert.ok((await turnsOf(work)) >= PIECES / 10);
    const { pending, queued } = JSON.parse((await work).text) as Record<string, object>;
    assert.equal(Object.keys(pending ?? {}).length, PIECES / 2);
    assert.deepEqual(queued, {});
  });

  it("a pool that is longer than an answer may be is refused on the way", async () => {
    let formatted = 0;
    const format = (): string => {
      formatted++;
      return "x".repeat(1_000);
    };
    await assert.rejects(
      formatPool(poolOf(contentOf(1_000)), String, format, 10_000),
      (error) => error instanceof RpcError,
    );
    assert.ok(formatted < 20, `${formatted} were formatted`);
  });

  it("a proof of many slots is written in pieces", async () => {
    const node = await RpcNode.open();
    try {
      const { chain } = node;
      // Enough to take a while on any machine.
      const nodes = Array.from({ length: 64 }, () => new Uint8Array(16_384));
      const storage = Array.from({ length: PIECES }, () => ({ slot: 0n, value: 7n, proof: nodes }));
      const proof = { account: undefined, proof: [], storage };
      const reader: BlockReader & Prover = {
        latestBlock: () => chain.latestBlock(),
        blockByNumber: () => undefined,
        blockByHash: () => undefined,
        prove: () => ({ ok: true, value: proof }),
      };
      const keys = Array.from({ length: PIECES }, () => "0x0");
      const context = { dialect: "standard", limits: DEFAULT_RPC_LIMITS } as const;
      const params = ethGetProof.parse([hexOf(1n), keys, "latest"], context);
      const work = Promise.resolve(ethGetProof.handle(reader, params, context));
      assert.ok((await turnsOf(work)) >= 4);
      const { text } = (await work) as JsonText;
      const { storageProof } = JSON.parse(text) as { storageProof: { value: string }[] };
      assert.equal(storageProof.length, PIECES);
      assert.equal(storageProof[0]?.value, "0x7");
    } finally {
      await node.close();
    }
  });

  it("the fees of many blocks are gathered in pieces", async () => {
    const node = await RpcNode.open();
    try {
      const { chain } = node;
      const genesis = chain.latestBlock();
      const header = { ...genesis.header, number: 1_000n, gasUsed: 1n };
      const reader: FeeHistoryReader = {
        latestBlock: () => ({ ...genesis, header }),
        blockByNumber: (number) => ({ ...genesis, header: { ...header, number } }),
        blockByHash: () => undefined,
        transactionsOf: () => {
          spin();
          return [];
        },
        receiptsOf: () => [],
      };
      const context = { dialect: "standard", limits: DEFAULT_RPC_LIMITS } as const;
      const params = ethFeeHistory.parse([PIECES, "latest", [50]], context);
      const work = Promise.resolve(ethFeeHistory.handle(reader, params, context));
      assert.ok((await turnsOf(work)) >= PIECES / 6);
    } finally {
      await node.close();
    }
  });
});
