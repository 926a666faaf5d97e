import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Prng } from "../../../../src/base/prng.ts";
import { mergeBlooms, type Log } from "../../../../src/chain/bloom.ts";
import { createGenesisBlock } from "../../../../src/chain/genesis-block.ts";
import { createReceipt, type Receipt } from "../../../../src/chain/receipt.ts";
import type { BlockRecord } from "../../../../src/api/chain-reader.ts";
import { formatLog } from "../../../../src/rpc/format/format-log.ts";
import {
  DEFAULT_LOG_CACHE,
  LogCache,
  type LogsReader,
} from "../../../../src/rpc/logs/log-cache.ts";
import { matchesLog, type LogCriteria } from "../../../../src/rpc/logs/log-filter.ts";
import { LogSearch } from "../../../../src/rpc/logs/log-search.ts";
import { HISTORY_PRUNED, RpcError } from "../../../../src/rpc/rpc-error.ts";
import { GENESIS } from "../../execution/test-chain.ts";

const LAST = 200;
const ANY: LogCriteria = { addresses: undefined, topics: [] };
const SMALL = { bloomBytesMax: 4_000, logBytesMax: 20_000 };

type SampleBlock = { readonly block: BlockRecord; readonly receipts: readonly Receipt[] };

/** Blocks of which some have no logs, and how often they were read. */
class SampleChain implements LogsReader {
  readonly blocks: readonly SampleBlock[];
  blockReads = 0;
  receiptReads = 0;
  oldest = 0;

  constructor(prng: Prng) {
    this.blocks = Array.from({ length: LAST + 1 }, (_, number) => sampleBlock(prng, number));
  }

  latestBlock(): BlockRecord {
    return this.blocks[LAST]!.block;
  }

  blockByNumber(number: bigint): BlockRecord | undefined {
    this.blockReads++;
    return Number(number) < this.oldest ? undefined : this.blocks[Number(number)]?.block;
  }

  blockByHash(): undefined {
    return undefined;
  }

  receiptsOf({ header }: BlockRecord): readonly Receipt[] {
    this.receiptReads++;
    return this.blocks[Number(header.number)]!.receipts;
  }

  /** One block after the other, with no filter and no memory. */
  scan(first: number, last: number, criteria: LogCriteria): string[] {
    return this.blocks.slice(first, last + 1).flatMap(({ block, receipts }) => {
      let logIndex = 0;
      return receipts.flatMap(({ logs }, transactionIndex) =>
        logs.flatMap((log) => {
          const transactionHash = block.transactionHashes[transactionIndex]!;
          const place = { block, transactionIndex, transactionHash, logIndex: logIndex++ };
          return matchesLog(criteria, log) ? [JSON.stringify(formatLog(log, place))] : [];
        }),
      );
    });
  }
}

function sampleBlock(prng: Prng, number: number): SampleBlock {
  const receipts = Array.from({ length: prng.below(4) }, () =>
    createReceipt({
      ...{ type: 2, succeeded: true, cumulativeGasUsed: 21_000n },
      logs: Array.from({ length: prng.below(3) }, () => sampleLog(prng)),
    }),
  );
  const { header } = createGenesisBlock(GENESIS, new Uint8Array(32)).block;
  const logsBloom = mergeBlooms(receipts.map((receipt) => receipt.logsBloom));
  const block = {
    hash: prng.bytes(32),
    header: { ...header, number: BigInt(number), logsBloom },
    size: 1_000,
    transactionHashes: receipts.map(() => prng.bytes(32)),
  };
  return { block, receipts };
}

function sampleLog(prng: Prng): Log {
  const topics = Array.from({ length: prng.below(4) }, () => BigInt(prng.below(5)));
  return { address: BigInt(prng.below(6)), topics, data: prng.bytes(prng.below(80)) };
}

function sampleCriteria(prng: Prng): LogCriteria {
  const some = (): ReadonlySet<bigint> | undefined =>
    prng.chance(0.4)
      ? undefined
      : new Set(Array.from({ length: 1 + prng.below(2) }, () => BigInt(prng.below(7))));
  return { addresses: some(), topics: Array.from({ length: prng.below(3) }, some) };
}

async function inRange(
  search: LogSearch,
  first: number,
  last: number,
  criteria: LogCriteria,
): Promise<readonly string[]> {
  const room = { resultsMax: Infinity, lengthMax: Infinity };
  const place = { number: BigInt(first), skip: 0 };
  return (await search.part(place, BigInt(last), criteria, room)).texts;
}

