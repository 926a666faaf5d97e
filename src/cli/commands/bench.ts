/** `quorate bench`: how much a network takes, measured from outside. */
import { CodedError } from "../../base/coded-error.ts";
import { parseHex } from "../../base/hex.ts";
import { createProgressBar, type ProgressBar } from "../bench/progress-bar.ts";
import {
  runBench,
  type BenchOptions,
  type BenchReport,
  type BenchStep,
} from "../bench/run-bench.ts";
import { usageError, type Arguments, type Command } from "../command.ts";
import { readText } from "../../node/load-config.ts";
import { shownPath } from "../../node/shown-path.ts";

const DEFAULT_URL = "http://127.0.0.1:8545/standard";
const DEFAULT_SECONDS = 10;
const SECONDS_MAX = 300;
const DEFAULT_SENDERS = 100;
const SENDERS_MAX = 1_000;
const DEFAULT_IN_FLIGHT = 500;
const IN_FLIGHT_MAX = 20_000;
const RATE_MAX = 20_000;
/** One account has one connection: alone it is fast in batches only. */
const KEY_BATCH = 20;
const BATCH_MAX = 100;
const PRIVATE_KEY_SIZE = 32;

const TITLES: Readonly<Record<BenchStep, string>> = {
  prepare: "prepare",
  sign: "sign   ",
  load: "load   ",
};

export const bench: Command = {
  name: "bench",
  summary: "measure how many transactions a network makes final, and how fast",
  options: [
    { name: "url", value: "URL", summary: `where ethrpc is (${DEFAULT_URL})` },
    {
      name: "seconds",
      value: "N",
      summary: `how long (${DEFAULT_SECONDS}, at most ${SECONDS_MAX})`,
    },
    { name: "senders", value: "N", summary: `accounts that send (${DEFAULT_SENDERS})` },
    { name: "in-flight", value: "N", summary: `transactions under way (${DEFAULT_IN_FLIGHT})` },
    { name: "rate", value: "N", summary: "send so many a second instead, whatever comes back" },
    { name: "batch", value: "N", summary: "transactions in one request (1)" },
    { name: "transfers", value: "value|erc20", summary: "plain transfers, or of a token (value)" },
    { name: "key", value: "FILE", summary: "the key of an account that may write, as 0x-hex" },
    { name: "json", summary: "print JSON" },
  ],
  details:
    "It writes to the network: new accounts without coins send transfers of 0, or of a token\n" +
    "that is deployed for it. Where writing needs a right, --key names the one account that acts.",
  async run(given, { terminal }) {
    const options = parseOptions(given);
    const isJson = given.switches.has("json");
    const { stderr } = process;
    const bars = new Map<BenchStep, ProgressBar>();
    const report = await runBench(options, (step, share, text) => {
      const known = bars.get(step);
      if (known === undefined) for (const bar of bars.values()) bar.end();
      const settings = { isTerminal: stderr.isTTY, title: TITLES[step] };
      const bar = known ?? createProgressBar((line) => void stderr.write(line), settings);
      bars.set(step, bar);
      bar.show(share, text);
    }).finally(() => {
      for (const bar of bars.values()) bar.end();
    });
    if (isJson) terminal.result(JSON.stringify({ url: options.url, ...report }, undefined, 2));
    else for (const line of benchSummaryLines(options, report)) terminal.result(line);
    return report.final === report.sent ? 0 : 1;
  },
};

function parseOptions({ texts }: Arguments): BenchOptions {
  const { url = DEFAULT_URL, transfers = "value", key, rate } = texts;
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw usageError(`"${url}" is no http or https URL`, "bench");
  }
  if (transfers !== "value" && transfers !== "erc20") {
    throw usageError("--transfers must be value or erc20", "bench");
  }
  const batchMax = whole(texts, "batch", key === undefined ? 1 : KEY_BATCH, BATCH_MAX);
  const inFlight = whole(texts, "in-flight", DEFAULT_IN_FLIGHT, IN_FLIGHT_MAX);
  return {
    url,
    transfers,
    seconds: whole(texts, "seconds", DEFAULT_SECONDS, SECONDS_MAX),
    senderCount: whole(texts, "senders", DEFAULT_SENDERS, SENDERS_MAX),
    pace:
      rate === undefined
        ? { kind: "closed", inFlight, batchMax }
        : { kind: "open", perSecond: whole(texts, "rate", 1, RATE_MAX) },
    privateKey: key === undefined ? undefined : loadPrivateKey(key),
  };
}

function whole(texts: Arguments["texts"], name: string, fallback: number, max: number): number {
  const text = texts[name];
  if (text === undefined) return fallback;
  const value = /^[1-9][0-9]{0,6}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= max) return value;
  throw usageError(`--${name} must be a whole number, 1 to ${max}`, "bench");
}

function loadPrivateKey(file: string): Uint8Array {
  const bytes = parseHex(readText(file).trim());
  if (bytes?.length === PRIVATE_KEY_SIZE) return bytes;
  const reason = "it holds no private key of 32 bytes in 0x-hex";
  throw new CodedError("KEY_UNREADABLE", { path: shownPath(file), reason });
}

export function benchSummaryLines(options: BenchOptions, report: BenchReport): readonly string[] {
  const { pace, transfers, privateKey, senderCount } = options;
  const kind = transfers === "value" ? "value transfers" : "ERC-20 transfers";
  const who = privateKey === undefined ? `${senderCount} senders` : "one sender";
  const how =
    pace.kind === "open" ? `${pace.perSecond} sent per second` : `${pace.inFlight} in flight`;
  const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
  const rows: readonly (readonly [string, string])[] = [
    ["network", `${options.url}, chain id ${report.chainId}`],
    ["load", `${kind}, ${who}, ${how}, ${report.seconds} s`],
    ["final", `${report.perSecond.toFixed(0)} per second`],
    ["latency under load", `p50 ${ms(report.p50Ms)}, p99 ${ms(report.p99Ms)}`],
    ["latency alone", `p50 ${ms(report.aloneP50Ms)}, p99 ${ms(report.aloneP99Ms)}`],
    [
      "blocks",
      `${(report.blocks / report.seconds).toFixed(0)} per second, ` +
        `longest pause ${ms(report.pauseMaxMs)}`,
    ],
    ["sent, final", `${report.sent}, ${report.final}`],
    ["by tenth", report.perSecondByTenth.map((count) => count.toFixed(0)).join(" ")],
    ...Object.entries(report.refusals).map(
      ([reason, count]) => ["refused, sent again", `${count} times: ${reason}`] as const,
    ),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${text}`);
}
