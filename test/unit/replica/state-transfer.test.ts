/**
 * A state goes from one store to another through the real threads of both sides; what is between
 * them may change, hold back or invent what is said.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { bytesToHex } from "../../../src/base/hex.ts";
import { decodeHeader, encodeHeader } from "../../../src/chain/header.ts";
import type { ExecVote } from "../../../src/consensus/message.ts";
import type { ExecutionReport } from "../../../src/replica/execution/execution-report.ts";
import { ExecutionService } from "../../../src/replica/execution/execution-service.ts";
import { SnapshotServer } from "../../../src/replica/state-sync/snapshot-server.ts";
import { StateTransfer, type Transferred } from "../../../src/replica/state-sync/state-transfer.ts";
import { encodeBlockBytes } from "../../../src/wire/block-bytes.ts";
import { createTransaction } from "../../../src/wire/block-codec.ts";
import { bytesToHash, ZERO_HASH_TEXT } from "../../../src/wire/hash-text.ts";
import {
  decodeStateMessage,
  encodeStateMessage,
  type StateMessage,
} from "../../../src/wire/state-codec.ts";
import { until } from "../../support/following-client.ts";
import { ACCOUNTS, GENESIS, SILENT_LOGGER, transfer } from "../../support/replica-network.ts";
import { plainHeader } from "../../support/plain-header.ts";

const HEIGHT = 30;
const directory = mkdtempSync(path.join(tmpdir(), "quorate-transfer-"));
const servedPath = path.join(directory, "served");
const takenPath = path.join(directory, "taken");
const TIMING = {
  ...{ answerMs: 8_000, resultsMs: 1_500, resultsRetryMs: 20, roundMs: 10 },
  slackMs: 10_000,
};

type Opened = { readonly service: ExecutionService; readonly executed: ExecutionReport[] };

async function open(statePath: string): Promise<Opened & { readonly height: number }> {
  const executed: ExecutionReport[] = [];
  const options = { genesis: GENESIS, contracts: [], genesisBlockHash: undefined };
  const { service, ready } = await ExecutionService.open(
    { ...options, statePath, flushDelayMs: 3_600_000 },
    {
      onExecuted: (height) => executed.push(height),
      onDiskFull: () => undefined,
      onFailed: (error) => assert.fail(error),
    },
  );
  return { service, executed, height: ready.height };
}

function blockAt(height: number): Uint8Array {
  const bytes = transfer((height - 1) % 5, Math.floor((height - 1) / 5));
  return encodeBlockBytes({
    hash: `0x${height.toString(16).padStart(64, "0")}`,
    header: plainHeader({ height, txCount: 1, timestampMs: 1_700_000_000_000 + height }),
    body: { transactions: [createTransaction(bytes, 21_000)], rejoin: undefined },
  });
}

async function run({ service, executed }: Opened, from: number, to: number): Promise<void> {
  const wanted = executed.length + to - from + 1;
  for (let height = from; height <= to; height++) service.execute(blockAt(height), undefined);
  await until(() => executed.length === wanted, "all are executed");
}

/** Changes what a peer answers; undefined holds it back. */
type Lie = (message: StateMessage, peer: number) => StateMessage | undefined;
const honest: Lie = (message) => message;