describe("searches for logs", () => {
  for (const [name, options] of Object.entries({ default: DEFAULT_LOG_CACHE, small: SMALL })) {
    it(`find what a plain scan finds, again and again, with ${name} memory`, async () => {
      const prng = new Prng(5);
      const chain = new SampleChain(prng);
      const search = new LogSearch(chain, options);
      for (let round = 0; round < 100; round++) {
        const criteria = sampleCriteria(prng);
        const first = prng.below(LAST);
        const last = prng.between(first, LAST);
        const found = await inRange(search, first, last, criteria);
        assert.deepEqual(found, chain.scan(first, last, criteria), `round ${round}`);
      }
    });
  }

  it("read each block and its receipts once", async () => {
    const chain = new SampleChain(new Prng(6));
    const search = new LogSearch(chain);
    const found = await inRange(search, 0, LAST, ANY);
    assert.ok(found.length > 100);
    const { blockReads, receiptReads } = chain;
    assert.deepEqual(await inRange(search, 0, LAST, ANY), found);
    await inRange(search, 0, LAST, { addresses: new Set([1n]), topics: [] });
    assert.deepEqual([chain.blockReads, chain.receiptReads], [blockReads, receiptReads]);
  });

  it("read no receipts of blocks that cannot have what is asked for", async () => {
    const chain = new SampleChain(new Prng(7));
    const absent = { addresses: new Set([0xdeadn]), topics: [] };
    assert.deepEqual(await inRange(new LogSearch(chain), 0, LAST, absent), []);
    assert.equal(chain.receiptReads, 0);
  });

  it("go on where they stopped, also within a block, whatever one answer may have", async () => {
    const search = new LogSearch(new SampleChain(new Prng(8)));
    const all = await inRange(search, 0, LAST, ANY);
    const longest = Math.max(...all.map((text) => text.length + 1));
    for (const room of [
      { resultsMax: 1, lengthMax: Infinity },
      { resultsMax: 7, lengthMax: Infinity },
      { resultsMax: Infinity, lengthMax: longest },
      { resultsMax: Infinity, lengthMax: 5 * longest },
    ]) {
      const found: string[] = [];
      let place = { number: 0n, skip: 0 };
      while (place.number <= BigInt(LAST)) {
        const { texts, next } = await search.part(place, BigInt(LAST), ANY, room);
        const isEnd = next.number > BigInt(LAST);
        assert.ok(texts.length > 0 || isEnd, `no progress at ${place.number}`);
        found.push(...texts);
        place = next;
      }
      assert.deepEqual(found, all, JSON.stringify(room));
    }
  });

  it("say when a block is no longer kept", async () => {
    const chain = new SampleChain(new Prng(9));
    chain.oldest = 5;
    const isPruned = (error: unknown): boolean =>
      error instanceof RpcError && error.code === HISTORY_PRUNED;
    await assert.rejects(inRange(new LogSearch(chain), 0, 10, ANY), isPruned);
  });
});

describe("logs in memory", () => {
  it("stay within their bounds, and leave no count behind when they go", async () => {
    const chain = new SampleChain(new Prng(10));
    const kept = new LogCache(chain, SMALL);
    for (const { block } of chain.blocks) {
      const one = kept.keep(block);
      for (const log of await kept.load(one, block)) kept.format(one, log, block);
      assert.ok(kept.bloomBytes <= SMALL.bloomBytesMax, `blooms of ${block.header.number}`);
      assert.ok(kept.logBytes <= SMALL.logBytesMax, `logs of ${block.header.number}`);
    }
    assert.equal(kept.find(0), undefined, "the oldest went");
    assert.ok(kept.find(LAST) !== undefined, "the latest is there");
  });

  it("are not kept where those of one block are more than all may be", async () => {
    const chain = new SampleChain(new Prng(11));
    const kept = new LogCache(chain, { ...SMALL, logBytesMax: 10 });
    const { block, receipts } = chain.blocks.find((one) =>
      one.receipts.some((r) => r.logs.length > 0),
    )!;
    const one = kept.keep(block);
    const logs = await kept.load(one, block);
    assert.equal(logs.length, receipts.flatMap((receipt) => receipt.logs).length);
    assert.equal(one.logs, undefined);
    assert.equal(kept.logBytes, 0);
  });
});
