/** The disk and the execution thread of a replica. */
import path from "node:path";
import { CodedError } from "../base/coded-error.ts";
import type { Logger } from "../base/logger.ts";
import {
  defaultRecoveryThreads,
  SignatureRecoveryPool,
} from "../ledger/signature-recovery-pool.ts";
import { BlockStore } from "../storage/block-store.ts";
import { DataDirectory } from "../storage/data-directory.ts";
import { removeEnvironment } from "../storage/lmdb-environment.ts";
import type { ExecutionReport } from "./execution/execution-report.ts";
import { ExecutionService } from "./execution/execution-service.ts";
import type { ExecutionReady } from "./execution/execution-messages.ts";
import { abandonLog, ReplicaLog, type OpenedLog } from "./replica-log.ts";
import { repairOf, type ReplicaOptions } from "./replica-options.ts";

const STATE_FLUSH_DELAY_MS = 1_000;
/** A few large writes cost less than many; the log holds the blocks meanwhile. */
const BLOCKS_FLUSH_DELAY_MS = 1_000;

/** What a replica holds open besides its sockets. */
export type Resources = {
  readonly statePath: string;
  readonly directory: DataDirectory;
  readonly opened: OpenedLog;
  readonly store: BlockStore;
  readonly execution: ExecutionService;
  readonly ready: ExecutionReady;
  /** Undefined where the machine has no core to spare for it. */
  readonly senders: SignatureRecoveryPool | undefined;
};

export type ResourceEvents = {
  onExecuted(executed: ExecutionReport, durationMs: number): void;
  readonly onLogSynced?: ((durationMs: number) => void) | undefined;
  onStateFull(isFull: boolean): void;
  onBlocksFull(): void;
  onFailed(error: CodedError): void;
};

/** In order; what is open when one fails is closed again. */
export async function openResources(
  options: ReplicaOptions,
  logger: Logger,
  events: ResourceEvents,
): Promise<Resources> {
  const { dataPath, genesis, contracts = [], genesisBlockHash, logSegmentSize } = options;
  const { allowsNetworkFileSystem = false } = options;
  const closers: (() => Promise<void> | void)[] = [];
  try {
    const directory = DataDirectory.open(dataPath, { allowsNetworkFileSystem });
    closers.push(() => directory.close());
    const logPath = path.join(dataPath, "log");
    if (options.startMode === "rejoin") abandonLog(logPath);
    const opened = await ReplicaLog.open(logPath, {
      repair: repairOf(options),
      segmentSize: logSegmentSize,
      onSynced: events.onLogSynced,
    });
    closers.push(() => opened.log.close());
    if (opened.verdict === "tail-cut") logger.warn("the torn end of the log was cut off", {});
    const store = await openBlocks(options, logger, events);
    closers.push(() => store.close());
    const statePath = path.join(dataPath, "state");
    const { service: execution, ready } = await ExecutionService.open(
      {
        genesis,
        contracts,
        genesisBlockHash,
        statePath,
        flushDelayMs: options.stateFlushDelayMs ?? STATE_FLUSH_DELAY_MS,
      },
      {
        onExecuted: (executed, durationMs) => events.onExecuted(executed, durationMs),
        onDiskFull: (isFull) => events.onStateFull(isFull),
        onFailed: (error) => events.onFailed(error),
      },
    );
    const threads = options.senderThreads ?? defaultRecoveryThreads();
    const senders = threads > 0 ? new SignatureRecoveryPool(threads) : undefined;
    return { statePath, directory, opened, store, execution, ready, senders };
  } catch (error) {
    for (const close of closers.reverse()) await close();
    throw error;
  }
}

/**
 * The blocks below the log are nowhere else here. A damaged store can only be filled anew by a
 * replica that begins without its log, and so fetches every block: the operator says when.
 */
async function openBlocks(
  options: ReplicaOptions,
  logger: Logger,
  events: ResourceEvents,
): Promise<BlockStore> {
  const blocksPath = path.join(options.dataPath, "blocks");
  const open = (): Promise<BlockStore> =>
    BlockStore.open(blocksPath, {
      flushDelayMs: BLOCKS_FLUSH_DELAY_MS,
      onFull: () => events.onBlocksFull(),
      onRoom: () => events.onBlocksFull(),
      onFailure: (error) => events.onFailed(error),
    });
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "BLOCK_STORE_DAMAGED") throw error;
    if (options.startMode !== "rejoin") {
      throw new CodedError(error.code, { ...error.data, repair: repairOf(options) }, error);
    }
    logger.warn("the damaged block store is filled anew from the other replicas", {});
    removeEnvironment(blocksPath);
    return open();
  }
}

export async function closeResources(resources: Resources): Promise<void> {
  await resources.senders?.close();
  await resources.execution.close();
  await resources.store.close();
  await resources.opened.log.close();
  resources.directory.close();
}
