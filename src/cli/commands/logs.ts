/** `quorate logs`: what the nodes wrote, in the order of time. */
import { LogTail, mergeLines, type LogLine } from "../../logging/log-tail.ts";
import { formatEntry } from "../../logging/pretty-entry.ts";
import { CodedError } from "../../base/coded-error.ts";
import { existsSync } from "node:fs";
import { usageError, type Command } from "../command.ts";
import { CLIENT_NAME, NODE_NAMES } from "../../config/node-names.ts";
import { dataRoot, networkPaths, type NetworkPaths } from "../../local-network/network-paths.ts";
import { shownPath } from "../../node/shown-path.ts";
import { createStopSignal } from "../../node/stop-signal.ts";
import type { Terminal } from "../terminal.ts";

const SUPERVISOR = "supervisor";
/** Services that share the file of their node. */
const CLIENT_SERVICES = [`${CLIENT_NAME}-clientservice`, `${CLIENT_NAME}-ethrpc`];
const SERVICES = [...NODE_NAMES, ...CLIENT_SERVICES, SUPERVISOR];
const DEFAULT_LINES = 50;
const FOLLOW_MS = 200;

export const logs: Command = {
  name: "logs",
  summary: "what the nodes wrote",
  positionals: "[service ...]",
  options: [
    { name: "data", value: "DIR", summary: "where the network lives (./.quorate)" },
    { name: "lines", value: "N", summary: `how many of the last lines (${DEFAULT_LINES})` },
    { name: "follow", summary: "go on with what is written from now on, until Ctrl-C" },
    { name: "json", summary: "lines as they were written, also on a terminal" },
  ],
  details: `Services: ${SERVICES.join(", ")}. Without one, all nodes.`,
  async run({ texts, switches, positionals }, { terminal, environment }) {
    const wanted = new Set(positionals);
    const unknown = positionals.find((service) => !SERVICES.includes(service));
    if (unknown !== undefined) throw usageError(`there is no service "${unknown}"`, "logs");
    const paths = networkPaths(dataRoot(texts["data"], environment));
    if (!existsSync(paths.networkFile)) {
      throw new CodedError("NETWORK_MISSING", { path: shownPath(paths.root) });
    }
    const lineCount = parseLines(texts["lines"]);
    const tails = filesOf(wanted).map((name) => new LogTail(fileOf(paths, name), name));
    const show = (lines: readonly LogLine[]): void =>
      print(lines.filter(isWanted(wanted)), terminal, switches.has("json"));
    // Several services in one file: more is read than is shown.
    const last = mergeLines(tails.map((tail) => tail.last(Number.MAX_SAFE_INTEGER)));
    show(lineCount === 0 ? [] : last.filter(isWanted(wanted)).slice(-lineCount));
    if (switches.has("follow")) await follow(tails, show);
    return 0;
  },
};

async function follow(
  tails: readonly LogTail[],
  show: (lines: readonly LogLine[]) => void,
): Promise<void> {
  const stop = createStopSignal();
  const timer = setInterval(() => show(mergeLines(tails.map((tail) => tail.next()))), FOLLOW_MS);
  await stop.asked;
  clearInterval(timer);
}

function isWanted(wanted: ReadonlySet<string>): (line: LogLine) => boolean {
  return ({ service }) => {
    if (wanted.size === 0 || wanted.has(service)) return true;
    return wanted.has(CLIENT_NAME) && CLIENT_SERVICES.includes(service);
  };
}

function filesOf(wanted: ReadonlySet<string>): readonly string[] {
  if (wanted.size === 0) return NODE_NAMES;
  const isFile = (name: string): boolean => NODE_NAMES.includes(name) || name === SUPERVISOR;
  return [...new Set([...wanted].map((name) => (isFile(name) ? name : CLIENT_NAME)))];
}

function fileOf(paths: NetworkPaths, name: string): string {
  return name === SUPERVISOR ? paths.supervisorLog : paths.log(name);
}

function print(lines: readonly LogLine[], terminal: Terminal, isJson: boolean): void {
  const isPretty = terminal.isInteractive && !isJson;
  for (const { text } of lines) {
    terminal.result(isPretty ? formatEntry(text, terminal) : text);
  }
}

function parseLines(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LINES;
  if (!/^[0-9]{1,9}$/.test(text)) throw usageError("--lines must be a whole number", "logs");
  return Number(text);
}
