import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { CodedError } from "../../../src/base/coded-error.ts";
import type { LogRecord } from "../../../src/consensus/log-record.ts";
import type { Message } from "../../../src/consensus/message.ts";
import { DEFAULT_PARAMETERS } from "../../../src/consensus/parameters.ts";
import { Replica } from "../../../src/consensus/replica.ts";
import { Driver, type DriverLog } from "../../../src/replica/driver.ts";
import { createTransaction } from "../../../src/wire/block-codec.ts";
import { ZERO_HASH_TEXT } from "../../../src/wire/hash-text.ts";
import { createPorts } from "../../../src/wire/ports.ts";
import { until } from "../../support/following-client.ts";
import { GENESIS, NO_SIGNATURE } from "../../support/lone-replica.ts";

/** A log in memory whose disk fails, waits or fills when the test says so. */
class PlayedLog implements DriverLog {
  readonly records: LogRecord[] = [];
  readonly begun: LogRecord[] = [];
  readonly dropped: number[] = [];
  failure: CodedError | undefined;
  beginFailure: CodedError | undefined;
  isBegun = true;
  wantsRotation = false;
  segmentId = 1;
  unsyncedBytes = 0;
  release: (() => void) | undefined;

  append(record: LogRecord): void {
    if (this.failure !== undefined) throw this.failure;
    this.records.push(record);
  }

  async sync(): Promise<void> {
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
  }

  async begin(record: LogRecord): Promise<void> {
    this.begun.push(record);
    this.isBegun = true;
    if (this.beginFailure !== undefined) throw this.beginFailure;
    await new Promise<void>((resolve) => (this.release = resolve));
    this.wantsRotation = false;
    this.segmentId++;
  }

  async prepareSpare(): Promise<void> {}

  async dropBefore(segmentId: number): Promise<void> {
    this.dropped.push(segmentId);
    await Promise.resolve();
  }
}

/** A test that fails half-way must not keep the process alive. */
const drivers: Driver[] = [];

const net = new Uint8Array(32).fill(7);

function play(log: PlayedLog): {
  readonly driver: Driver;
  readonly sent: Message[];
  readonly failures: unknown[];
  readonly flushes: { count: number; next: Promise<void> | undefined };
  readonly fulls: boolean[];
  readonly congestions: boolean[];
} {
  const sent: Message[] = [];
  const failures: unknown[] = [];
  const flushes: { count: number; next: Promise<void> | undefined } = { count: 0, next: undefined };
  const fulls: boolean[] = [];
  const congestions: boolean[] = [];
  const parameters = {
    ...DEFAULT_PARAMETERS,
    replicaCount: 4,
    self: 0,
    genesis: GENESIS,
    genesisResult: ZERO_HASH_TEXT,
  };
  const replica = new Replica(
    parameters,
    createPorts({ net, signer: { sign: () => NO_SIGNATURE } }),
  );
  const driver = new Driver(replica, log, {
    send: (_to, message) => sent.push(message),
    finalize: () => undefined,
    serveBlocks: () => undefined,
    checkpoint: () => undefined,
    notice: () => undefined,
    onLogFull: (isFull) => fulls.push(isFull),
    onCongested: (isCongested) => congestions.push(isCongested),
    flushBlocks: () => {
      flushes.count++;
      return flushes.next ?? Promise.resolve();
    },
    onFatal: (error) => failures.push(error),
  });
  drivers.push(driver);
  return { driver, sent, failures, flushes, fulls, congestions };
}

const transaction = createTransaction(Uint8Array.of(1), 21_000);

