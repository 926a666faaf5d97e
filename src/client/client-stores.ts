/** The disk of a client node. What can be made again is made again without asking. */
import path from "node:path";
import { CodedError } from "../base/coded-error.ts";
import type { Logger } from "../base/logger.ts";
import { BlockStore } from "../storage/block-store.ts";
import { DataDirectory } from "../storage/data-directory.ts";
import { HeightMark } from "../storage/height-mark.ts";
import { removeEnvironment } from "../storage/lmdb-environment.ts";
import { StateStore } from "../storage/state-store.ts";
import { openChainExecutor, type OpenedChain } from "./sync/chain-executor.ts";
import type { ClientOptions } from "./client-options.ts";
import {
  abandonJournal,
  TransactionJournal,
  type OpenedJournal,
} from "./transactions/transaction-journal.ts";

export type ClientStores = OpenedChain & {
  readonly directory: DataDirectory;
  readonly blocks: BlockStore;
  readonly state: StateStore;
  readonly opened: OpenedJournal;
  /** At least every height that a read has shown. */
  readonly shown: HeightMark;
};

type Chain = OpenedChain & Pick<ClientStores, "blocks" | "state">;

const DEFAULT_REPAIR = "quorate client --abandon-journal";

/** In order; what is open when one fails is closed again. */
export async function openStores(
  options: ClientOptions,
  logger: Logger,
  onFailure: (error: CodedError) => void,
): Promise<ClientStores> {
  const { dataPath, allowsNetworkFileSystem = false, repair = DEFAULT_REPAIR } = options;
  const directory = DataDirectory.open(dataPath, { allowsNetworkFileSystem });
  let chain: Chain | undefined;
  let shown: HeightMark | undefined;
  try {
    chain = await openChain(options, logger, onFailure);
    shown = await HeightMark.open(shownHeightPathOf(options));
    const journalPath = path.join(dataPath, "journal");
    if (options.abandonsJournal === true) abandonJournal(journalPath);
    const segmentSize = options.journalSegmentSize;
    const opened = await TransactionJournal.open(journalPath, { repair, segmentSize });
    if (opened.isTailCut) logger.warn("the torn end of the journal was cut off");
    return { directory, ...chain, opened, shown };
  } catch (error) {
    await shown?.close();
    await chain?.state.close();
    await chain?.blocks.close();
    directory.close();
    throw error;
  }
}

export function statePathOf({ dataPath }: Pick<ClientOptions, "dataPath">): string {
  return path.join(dataPath, "state");
}

export function shownHeightPathOf({ dataPath }: Pick<ClientOptions, "dataPath">): string {
  return path.join(dataPath, "shown-height");
}

export async function closeStores(stores: ClientStores): Promise<void> {
  await stores.shown.close();
  await stores.opened.journal.end();
  await stores.blocks.close();
  await stores.state.close();
  stores.directory.close();
}

async function openChain(
  options: ClientOptions,
  logger: Logger,
  onFailure: (error: CodedError) => void,
): Promise<Chain> {
  const blocksPath = path.join(options.dataPath, "blocks");
  const statePath = statePathOf(options);
  const blocks = await openBlocks(blocksPath, logger, onFailure);
  try {
    const opened = await openState(options, statePath, logger);
    if (isSupported(opened.executor.height, blocks)) return { blocks, ...opened };
    // Its blocks are gone, or their results were not matched when it was written.
    await opened.state.close();
    logger.warn("the state is not that of the blocks and is made again");
    removeEnvironment(statePath);
    return { blocks, ...(await openState(options, statePath, logger)) };
  } catch (error) {
    await blocks.close();
    throw error;
  }
}

/** Whether the last height that the state has is in the block store with a matched result. */
function isSupported(height: number, blocks: BlockStore): boolean {
  return height === 0 || blocks.get(height, "result") !== undefined;
}

async function openBlocks(
  blocksPath: string,
  logger: Logger,
  onFailure: (error: CodedError) => void,
): Promise<BlockStore> {
  try {
    return await BlockStore.open(blocksPath, { onFailure });
  } catch (error) {
    if (!hasCode(error, "BLOCK_STORE_DAMAGED")) throw error;
    logger.warn("the block store is damaged: all blocks are fetched again");
    removeEnvironment(blocksPath);
    return BlockStore.open(blocksPath, { onFailure });
  }
}

async function openState(
  options: ClientOptions,
  statePath: string,
  logger: Logger,
): Promise<OpenedChain & Pick<ClientStores, "state">> {
  try {
    return await tryState(options, statePath);
  } catch (error) {
    if (!hasCode(error, "STATE_STORE_DAMAGED") && !hasCode(error, "STATE_CORRUPT")) throw error;
    logger.warn("the state store is damaged and is made again from the blocks");
    removeEnvironment(statePath);
    return tryState(options, statePath);
  }
}

async function tryState(
  options: ClientOptions,
  statePath: string,
): Promise<OpenedChain & Pick<ClientStores, "state">> {
  const { genesis, contracts = [], genesisBlockHash } = options;
  const state = await StateStore.open(statePath);
  try {
    return { state, ...openChainExecutor({ genesis, contracts, genesisBlockHash }, state) };
  } catch (error) {
    await state.close();
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof CodedError && error.code === code;
}
