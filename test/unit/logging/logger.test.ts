import assert from "node:assert/strict";
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import type { Logger } from "../../../src/base/logger.ts";
import { createLoggers } from "../../../src/logging/create-logger.ts";
import type { LogLevel } from "../../../src/logging/log-entry.ts";
import { LogFile } from "../../../src/logging/log-file.ts";
import { LogThreshold } from "../../../src/logging/log-threshold.ts";
import { LogTail, mergeLines } from "../../../src/logging/log-tail.ts";
import { logFormatOf, LogWriter } from "../../../src/logging/log-writer.ts";
import { formatEntry } from "../../../src/logging/pretty-entry.ts";

const ORIGIN = { blockchainId: "net", serviceName: "client-0-ethrpc", nodeId: "client-0" };
const NOW = new Date(Date.UTC(2022, 11, 2, 3, 4, 5, 6));

function capture(level: LogLevel): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const writer = { write: (text: string) => void lines.push(text) };
  const loggers = createLoggers({ level, origin: ORIGIN }, { writer, now: () => NOW });
  return { logger: loggers("rpc"), lines };
}

describe("log entries", () => {
  it("carry the fields of SPEC L4 and the time in the form of SPEC L3", () => {
    const { logger, lines } = capture("info");
    logger.info("view changed", { view: 3, isAccepted: true, gone: undefined });
    assert.equal(lines.length, 1);
    assert.ok(lines[0]!.endsWith("}\n"));
    assert.deepEqual(JSON.parse(lines[0]!), {
      level: "info",
      logtime: "2022-12-02T03:04:05,006,+0000",
      blockchain_id: "net",
      service_name: "client-0-ethrpc",
      node_id: "client-0",
      logger: "rpc",
      message: "view changed",
      view: 3,
      isAccepted: true,
    });
  });

  it("below the level are not written", () => {
    const { logger, lines } = capture("warn");
    logger.debug("a");
    logger.info("b");
    logger.warn("c");
    logger.error("d");
    assert.equal(lines.length, 2);
  });

  it("of all parts follow a level that changes, and say whether debug is read", () => {
    const lines: string[] = [];
    const writer = { write: (text: string) => void lines.push(text) };
    const threshold = new LogThreshold("warn");
    const options = { level: threshold.level, origin: ORIGIN };
    const loggers = createLoggers(options, { writer, threshold });
    const parts = [loggers("a"), loggers("b")];
    const speak = (): number => {
      for (const part of parts) part.debug("x");
      return lines.splice(0).length;
    };
    assert.deepEqual([speak(), parts[0]?.isDebug?.()], [0, false]);
    threshold.toggleDebug();
    assert.deepEqual([speak(), parts[0]?.isDebug?.()], [2, true]);
    threshold.toggleDebug();
    assert.deepEqual([speak(), threshold.level], [0, "warn"]);
  });

  it("never show a secret, even if somebody logs one", () => {
    const { logger, lines } = capture("info");
    const secret = "hush-hush";
    for (const name of ["seed", "privateKey", "password", "token", "authorization"]) {
      logger.info("told", { [name]: secret });
    }
    assert.equal(lines.length, 5);
    assert.ok(!lines.join("").includes(secret));
  });

  it("are one line each, whatever is in them", () => {
    const { logger, lines } = capture("info");
    logger.info("a\nb", { text: "c\nd" });
    assert.equal(lines.join("").split("\n").length, 2);
  });

  it("are JSON off a terminal and pretty on one, unless told otherwise", () => {
    assert.equal(logFormatOf("auto", false), "json");
    assert.equal(logFormatOf("auto", true), "pretty");
    assert.equal(logFormatOf("json", true), "json");
    assert.equal(logFormatOf("pretty", false), "pretty");
  });

  it("for people keep what matters and let no control character through", () => {
    const { logger, lines } = capture("info");
    logger.warn("link down", { peer: 3, reason: "\u001b[31mred" });
    const shown = formatEntry(lines[0]!.trimEnd(), { hasColour: false });
    assert.equal(shown, "03:04:05.006 WARN  client-0-ethrpc rpc link down peer=3 reason= [31mred");
    assert.equal(formatEntry("no entry", { hasColour: true }), "no entry");
    assert.equal(formatEntry("{broken", { hasColour: true }), "{broken");
  });
});

