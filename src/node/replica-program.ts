/** A replica process: configuration, logs, health, and the node between them. */
import { CodedError } from "../base/coded-error.ts";
import { bytesToHex } from "../base/hex.ts";
import type { ReplicaConfig } from "../config/node-settings.ts";
import type { NetworkFile } from "../config/network-file.ts";
import { createSigner } from "../crypto/ed25519.ts";
import { createLoggers } from "../logging/create-logger.ts";
import { HealthServer } from "../metrics/health-server.ts";
import type { NodeMetrics } from "../metrics/node-metrics.ts";
import { addReplicaMetrics } from "../metrics/replica-metrics.ts";
import { ReplicaNode } from "../replica/replica-node.ts";
import type { StartMode } from "../replica/replica-options.ts";
import { loadNetworkFile } from "./load-config.ts";
import { shownPath } from "./shown-path.ts";
import { assertKey, loadKey } from "./node-key.ts";
import { NodeLog } from "./node-log.ts";
import { runNode, type RunningNode } from "./node-process.ts";
import { programVersion } from "./program-version.ts";

export async function runReplica(
  config: ReplicaConfig,
  startMode: StartMode,
  configFile: string | undefined,
): Promise<number> {
  const network = loadNetworkFile(config.network);
  const seed = loadKey(config.key);
  const index = indexOf(config, network, seed);
  const name = `replica-${index}`;
  const log = new NodeLog(config, process.stdout.isTTY);
  const loggers = createLoggers(
    {
      level: config["log.level"],
      origin: { blockchainId: network.blockchainId, serviceName: name, nodeId: name },
    },
    { writer: log, threshold: log.threshold },
  );
  log.useLogger(loggers("logging"));
  const metrics = log.createMetrics({ blockchainId: network.blockchainId, node: name });
  let opened: ReplicaNode | undefined;
  const observer = addReplicaMetrics(metrics, () =>
    opened === undefined ? undefined : { report: opened.report(), counters: opened.counters },
  );
  const exitCode = await runNode({
    logger: loggers("process"),
    flush: () => log.flush(),
    open: async (onFatal) => {
      const node = await openNode(config, network, {
        ...{ index, seed, startMode },
        repair: repairCommand(configFile),
        dependencies: { logger: loggers("replica"), observer, onFatal },
      });
      opened = node;
      try {
        return withHealth(node, await openHealth(config, network, node, metrics));
      } catch (error) {
        await node.close();
        throw error;
      }
    },
  });
  await log.close();
  return exitCode;
}

type NodeParts = {
  readonly index: number;
  readonly seed: Uint8Array;
  readonly startMode: StartMode;
  readonly repair: string;
  readonly dependencies: Parameters<typeof ReplicaNode.open>[1];
};

function openNode(
  config: ReplicaConfig,
  network: NetworkFile,
  { index, seed, startMode, repair, dependencies }: NodeParts,
): Promise<ReplicaNode> {
  const own = network.replicas[index];
  return ReplicaNode.open(
    {
      index,
      genesis: network.genesis,
      genesisBlockHash: network.genesisBlockHash,
      seed,
      dataPath: config.data,
      listen: {
        host: config["listen.host"] ?? own?.host ?? "127.0.0.1",
        port: config["listen.port"] ?? own?.port ?? 0,
      },
      replicas: network.replicas,
      clientPublicKeys: network.clients,
      startMode,
      repair,
      allowsNetworkFileSystem: config.allowsNetworkFileSystem,
    },
    dependencies,
  );
}

function openHealth(
  config: ReplicaConfig,
  network: NetworkFile,
  node: ReplicaNode,
  metrics: NodeMetrics,
): Promise<HealthServer> {
  const startedMs = performance.now();
  return HealthServer.open(
    { host: config["health.host"], port: config["health.port"] },
    {
      notReadyReason: () => {
        const { mode } = node.report();
        return mode === "active" ? undefined : `the replica is ${mode}`;
      },
      metrics,
      status: () => {
        const report = node.report();
        const result = node.resultOf(report.execHeight);
        return {
          ...report,
          kind: "replica",
          // What all correct replicas have in common at this height.
          execResult: result === undefined ? undefined : bytesToHex(result),
          version: programVersion(),
          blockchainId: network.blockchainId,
          pid: process.pid,
          uptimeMs: Math.round(performance.now() - startedMs),
          counters: node.counters,
        };
      },
    },
  );
}

function withHealth(node: ReplicaNode, health: HealthServer): RunningNode {
  return {
    async close() {
      await health.close();
      await node.close();
    },
  };
}

/** The index that is given must be that of the key; without one, the key says which it is. */
function indexOf(config: ReplicaConfig, network: NetworkFile, seed: Uint8Array): number {
  const { replicaPublicKeys } = network.genesis;
  const own = bytesToHex(createSigner(seed).publicKey);
  const index = config.replica ?? replicaPublicKeys.findIndex((key) => bytesToHex(key) === own);
  const expected = replicaPublicKeys[index];
  if (expected === undefined) {
    throw new CodedError("KEY_WRONG", { path: shownPath(config.key), node: "any replica" });
  }
  assertKey(seed, expected, config.key, `replica-${index}`);
  return index;
}

function repairCommand(configFile: string | undefined): string {
  const config = configFile === undefined ? "" : ` --config ${shownPath(configFile)}`;
  return `quorate replica${config} --rejoin`;
}
