/** The execution thread over a real state store. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, beforeEach, describe, it } from "node:test";
import { bytesToHex } from "../../../src/base/hex.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import type { ExecutionReport } from "../../../src/replica/execution/execution-report.ts";
import { ExecutionService } from "../../../src/replica/execution/execution-service.ts";
import type { ExecutionReady } from "../../../src/replica/execution/execution-messages.ts";
import { StateStore } from "../../../src/storage/state-store.ts";
import { encodeBlockBytes } from "../../../src/wire/block-bytes.ts";
import { createTransaction } from "../../../src/wire/block-codec.ts";
import { until } from "../../support/following-client.ts";
import { ACCOUNTS, GENESIS, transfer } from "../../support/replica-network.ts";
import { plainHeader } from "../../support/plain-header.ts";

const directory = mkdtempSync(path.join(tmpdir(), "quorate-execution-"));
const statePath = path.join(directory, "state");
const NEVER_MS = 3_600_000;

type Opened = {
  readonly service: ExecutionService;
  readonly ready: ExecutionReady;
  readonly executed: ExecutionReport[];
};

async function open(
  more: { flushDelayMs?: number; genesis?: typeof GENESIS } = {},
): Promise<Opened> {
  const executed: ExecutionReport[] = [];
  const { service, ready } = await ExecutionService.open(
    {
      genesis: GENESIS,
      contracts: [],
      genesisBlockHash: undefined,
      statePath,
      flushDelayMs: NEVER_MS,
      ...more,
    },
    {
      onExecuted: (height) => executed.push(height),
      onDiskFull: () => undefined,
      onFailed: (error) => assert.fail(error),
    },
  );
  return { service, ready, executed };
}

/** One transfer each, the account changing with the height. */
function blockAt(
  height: number,
  transactions = [transfer((height - 1) % 5, Math.floor((height - 1) / 5))],
): Uint8Array {
  return encodeBlockBytes({
    hash: `0x${height.toString(16).padStart(64, "0")}`,
    header: plainHeader({
      height,
      txCount: transactions.length,
      timestampMs: 1_700_000_000_000 + height,
    }),
    body: {
      transactions: transactions.map((bytes) => createTransaction(bytes, 21_000)),
      rejoin: undefined,
    },
  });
}

async function run({ service, executed }: Opened, from: number, to: number): Promise<string[]> {
  const before = executed.length;
  for (let height = from; height <= to; height++) service.execute(blockAt(height), undefined);
  await until(() => executed.length - before === to - from + 1, "all are executed");
  return executed.slice(before).map(({ result }) => bytesToHex(result));
}

describe("the execution thread", () => {
  beforeEach(() => rmSync(statePath, { recursive: true, force: true }));
  after(() => rmSync(directory, { recursive: true, force: true }));

  it("comes back at the height that it wrote, with the same results from there", async () => {
    const first = await open();
    assert.equal(first.ready.height, 0);
    const results = await run(first, 1, 20);
    assert.equal(new Set(results).size, 20);
    await first.service.close();

    const second = await open();
    assert.equal(second.ready.height, 20);
    assert.equal(second.ready.isRebuilt, false);
    assert.deepEqual(second.ready.genesis, first.ready.genesis);
    const known = [...second.ready.results].filter(([height]) => height > 0);
    assert.deepEqual(
      known.map(([, result]) => bytesToHex(result)),
      results,
    );
    const more = await run(second, 21, 25);
    await second.service.close();

    rmSync(statePath, { recursive: true });
    const third = await open();
    assert.deepEqual(await run(third, 1, 25), [...results, ...more]);
    await third.service.terminate();
  });

  it("forgets what it had not written when it is killed, and executes it again alike", async () => {
    const first = await open();
    const results = await run(first, 1, 10);
    await first.service.terminate();
    const second = await open();
    assert.equal(second.ready.height, 0);
    assert.deepEqual(await run(second, 1, 10), results);
    await second.service.terminate();
  });

  it("writes by itself after a while", async () => {
    const first = await open({ flushDelayMs: 20 });
    await run(first, 1, 3);
    const reader = StateStore.openReader(statePath);
    await until(() => reader.height === 3, "it is written");
    await reader.close();
    await first.service.terminate();
    const second = await open();
    assert.equal(second.ready.height, 3);
    await second.service.terminate();
  });

  it("makes a damaged state again from the beginning", async () => {
    const first = await open();
    await run(first, 1, 10);
    await first.service.close();
    truncateSync(path.join(statePath, "data.mdb"), 9_000);
    const second = await open();
    assert.equal(second.ready.isRebuilt, true);
    assert.equal(second.ready.height, 0);
    assert.deepEqual(second.ready.genesis, first.ready.genesis);
    await second.service.terminate();
  });

  it("refuses the data of another network", async () => {
    const first = await open();
    await first.service.close();
    await assert.rejects(open({ genesis: { ...GENESIS, chainId: 9n } }), {
      code: "GENESIS_MISMATCH",
    });
  });

  it("names what it included, in order", async () => {
    const { service, executed } = await open();
    const transactions = [transfer(0, 0), transfer(1, 0), transfer(0, 1)];
    service.execute(blockAt(1, transactions), undefined);
    await until(() => executed.length === 1, "it is executed");
    assert.deepEqual(
      executed[0]?.included.map(bytesToHex),
      transactions.map((bytes) => bytesToHex(keccak256(bytes))),
    );
    await service.close();
  });

  it("tells of drops, of what may come again, and of accounts", async () => {
    const { service, executed } = await open();
    const early = transfer(0, 1);
    service.execute(blockAt(1, [early, transfer(1, 0)]), undefined);
    await until(() => executed.length === 1, "it is executed");
    const [{ drops, included, accounts }] = executed as [ExecutionReport];
    assert.equal(included.length, 1);
    assert.deepEqual(
      drops.map(({ code, retry }) => ({ code, retry })),
      [{ code: "TX_NONCE_TOO_HIGH", retry: early }],
    );
    const sender = accounts.find(({ address }) => address === ACCOUNTS[1]);
    assert.equal(sender?.nonce, 1n);
    const [asked] = await service.accounts([ACCOUNTS[2]!]);
    assert.equal(asked?.balance, 10n ** 18n + 1n, "what the transfer gave");
    service.execute(blockAt(2, [early]), undefined);
    await until(() => executed.length === 2, "a height without a block");
    assert.equal(bytesToHex(executed[1]!.result), bytesToHex(executed[0]!.result));
    await service.close();
  });
});