describe("taking the state of a peer", () => {
  let result = new Uint8Array(0);
  let nextResult = new Uint8Array(0);
  /** In order: the commands to execution, and what came of it. */
  const pauses: string[] = [];
  const refusals: { readonly peer: number; readonly code: string }[] = [];

  before(async () => {
    const served = await open(servedPath);
    await run(served, 1, HEIGHT);
    await served.service.close();
    const further = await open(servedPath);
    result = Uint8Array.from(served.executed.at(-1)!.result);
    // Not written: the store stays at the height that is served.
    await run(further, HEIGHT + 1, HEIGHT + 1);
    nextResult = Uint8Array.from(further.executed.at(-1)!.result);
    await further.service.terminate();
  });
  after(() => rmSync(directory, { recursive: true, force: true }));
  afterEach(() => {
    refusals.length = 0;
    pauses.length = 0;
    rmSync(takenPath, { recursive: true, force: true });
  });

  const voteOf = (sender: number, height: number): ExecVote => ({
    ...{ kind: "execVote", epoch: 0, sender, height, blockHash: ZERO_HASH_TEXT },
    ...{ result: bytesToHash(result), signature: new Uint8Array(64) },
  });

  /** Peers 1, 2 and 3 are up and have the served state; only those in `servers` serve it. */
  async function take(
    target: Opened,
    servers: readonly number[],
    lie: Lie,
    isServing: (peer: number) => boolean = () => true,
    more: { readonly slackMs?: number; readonly isNeeded?: () => boolean } = {},
  ): Promise<Transferred | undefined> {
    const answer = (peer: number, message: StateMessage): void => {
      const said = lie(message, peer);
      if (said !== undefined) setImmediate(() => transfer.onAnswer(peer, encodeStateMessage(said)));
    };
    const serverOf = new Map(
      servers.map((peer) => [
        peer,
        new SnapshotServer({
          statePath: servedPath,
          logger: SILENT_LOGGER,
          servableHeight: () => HEIGHT,
          send: (_, bytes) => {
            const decoded = decodeStateMessage(bytes);
            assert.ok(decoded.ok);
            answer(peer, decoded.value);
          },
        }),
      ]),
    );
    const transfer: StateTransfer = new StateTransfer({
      logger: {
        ...SILENT_LOGGER,
        warn: (_, fields) => {
          refusals.push({ peer: Number(fields?.["peer"]), code: String(fields?.["code"]) });
        },
      },
      timing: { ...TIMING, slackMs: more.slackMs ?? TIMING.slackMs },
      isNeeded: more.isNeeded ?? ((): boolean => true),
      pause: () => {
        pauses.push("pause");
        return Promise.resolve();
      },
      resume: () => pauses.push("resume"),
      weakQuorum: 2,
      peersUp: () => [1, 2, 3],
      isSigned: () => true,
      importState: (command) => target.service.importState(command),
      send: (to, request) => {
        if (request.kind === "resultRequest") {
          answer(to, { kind: "signedResult", vote: voteOf(to, request.height) });
        } else if (isServing(to) && serverOf.has(to)) serverOf.get(to)!.onRequest(0, request);
        else answer(to, { kind: "snapshotRefused", code: "SNAPSHOT_UNAVAILABLE" });
      },
    });
    const taken = await transfer.run(HEIGHT);
    await Promise.all([...serverOf.values()].map((server) => server.close()));
    return taken;
  }

  const refusalsOf = (peer: number): string[] => [
    ...new Set(refusals.filter((refusal) => refusal.peer === peer).map(({ code }) => code)),
  ];

  it("the next height has the result that it has where the state came from", async () => {
    const target = await open(takenPath);
    const taken = await take(target, [1, 2, 3], honest);
    assert.equal(taken?.ready.height, HEIGHT);
    assert.deepEqual(taken.ready.results, new Map([[HEIGHT, result]]));
    assert.deepEqual(pauses, ["pause"], "execution waits for the exchange of the states only");
    await run(target, HEIGHT + 1, HEIGHT + 1);
    assert.equal(bytesToHex(target.executed.at(-1)!.result), bytesToHex(nextResult));
    const [account] = await target.service.accounts([ACCOUNTS[0]!]);
    assert.equal(account?.nonce, 7n);
    await target.service.close();
    const again = await open(takenPath);
    assert.equal(again.height, HEIGHT + 1);
    await again.service.close();
  });

  const lies: { readonly what: string; readonly code: string; readonly lie: Lie }[] = [
    {
      what: "a balance",
      code: "SNAPSHOT_STATE_WRONG",
      lie: (message) => {
        if (message.kind !== "snapshotChunk") return message;
        const [first, ...others] = message.entries;
        assert.ok(first?.kind === "account");
        const account = { ...first.account, balance: first.account.balance + 1n };
        return { ...message, entries: [{ ...first, account }, ...others] };
      },
    },
    {
      what: "an account less",
      code: "SNAPSHOT_STATE_WRONG",
      lie: (message) =>
        message.kind === "snapshotChunk"
          ? { ...message, entries: message.entries.slice(0, -1) }
          : message,
    },
    {
      what: "a slot that is not in the state",
      code: "SNAPSHOT_STORAGE_WRONG",
      lie: (message) => {
        if (message.kind !== "snapshotChunk") return message;
        const last = message.entries.at(-1);
        assert.ok(last?.kind === "account");
        const slot = { kind: "slot", address: last.address, slot: 1n, value: 1n } as const;
        return { ...message, entries: [...message.entries, slot] };
      },
    },
    {
      what: "a state without end",
      code: "SNAPSHOT_OUT_OF_ORDER",
      lie: (message) =>
        message.kind === "snapshotChunk"
          ? { ...message, entries: [], next: { address: 1n, slot: undefined } }
          : message,
    },
    {
      what: "another head",
      code: "SNAPSHOT_RESULT_WRONG",
      lie: (message) => {
        if (message.kind !== "snapshotOffer") return message;
        const head = decodeHeader(message.headers.at(-1)!);
        assert.ok(head.ok);
        const other = encodeHeader({ ...head.value, gasUsed: head.value.gasUsed + 1n });
        return { ...message, headers: message.headers.with(-1, other) };
      },
    },
    {
      what: "another past",
      code: "SNAPSHOT_HEADERS_UNLINKED",
      lie: (message) =>
        message.kind === "snapshotOffer"
          ? { ...message, headers: message.headers.with(3, message.headers[2]!) }
          : message,
    },
    {
      what: "a shorter past",
      code: "SNAPSHOT_HEADERS_MISSING",
      lie: (message) =>
        message.kind === "snapshotOffer"
          ? { ...message, headers: message.headers.slice(1) }
          : message,
    },
    {
      what: "headers that are none",
      code: "SNAPSHOT_HEADER_MALFORMED",
      lie: (message) =>
        message.kind === "snapshotOffer"
          ? { ...message, headers: [Uint8Array.of(1, 2, 3)] }
          : message,
    },
    {
      what: "less than was asked for",
      code: "SNAPSHOT_TOO_LOW",
      lie: (message) =>
        message.kind === "snapshotOffer" ? { ...message, height: HEIGHT - 1 } : message,
    },
    {
      what: "nothing any more",
      code: "SNAPSHOT_PEER_SILENT",
      lie: (message) => (message.kind === "snapshotChunk" ? undefined : message),
    },
  ];
  it("a Byzantine peer is detected, and nothing of its state is used", async () => {
    const target = await open(takenPath);
    for (const { what, code, lie } of lies) {
      refusals.length = 0;
      pauses.length = 0;
      const taken = await take(target, [1], (message, peer) =>
        message.kind === "signedResult" ? message : lie(message, peer),
      );
      assert.equal(taken, undefined, what);
      assert.equal(refusalsOf(1)[0], code, what);
      assert.notEqual(pauses.at(-1), "pause", `${what}: execution goes on`);
      assert.ok(!existsSync(`${takenPath}.incoming`), what);
    }
    await run(target, 1, 3);
    await target.service.close();
  });

  it("after a Byzantine peer another one is asked", async () => {
    const target = await open(takenPath);
    // The honest one refuses until the Byzantine replica has had its turn.
    let hasLied = false;
    const lie: Lie = (message, peer) => {
      if (peer !== 1 || message.kind !== "snapshotChunk") return message;
      hasLied = true;
      return { ...message, entries: message.entries.slice(0, -1) };
    };
    const taken = await take(target, [1, 2], lie, (peer) => peer === 1 || hasLied);
    assert.deepEqual(refusalsOf(1), ["SNAPSHOT_STATE_WRONG"]);
    assert.equal(taken?.peer, 2);
    assert.equal(taken.ready.height, HEIGHT);
    await target.service.close();
  });

  it("one signed result is not enough", async () => {
    const target = await open(takenPath);
    const taken = await take(target, [1], (message, peer) =>
      message.kind === "signedResult" && peer !== 1 ? undefined : message,
    );
    assert.equal(taken, undefined);
    // What it says to a second try depends on whether it has closed the first by then.
    assert.equal(refusalsOf(1)[0], "SNAPSHOT_RESULT_UNKNOWN");
    await run(target, 1, 3);
    await target.service.close();
  });

  it("a server that drips its state is left for another one", async () => {
    const target = await open(takenPath);
    const taken = await take(target, [1], honest, undefined, { slackMs: -1e6 });
    assert.equal(taken, undefined);
    assert.equal(refusalsOf(1)[0], "SNAPSHOT_PEER_SLOW");
    assert.deepEqual(pauses, []);
    await target.service.close();
  });

  it("a state that execution has overtaken meanwhile is not put in its place", async () => {
    const target = await open(takenPath);
    await run(target, 1, 3);
    const isNeeded = (): boolean => pauses.length === 0;
    const taken = await take(target, [1], honest, undefined, { isNeeded });
    assert.equal(taken, undefined);
    assert.equal(refusalsOf(1)[0], "SNAPSHOT_OVERTAKEN");
    assert.equal(pauses.at(-1), "resume");
    await run(target, 4, 4);
    await target.service.close();
  });

  it("what a crash left of an earlier try is removed", async () => {
    mkdirSync(`${takenPath}.incoming`, { recursive: true });
    writeFileSync(path.join(`${takenPath}.incoming`, "data.mdb"), "half of a state");
    mkdirSync(`${takenPath}.replaced`, { recursive: true });
    const target = await open(takenPath);
    assert.equal(target.height, 0);
    assert.ok(!existsSync(`${takenPath}.incoming`));
    assert.ok(!existsSync(`${takenPath}.replaced`));
    await target.service.close();
  });
});
