/**
 * The state of a network on this machine, as its nodes report it. It works with any of them down,
 * the client node included.
 */
import { isRecord } from "../base/parse-json.ts";
import { JsonFields } from "../config/json-fields.ts";
import { leaderOf, quorumOf } from "../consensus/quorum.ts";
import type { NodeEndpoint, LocalNetwork } from "./local-network.ts";
import { CLIENT_NAME, REPLICA_NAMES } from "../config/node-names.ts";
import { progressProblem } from "../node/progress.ts";
import type { SupervisorRecord } from "./supervisor-record.ts";

export type ReplicaLine = {
  readonly name: string;
  readonly isUp: boolean;
  readonly pid?: number;
  readonly mode?: string;
  readonly epoch?: number;
  readonly view?: number;
  readonly finalHeight?: number;
  readonly execHeight?: number;
  /** Heights that are final somewhere and not executed here. */
  readonly lag?: number;
  readonly pending?: number;
  readonly peersUp?: number;
  readonly isDiskFull?: boolean;
  readonly uptimeMs?: number;
  /** Why it is down, as the supervisor knows it. */
  readonly failure?: string;
};

export type ClientLine = {
  readonly name: string;
  readonly isUp: boolean;
  readonly pid?: number;
  readonly isReady?: boolean;
  /** Of the node itself. Its view of the replicas is up to a second old. */
  readonly nodeProblem?: string;
  readonly finalHeight?: number;
  readonly publishedHeight?: number;
  readonly blockNumber?: string;
  readonly lag?: number;
  readonly replicasUp?: number;
  readonly poolExecutable?: number;
  readonly poolQueued?: number;
  readonly openTransactions?: number;
  readonly uptimeMs?: number;
  readonly failure?: string;
};

export type NetworkReport = {
  readonly blockchainId: string;
  readonly chainId: string;
  readonly rpcUrl: string | undefined;
  readonly isRunning: boolean;
  readonly problem: string | undefined;
  readonly epoch: number | undefined;
  readonly view: number | undefined;
  readonly leader: string | undefined;
  readonly replicas: readonly ReplicaLine[];
  readonly client: ClientLine;
};

const ANSWER_TIMEOUT_MS = 2_000;

export async function createReport(
  { file, health }: LocalNetwork,
  supervisor: SupervisorRecord | undefined,
): Promise<NetworkReport> {
  const answers = new Map(
    await Promise.all(
      [...health].map(async ([node, endpoint]) => [node, await ask(endpoint)] as const),
    ),
  );
  const failureOf = (node: string): string | undefined =>
    supervisor?.nodes.find(({ name }) => name === node)?.failure;
  const lines = REPLICA_NAMES.map((node) => replicaLine(node, answers.get(node), failureOf(node)));
  const finalMax = Math.max(0, ...lines.map(({ finalHeight = 0 }) => finalHeight));
  const replicas = lines.map((line) =>
    line.execHeight === undefined
      ? line
      : { ...line, lag: Math.max(0, finalMax - line.execHeight) },
  );
  const client = clientLine(answers.get(CLIENT_NAME), failureOf(CLIENT_NAME));
  const isRunning = supervisor !== undefined || client.isUp || lines.some(({ isUp }) => isUp);
  const latest = latestView(replicas);
  const leader = latest === undefined ? undefined : leaderOf(latest.view, replicas.length);
  return {
    blockchainId: file.blockchainId,
    chainId: String(file.genesis.chainId),
    rpcUrl: supervisor?.rpcUrl,
    isRunning,
    problem: isRunning ? problemOf(replicas, client) : "the network is not running",
    epoch: latest?.epoch,
    view: latest?.view,
    leader: leader === undefined ? undefined : REPLICA_NAMES[leader],
    replicas,
    client,
  };
}

function problemOf(replicas: readonly ReplicaLine[], client: ClientLine): string | undefined {
  const views = replicas.map(({ isUp, mode, isDiskFull }, replica) => ({
    ...{ replica, isUp, mode },
    isDiskFull: isDiskFull === true,
  }));
  const { quorum } = quorumOf(replicas.length);
  const problem = progressProblem(views, quorum);
  if (problem !== undefined) return problem;
  if (!client.isUp) return "the client node is down: nothing can be sent or read";
  if (client.nodeProblem !== undefined) return client.nodeProblem;
  if (client.isReady !== false) return undefined;
  const { replicasUp = 0 } = client;
  const reason =
    replicasUp < quorum
      ? `it reaches ${replicasUp} of ${replicas.length} replicas, ${quorum} are needed`
      : "it is catching up";
  return `the client node is not ready: ${reason}`;
}

/** Undefined if there is no answer in time, or the answer is malformed. */
async function ask({ host, port }: NodeEndpoint): Promise<JsonFields | undefined> {
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const response = await fetch(`http://${host}:${port}/status`, { signal });
    const value: unknown = await response.json();
    return isRecord(value) ? new JsonFields(value, "", []) : undefined;
  } catch {
    return undefined;
  }
}

function replicaLine(
  name: string,
  fields: JsonFields | undefined,
  failure: string | undefined,
): ReplicaLine {
  if (fields === undefined) return { name, isUp: false, ...(failure !== undefined && { failure }) };
  return {
    name,
    isUp: true,
    pid: count(fields, "pid"),
    mode: fields.text("mode"),
    epoch: count(fields, "epoch"),
    view: count(fields, "view"),
    finalHeight: count(fields, "finalHeight"),
    execHeight: count(fields, "execHeight"),
    pending: count(fields, "pendingCount"),
    peersUp: fields.list("peersUp").length,
    isDiskFull: fields.boolean("isDiskFull"),
    uptimeMs: count(fields, "uptimeMs"),
  };
}

function clientLine(fields: JsonFields | undefined, failure: string | undefined): ClientLine {
  const name = CLIENT_NAME;
  if (fields === undefined) return { name, isUp: false, ...(failure !== undefined && { failure }) };
  const pool = fields.record("pool");
  const nodeProblem = fields.text("nodeProblem");
  return {
    name,
    isUp: true,
    pid: count(fields, "pid"),
    isReady: fields.boolean("isReady"),
    ...(nodeProblem !== "" && { nodeProblem }),
    finalHeight: count(fields, "finalHeight"),
    publishedHeight: count(fields, "publishedHeight"),
    blockNumber: fields.text("blockNumber"),
    lag: count(fields, "lag"),
    replicasUp: count(fields, "replicasUp"),
    poolExecutable: count(pool, "executable"),
    poolQueued: count(pool, "queued"),
    openTransactions: count(fields, "openTransactions"),
    uptimeMs: count(fields, "uptimeMs"),
  };
}

function count(fields: JsonFields, name: string): number {
  return fields.integer(name, 0, Number.MAX_SAFE_INTEGER);
}

/** The furthest view that an active replica is in. */
function latestView(
  replicas: readonly ReplicaLine[],
): { readonly epoch: number; readonly view: number } | undefined {
  const views = replicas
    .filter(({ mode }) => mode === "active")
    .map(({ epoch = 0, view = 0 }) => ({ epoch, view }))
    .sort((a, b) => b.epoch - a.epoch || b.view - a.view);
  return views[0];
}