describe("the driver", () => {
  afterEach(() => {
    for (const driver of drivers.splice(0)) driver.stop().catch(() => undefined);
  });

  it("sends a vote only after its record is durable", async () => {
    const log = new PlayedLog();
    const { driver, sent } = play(log);
    await driver.start({ kind: "bootstrap" });
    driver.input({ kind: "submit", transactions: [transaction] });
    const kinds = (): string[] => sent.map(({ kind }) => kind);
    assert.ok(
      log.records.some(({ kind }) => kind === "vote"),
      "the vote is written",
    );
    assert.ok(!kinds().includes("vote"), "and not yet sent");
    await until(() => kinds().includes("vote"), "the vote is sent");
    await driver.stop();
  });

  it("stops at once when the log cannot be made durable, and votes no more", async () => {
    const log = new PlayedLog();
    const { driver, sent, failures } = play(log);
    await driver.start({ kind: "bootstrap" });
    await until(() => sent.length > 0, "it speaks");
    log.failure = new CodedError("WAL_WRITE_FAILED");
    driver.input({ kind: "submit", transactions: [transaction] });
    await until(() => failures.length > 0, "it stops");
    assert.deepEqual(failures, [log.failure]);
    const sentBefore = sent.length;
    log.failure = undefined;
    driver.input({ kind: "submit", transactions: [createTransaction(Uint8Array.of(2), 21_000)] });
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(sent.length, sentBefore, "nothing leaves a stopped replica");
    assert.ok(!sent.some(({ kind }) => kind === "vote"));
    assert.equal(failures.length, 1);
  });

  it("begins a new segment with a snapshot, and lets inputs wait for it", async () => {
    const log = new PlayedLog();
    const { driver, flushes } = play(log);
    await driver.start({ kind: "bootstrap" });
    await until(() => log.dropped.length === 1, "the first segment is the oldest");
    log.wantsRotation = true;
    driver.input({ kind: "link", peer: 1, isUp: true });
    assert.deepEqual(
      log.begun.map(({ kind }) => kind),
      ["snapshot"],
    );
    const recordsBefore = log.records.length;
    driver.input({ kind: "submit", transactions: [transaction] });
    assert.equal(log.records.length, recordsBefore, "nothing is appended meanwhile");
    const flushesBefore = flushes.count;
    log.release?.();
    await until(() => log.records.length > recordsBefore, "then it is");
    await until(() => log.dropped.length === 2, "the old segment goes");
    assert.deepEqual(log.dropped, [1, 2]);
    assert.equal(flushes.count, flushesBefore + 1, "after the blocks were made durable");
    await driver.stop();
  });

  it("goes on in the old segment while there is no room for another", async () => {
    const log = new PlayedLog();
    const { driver, sent, failures, fulls } = play(log);
    await driver.start({ kind: "bootstrap" });
    log.beginFailure = new CodedError("DISK_FULL");
    log.wantsRotation = true;
    driver.input({ kind: "submit", transactions: [transaction] });
    await until(() => sent.some(({ kind }) => kind === "vote"), "it still votes");
    assert.deepEqual(fulls, [true], "and says that nothing more should come in");
    log.beginFailure = undefined;
    await until(() => log.release !== undefined, "it tries again");
    log.release?.();
    await until(() => fulls.length === 2, "there is room");
    assert.deepEqual(fulls, [true, false]);
    assert.deepEqual(failures, []);
    await driver.stop();
  });

  it("a disk that stalls while a segment begins stops the reading from peers", async () => {
    const log = new PlayedLog();
    const { driver, congestions } = play(log);
    await driver.start({ kind: "bootstrap" });
    log.wantsRotation = true;
    driver.input({ kind: "link", peer: 1, isUp: true });
    for (let count = 0; count < 5_000; count++) {
      driver.input({ kind: "link", peer: 1, isUp: count % 2 === 0 });
    }
    assert.deepEqual(congestions, [true], "once, when too much waits");
    log.release?.();
    await until(() => congestions.length === 2, "all that waited is handled");
    assert.deepEqual(congestions, [true, false]);
    await driver.stop();
  });

  it("a disk whose syncs stall stops the reading from peers", async () => {
    const log = new PlayedLog();
    const { driver, congestions } = play(log);
    await driver.start({ kind: "bootstrap" });
    log.unsyncedBytes = 65 * 1024 * 1024;
    driver.input({ kind: "link", peer: 1, isUp: true });
    assert.deepEqual(congestions, [true]);
    log.unsyncedBytes = 20 * 1024 * 1024;
    driver.input({ kind: "link", peer: 2, isUp: true });
    assert.deepEqual(congestions, [true], "not before most of it is durable");
    log.unsyncedBytes = 0;
    driver.input({ kind: "link", peer: 3, isUp: true });
    assert.deepEqual(congestions, [true, false]);
    await driver.stop();
  });

  it("segments stay until the blocks that they hold are durable in the store", async () => {
    const log = new PlayedLog();
    const { driver, flushes } = play(log);
    const flushed = Promise.withResolvers<undefined>();
    flushes.next = flushed.promise.then(() => undefined);
    await driver.start({ kind: "bootstrap" });
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.deepEqual(log.dropped, []);
    flushed.resolve(undefined);
    await until(() => log.dropped.length === 1, "then they go");
    flushes.next = Promise.reject(new CodedError("DISK_FULL"));
    log.wantsRotation = true;
    driver.input({ kind: "link", peer: 1, isUp: true });
    log.release?.();
    await until(() => flushes.count === 2, "the store is asked again");
    await driver.stop();
    assert.equal(log.dropped.length, 1, "a store that is full keeps the segments");
  });
});
