/** `quorate up` from its options to its end: prepare, supervise, wait, stop. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { CodedError } from "../base/coded-error.ts";
import { DEFAULT_CHAIN_ID, DEFAULT_GENESIS_TIMESTAMP } from "../chain/genesis.ts";
import { timestampToText } from "../config/timestamp-text.ts";
import type { NetworkFile } from "../config/network-file.ts";
import { DataDirectory } from "../storage/data-directory.ts";
import { chooseFreePorts, isFree, LOOPBACK } from "./free-ports.ts";
import { includesAccounts } from "./alloc-file.ts";
import { awaitRelease, checkKeys, checkPorts, loadNetwork } from "./local-network.ts";
import { networkPaths, type NetworkPaths } from "./network-paths.ts";
import { shownPath } from "../node/shown-path.ts";
import { nodeFailureText, Supervisor } from "./supervisor.ts";
import type { StopSignal } from "../node/stop-signal.ts";
import { timestampOf } from "./timestamp-of.ts";
import type { LogStackPorts, UpOptions } from "./up-options.ts";
import { createSummary, type UpSummary } from "./up-summary.ts";

export type UpReporter = {
  note(line: string): void;
  ready(summary: UpSummary, file: NetworkFile): void;
};

const STILL_STARTING_MS = 10_000;

export async function runNetwork(
  options: UpOptions,
  reporter: UpReporter,
  stop: StopSignal,
): Promise<void> {
  const startedMs = performance.now();
  const root = options.isEphemeral ? mkdtempSync(path.join(tmpdir(), "quorate-")) : options.root;
  const paths = networkPaths(root);
  const lock = takeRoot(paths);
  try {
    await prepare(paths, options, reporter);
    const network = loadNetwork(paths);
    assertSameGenesis(paths, options, network.file);
    checkKeys(paths, network.file);
    await awaitRelease(paths, () =>
      reporter.note("waiting for the nodes of an earlier run to stop"),
    );
    const [freePort = 0] = options.rpcPort === 0 ? await chooseFreePorts(1) : [];
    const rpcPort = options.rpcPort === 0 ? freePort : options.rpcPort;
    const logStack = await chooseLogPorts(options.logStack);
    await checkPorts(network, { host: LOOPBACK, port: rpcPort });
    const rpcUrl = `${network.hasTls ? "https" : "http"}://localhost:${rpcPort}`;
    await supervise(paths, { ...options, rpcPort, rpcUrl, logStack }, stop, {
      note: (line) => reporter.note(line),
      ready: () => {
        const readyMs = Math.round(performance.now() - startedMs);
        const logs = logStack === undefined ? {} : { logsUrl: logsUrlOf(logStack.viewerPort) };
        const { adminKeyFile } = paths;
        const more = { rpcUrl, data: root, readyMs, adminKeyFile, ...logs };
        reporter.ready(createSummary(network.file, more), network.file);
      },
    });
  } finally {
    lock.close();
    if (options.isEphemeral) rmSync(root, { recursive: true, force: true });
  }
}

/** Throws PORT_TAKEN. */
async function chooseLogPorts(
  wanted: LogStackPorts | undefined,
): Promise<LogStackPorts | undefined> {
  if (wanted === undefined) return undefined;
  const [input = 0, search = 0, viewer = 0] = await chooseFreePorts(3);
  const choose = async (port: number, free: number, flag: string): Promise<number> => {
    if (port === 0) return free;
    if (await isFree(LOOPBACK, port)) return port;
    throw new CodedError("PORT_TAKEN", { host: LOOPBACK, port, user: "the log stack", flag });
  };
  return {
    inputPort: await choose(wanted.inputPort, input, "--log-input-port"),
    searchPort: await choose(wanted.searchPort, search, "--log-search-port"),
    viewerPort: await choose(wanted.viewerPort, viewer, "--log-viewer-port"),
  };
}

