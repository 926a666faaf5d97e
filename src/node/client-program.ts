/** The client process: the client node and ethrpc over it, with logs and health. */
import { CodedError } from "../base/coded-error.ts";
import type { Logger } from "../base/logger.ts";
import { ClientNode } from "../client/client-node.ts";
import type { CallLimits } from "../client/client-options.ts";
import type { NetworkFile } from "../config/network-file.ts";
import type { ClientConfig } from "../config/node-settings.ts";
import { createLoggers } from "../logging/create-logger.ts";
import { addClientMetrics, type ClientTimes } from "../metrics/client-metrics.ts";
import { EventLoopWatch } from "../metrics/event-loop-watch.ts";
import { HealthServer } from "../metrics/health-server.ts";
import type { NodeMetrics } from "../metrics/node-metrics.ts";
import { createMethodTable } from "../rpc/methods/method-table.ts";
import { gateMethods } from "../rpc/server/readiness-gate.ts";
import type { AccessControl } from "../rpc/auth/access-control.ts";
import type { RequestTrace } from "../rpc/server/request-trace.ts";
import type { RpcLimits } from "../rpc/rpc-options.ts";
import type { NetworkStatus } from "../api/network-status.ts";
import { RpcServer } from "../rpc/server/rpc-server.ts";
import { networkReader, nodeProblemOf, stallProblemOf } from "./client-status.ts";
import { loadNetworkFile } from "./load-config.ts";
import { CLIENT_PRINCIPAL } from "../config/node-names.ts";
import { shownPath } from "./shown-path.ts";
import { assertKey, loadKey } from "./node-key.ts";
import { NodeLog } from "./node-log.ts";
import { runNode, type RunningNode } from "./node-process.ts";
import { clientVersion, programVersion } from "./program-version.ts";
import { assertAccess, createAccess, readTls } from "./rpc-security.ts";
import { TlsRotation } from "./tls-rotation.ts";
import { READY_LINE } from "./ready-line.ts";

export type ClientProgramOptions = {
  readonly limits: RpcLimits;
  readonly calls: CallLimits;
  readonly abandonsJournal: boolean;
  readonly configFile: string | undefined;
};

type Opened = RunningNode & { whenReady(): Promise<void>; reading(): NetworkStatus };

type Loggers = {
  readonly service: (part: string) => Logger;
  readonly rpc: (part: string) => Logger;
};

export async function runClient(
  config: ClientConfig,
  options: ClientProgramOptions,
): Promise<number> {
  const network = loadNetworkFile(config.network);
  const seed = loadKey(config.key);
  const expected = network.clients.get(CLIENT_PRINCIPAL);
  if (expected === undefined) {
    throw new CodedError("KEY_WRONG", { path: shownPath(config.key), node: config.name });
  }
  assertKey(seed, expected, config.key, config.name);
  assertAccess(config, options.configFile);
  const log = new NodeLog(config, process.stdout.isTTY);
  const loggers = createClientLoggers(config, network, log);
  log.useLogger(loggers.service("logging"));
  const logger = loggers.service("process");
  const { blockchainId } = network;
  const metrics = log.createMetrics({ blockchainId, node: config.name });
  let opened: Opened | undefined;
  const times = addClientMetrics(metrics, () => opened?.reading());
  const exitCode = await runNode({
    logger,
    flush: () => log.flush(),
    open: async (onFatal) => {
      opened = await openClient(config, options, {
        ...{ network, seed, loggers, metrics, times, onFatal },
      });
      return opened;
    },
    whenReady: async () => {
      await opened?.whenReady();
      // The line is there in every format (SPEC N6); in JSON also as an entry of its own.
      log.writer.line(READY_LINE);
      if (log.writer.format === "json") logger.info(READY_LINE);
    },
  });
  await log.close();
  return exitCode;
}

type OpenParts = {
  readonly network: NetworkFile;
  readonly seed: Uint8Array;
  readonly loggers: Loggers;
  readonly metrics: NodeMetrics;
  readonly times: ClientTimes;
  readonly onFatal: (error: unknown) => void;
};

