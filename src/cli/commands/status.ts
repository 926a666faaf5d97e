/**
 * `quorate status`: the leader, the height of every node, and the reason if nothing becomes final.
 */
import type { Command } from "../command.ts";
import { loadNetwork } from "../../local-network/local-network.ts";
import { dataRoot, networkPaths } from "../../local-network/network-paths.ts";
import { createReport, type NetworkReport } from "../../local-network/network-report.ts";
import {
  loadSupervisorRecord,
  type SupervisorRecord,
} from "../../local-network/supervisor-record.ts";
import { paint, type Terminal } from "../terminal.ts";
import { textTable } from "../text-table.ts";

const HEADS = [
  ...["NODE", "STATE", "MODE", "EPOCH", "VIEW", "FINAL", "EXECUTED", "LAG", "PEERS", "POOL", "UP"],
];

export const status: Command = {
  name: "status",
  summary: "leader, heights, peers, pool, and why there is no progress if there is none",
  options: [
    { name: "data", value: "DIR", summary: "where the network lives (./.quorate)" },
    { name: "json", summary: "as JSON" },
  ],
  details: "The exit code is 1 while something keeps the network from making progress.",
  async run({ texts, switches }, { terminal, environment }) {
    const paths = networkPaths(dataRoot(texts["data"], environment));
    const record = loadSupervisorRecord(paths.supervisorFile);
    const supervisor = record !== undefined && isAlive(record) ? record : undefined;
    const report = await createReport(loadNetwork(paths), supervisor);
    if (switches.has("json")) terminal.result(JSON.stringify(report, undefined, 2));
    else for (const line of reportLines(report, terminal)) terminal.result(line);
    return report.problem === undefined ? 0 : 1;
  },
};

export function reportLines(report: NetworkReport, terminal: Terminal): readonly string[] {
  const { blockchainId, chainId, rpcUrl, problem, leader, view, client, replicas } = report;
  const head = [blockchainId, `chain id ${chainId}`, ...(rpcUrl === undefined ? [] : [rpcUrl])];
  const lead = leader === undefined ? [] : [`leader ${leader} (view ${view ?? 0})`];
  const height = client.blockNumber === undefined ? [] : [`block ${client.blockNumber}`];
  const failures = [...replicas, client].filter(({ failure }) => failure !== undefined);
  return [
    [...head, ...lead, ...height].join("  "),
    "",
    ...textTable(HEADS, [
      ...replicas.map((line) => replicaCells(line, leader)),
      clientCells(client),
    ]),
    "",
    ...failures.map(({ name, failure }) => `${name}: ${failure ?? ""}`),
    problem === undefined ? verdict(report, terminal) : paint(terminal, "red", problem),
  ];
}

function verdict({ replicas }: NetworkReport, terminal: Terminal): string {
  const active = replicas.filter(({ mode }) => mode === "active").length;
  if (active === replicas.length) return "all is well";
  const text = `it works with ${active} of ${replicas.length} replicas, but bears no further failure`;
  return paint(terminal, "yellow", text);
}

function replicaCells(
  line: NetworkReport["replicas"][number],
  leader: string | undefined,
): readonly string[] {
  const { name, isUp, mode, epoch, view, finalHeight, execHeight, lag, peersUp, pending } = line;
  const state = line.isDiskFull === true ? "disk full" : isUp ? "up" : "down";
  return [
    ...[name, state, name === leader ? "leader" : (mode ?? "")],
    ...[epoch, view, finalHeight, execHeight, lag, peersUp, pending].map(shown),
    duration(line.uptimeMs),
  ];
}

function clientCells(line: NetworkReport["client"]): readonly string[] {
  const { name, isUp, isReady, finalHeight, publishedHeight, lag, replicasUp } = line;
  const mode = isReady === undefined ? "" : isReady ? "ready" : "not ready";
  return [
    ...[name, isUp ? "up" : "down", mode, "", ""],
    ...[finalHeight, publishedHeight, lag, replicasUp, line.openTransactions].map(shown),
    duration(line.uptimeMs),
  ];
}

function shown(value: number | undefined): string {
  return value === undefined ? "" : String(value);
}

function duration(ms: number | undefined): string {
  if (ms === undefined) return "";
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800
    ? `${Math.floor(seconds / 3600)} h`
    : `${Math.floor(seconds / 86_400)} d`;
}

/** A record that was left behind by a supervisor that was killed is ignored. */
function isAlive({ pid }: SupervisorRecord): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