function logsUrlOf(port: number): string {
  return `http://localhost:${port}/app/discover`;
}

/** Throws NETWORK_RUNNING: one network, one supervisor. */
function takeRoot({ root }: NetworkPaths): DataDirectory {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  try {
    return DataDirectory.open(root);
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "DATA_DIRECTORY_IN_USE") throw error;
    throw new CodedError(
      "NETWORK_RUNNING",
      { path: shownPath(root), pid: error.data["pid"] },
      error,
    );
  }
}

async function prepare(
  paths: NetworkPaths,
  options: UpOptions,
  reporter: UpReporter,
): Promise<void> {
  if (existsSync(paths.networkFile)) return;
  reporter.note(`first use: making keys, certificates and genesis in ${shownPath(paths.root)}`);
  // Imported only here: a network that exists needs none of these modules.
  const { createNetwork } = await import("./create-network.ts");
  const creation = {
    chainId: options.chainId ?? DEFAULT_CHAIN_ID,
    timestamp: options.timestamp ?? timestampOf(DEFAULT_GENESIS_TIMESTAMP),
    isWritePermissioned: options.isWritePermissioned,
    isReadPermissioned: options.isReadPermissioned,
  };
  await createNetwork(paths, creation, options.allocFile);
}

/** The options must match the existing network: the genesis never changes. */
function assertSameGenesis(paths: NetworkPaths, options: UpOptions, file: NetworkFile): void {
  const { chainId, timestamp } = file.genesis;
  const changed = (name: string, given: string, stored: string): CodedError =>
    new CodedError("GENESIS_CHANGED", { name, given, stored, path: shownPath(paths.root) });
  if (options.chainId !== undefined && options.chainId !== chainId) {
    throw changed("chain-id", String(options.chainId), String(chainId));
  }
  if (options.timestamp !== undefined && options.timestamp !== timestamp) {
    throw changed("genesis-timestamp", options.timestampText ?? "", timestampToText(timestamp));
  }
  if (options.allocFile !== undefined && !includesAccounts(file.genesis, options.allocFile)) {
    throw changed("alloc-file", options.allocFile, "other accounts");
  }
  if (options.isWritePermissioned && !file.genesis.isWritePermissioned) {
    throw changed("permission-write", "on", "off");
  }
  if (options.isReadPermissioned && !file.genesis.isReadPermissioned) {
    throw changed("permission-read", "on", "off");
  }
}

type RunEvents = { note(line: string): void; ready(): void };

/** Resolves when all nodes have stopped because they were asked to. */
async function supervise(
  paths: NetworkPaths,
  options: UpOptions & { readonly rpcUrl: string },
  stop: StopSignal,
  events: RunEvents,
): Promise<void> {
  /** The last reported failure of each node that does not run. */
  const reported = new Map<string, string>();
  const hopeless = Promise.withResolvers<never>();
  hopeless.promise.catch(() => undefined);
  const waiting = setInterval(
    () => events.note("still starting; `quorate status` says what is missing"),
    STILL_STARTING_MS,
  );
  const supervisor = new Supervisor(
    { ...options, paths, isBootstrap: existsSync(paths.bootstrapMark) },
    {
      onStarted: (node) => {
        reported.delete(node);
        events.note(`${node} is up`);
      },
      onReady: () => {
        clearInterval(waiting);
        events.ready();
      },
      onEnded: (node, failure) => {
        const line = `${node}: ${nodeFailureText(failure)}`;
        // The node is restarted again and again; one note per failure is enough.
        if (reported.get(node) !== line) events.note(`${line} (it is started again)`);
        reported.set(node, line);
      },
      onHopeless: (error) => hopeless.reject(error),
    },
  );
  stop.onHard(() => supervisor.kill());
  supervisor.start();
  try {
    await Promise.race([stop.asked, hopeless.promise]);
    events.note("stopping");
  } finally {
    clearInterval(waiting);
    await supervisor.stop();
  }
}