/** Opened in this order; if one fails, those already open are closed. */
async function openClient(
  config: ClientConfig,
  options: ClientProgramOptions,
  parts: OpenParts,
): Promise<Opened> {
  const { network, seed, loggers, metrics, times, onFatal } = parts;
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closeOne of closers.splice(0).reverse()) await closeOne();
  };
  try {
    const node = await ClientNode.open(
      {
        principal: CLIENT_PRINCIPAL,
        genesis: network.genesis,
        genesisBlockHash: network.genesisBlockHash,
        seed,
        dataPath: config.data,
        replicas: network.replicas,
        calls: options.calls,
        abandonsJournal: options.abandonsJournal,
        repair: repairCommand(options.configFile),
        allowsNetworkFileSystem: config.allowsNetworkFileSystem,
        clientVersion: clientVersion(),
      },
      { logger: loggers.service("client"), onFinal: times.onFinal, onFatal },
    );
    closers.push(() => node.close());
    const rpc = await openRpc(config, options.limits, node, {
      logger: loggers.rpc("rpc"),
      onAnswered: times.onAnswered,
      access: await createAccess(config, network, node.reads),
    });
    closers.push(() => rpc.close());
    const watch = new EventLoopWatch({ onStall: times.onStall });
    closers.push(() => {
      watch.close();
      return Promise.resolve();
    });
    const rotation = rotateTls(config, rpc, loggers.rpc("rpc"));
    closers.push(() => Promise.resolve(rotation?.close()));
    const health = await openHealth(config, network, node, { rpc, metrics });
    closers.push(() => health.close());
    const reader = networkReader(node);
    return {
      close,
      whenReady: () => node.whenReady(),
      reading: () => reader.networkStatus(),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Undefined without TLS. */
function rotateTls(config: ClientConfig, rpc: RpcServer, logger: Logger): TlsRotation | undefined {
  const used = readTls(config);
  if (used === undefined) return undefined;
  const rotation = new TlsRotation(config, used, { replace: (tls) => rpc.replaceTls(tls), logger });
  rotation.start();
  return rotation;
}

type RpcParts = {
  readonly logger: Logger;
  readonly onAnswered: ClientTimes["onAnswered"];
  readonly access: AccessControl | undefined;
};

async function openRpc(
  config: ClientConfig,
  limits: RpcLimits,
  node: ClientNode,
  { logger, onAnswered, access }: RpcParts,
): Promise<RpcServer> {
  const network = networkReader(node);
  const rpc = await RpcServer.open(
    {
      host: config["rpc.host"],
      port: config["rpc.port"],
      rootDialect: config["rpc.rootDialect"],
      allowedHosts: config["rpc.allowedHosts"],
      allowedOrigins: config["rpc.allowedOrigins"],
      tls: readTls(config),
      limits,
    },
    {
      access,
      methods: gateMethods(createMethodTable(node.reads, node.pending, network), {
        whenReady: () => node.whenReady(),
        notReadyReason: () => network.networkStatus().problem ?? "it is catching up with the chain",
      }),
      onAnswered,
      trace: requestTrace(logger),
      onInternalError: (method, error, correlationId) => {
        const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
        const fields = { correlation_id: correlationId, method, reason };
        logger.error("a request failed inside the node", fields);
      },
    },
  );
  logger.info("ethrpc listens", { host: config["rpc.host"], port: rpc.port });
  return rpc;
}

function requestTrace(logger: Logger): RequestTrace {
  return {
    isOn: () => logger.isDebug?.() === true,
    note: ({ correlationId, method, ms, code, transaction }) => {
      const fields = { correlation_id: correlationId, method, ms: Math.round(ms), code };
      logger.debug("request answered", { ...fields, transaction });
    },
  };
}

function openHealth(
  config: ClientConfig,
  network: NetworkFile,
  node: ClientNode,
  { rpc, metrics }: { rpc: RpcServer; metrics: NodeMetrics },
): Promise<HealthServer> {
  const startedMs = performance.now();
  const reader = networkReader(node);
  return HealthServer.open(
    { host: config["health.host"], port: config["health.port"] },
    {
      notReadyReason: () =>
        node.isReady ? undefined : (reader.networkStatus().problem ?? "the node is catching up"),
      metrics,
      status: () => ({
        kind: "client",
        version: programVersion(),
        blockchainId: network.blockchainId,
        pid: process.pid,
        uptimeMs: Math.round(performance.now() - startedMs),
        rpcPort: rpc.port,
        ...reader.networkStatus(),
        nodeProblem: nodeProblemOf(node.status()) ?? stallProblemOf(node.status()),
        replicas: reader.replicaStatuses(),
      }),
    },
  );
}

/** SPEC L4: two services in one process. */
function createClientLoggers(
  config: ClientConfig,
  { blockchainId }: NetworkFile,
  log: NodeLog,
): Loggers {
  const { name: nodeId } = config;
  const create = (service: string): ((part: string) => Logger) =>
    createLoggers(
      {
        level: config["log.level"],
        origin: { blockchainId, serviceName: `${nodeId}-${service}`, nodeId },
      },
      { writer: log, threshold: log.threshold },
    );
  return { service: create("clientservice"), rpc: create("ethrpc") };
}

function repairCommand(configFile: string | undefined): string {
  const config = configFile === undefined ? "" : ` --config ${shownPath(configFile)}`;
  return `quorate client${config} --abandon-journal`;
}