describe("the writer of a process", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-writer-"));
  const file = path.join(directory, "out");
  after(() => rmSync(directory, { recursive: true, force: true }));

  it("writes all lines in order before it lets the process end", async () => {
    const opened = openSync(file, "w");
    const writer = new LogWriter("json", false, opened);
    for (let at = 0; at < 1_000; at++) writer.line(`line ${at}`);
    await writer.flush();
    closeSync(opened);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    assert.deepEqual(
      lines,
      Array.from({ length: 1_000 }, (_, at) => `line ${at}`),
    );
    assert.equal(writer.droppedCount, 0);
  });

  it("lets the process end when its reader has gone", async () => {
    // Not open for writing: the same as a reader that has gone.
    const opened = openSync(file, "r");
    const writer = new LogWriter("json", false, opened);
    writer.line("a");
    writer.line("b");
    await writer.flush();
    writer.line("c");
    await writer.flush();
    closeSync(opened);
    assert.ok(writer.droppedCount >= 2);
  });
});

describe("log files", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-logs-"));
  after(() => rmSync(directory, { recursive: true, force: true }));
  const entry = (second: number, message: string): string =>
    `${JSON.stringify({ logtime: `2022-12-02T00:00:0${second},000,+0000`, message })}\n`;

  it("rotate by size, keep a few, and go on after a restart", () => {
    const file = path.join(directory, "rotated.log");
    const options = { sizeMax: 10, keptCount: 2 };
    let log = new LogFile(file, options);
    for (const text of ["aaaa\n", "bbbb\n", "cccc\n", "dddd\n", "eeee\n"]) log.append(text);
    log.close();
    log = new LogFile(file, options);
    for (const text of ["ffff\n", "gggg\n"]) log.append(text);
    log.close();
    assert.equal(readFileSync(file, "utf8"), "gggg\n");
    assert.equal(readFileSync(`${file}.1`, "utf8"), "eeee\nffff\n");
    assert.equal(readFileSync(`${file}.2`, "utf8"), "cccc\ndddd\n");
    assert.equal(existsSync(`${file}.3`), false);
  });

  it("that cannot be written cost lines and nothing else", () => {
    const log = new LogFile(path.join(directory, "rotated.log", "impossible.log"));
    log.append("lost\n");
    log.close();
  });

  it("are read from their end, then as they grow, over a rotation and in the order of time", () => {
    const file = path.join(directory, "tail.log");
    appendFileSync(file, entry(1, "one") + entry(2, "two") + "plain\n" + entry(4, "four"));
    const tail = new LogTail(file, "replica-0");
    assert.deepEqual(
      tail.last(2).map(({ text }) => text),
      ["plain", entry(4, "four").trimEnd()],
    );
    appendFileSync(file, entry(5, "five").slice(0, 10));
    assert.deepEqual(tail.next(), []);
    appendFileSync(file, entry(5, "five").slice(10));
    assert.equal(tail.next().length, 1);
    renameSync(file, `${file}.1`);
    appendFileSync(file, entry(7, "seven"));
    assert.equal(tail.next()[0]?.text, entry(7, "seven").trimEnd());
    const other = path.join(directory, "other.log");
    appendFileSync(other, entry(3, "three") + entry(6, "six"));
    const merged = mergeLines([new LogTail(file, "a").last(10), new LogTail(other, "b").last(10)]);
    const messages = merged
      .filter(({ text }) => text.startsWith("{"))
      .map(({ text }) => (JSON.parse(text) as { message: string }).message);
    assert.deepEqual(messages, ["one", "two", "three", "four", "five", "six", "seven"]);
  });
});
