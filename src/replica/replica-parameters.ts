import { DEFAULT_PARAMETERS, DEFAULT_TIMING, type Parameters } from "../consensus/parameters.ts";
import { DEFAULT_POOL_OPTIONS, type TxPoolOptions } from "../txpool/pool-options.ts";
import type { ConsensusGenesis } from "../wire/consensus-genesis.ts";
import { assertWithinWireLimits } from "../wire/limits.ts";
import type { ReplicaOptions } from "./replica-options.ts";

const MEBIBYTE = 1024 * 1024;

/**
 * Half of the pool for one client node, so that one that misbehaves leaves room for the others. Of
 * correct ones only what this replica cannot order yet is queued, because it executes behind them:
 * the whole queue is for all, and the source with the largest share gives way.
 */
const REPLICA_POOL_OPTIONS: TxPoolOptions = {
  ...DEFAULT_POOL_OPTIONS,
  transactionsMax: 32_768,
  sourceTransactionsMax: 16_384,
  queuedMax: 4_096,
  queuedBytesMax: 16 * MEBIBYTE,
  sourceQueuedMax: 4_096,
  sourceQueuedBytesMax: 16 * MEBIBYTE,
  // The client node that sent it sends it again when it is executable.
  queuedLifetimeMs: 60_000,
};

export function createParameters(options: ReplicaOptions, origin: ConsensusGenesis): Parameters {
  const { genesis, index, timing, blockTransactionsMax } = options;
  const parameters: Parameters = {
    ...DEFAULT_PARAMETERS,
    timing: { ...DEFAULT_TIMING, ...timing },
    replicaCount: genesis.replicaPublicKeys.length,
    self: index,
    genesis: origin.header,
    genesisResult: origin.result,
    blockGasMax: Number(genesis.gasLimit),
    blockTransactionsMax: blockTransactionsMax ?? DEFAULT_PARAMETERS.blockTransactionsMax,
    // More than the pool holds: what the pool let in is never refused by the core.
    pendingMax: 2 * poolOptions(options).transactionsMax,
  };
  assertWithinWireLimits(parameters);
  return parameters;
}

export function poolOptions({ pool }: ReplicaOptions): TxPoolOptions {
  return { ...REPLICA_POOL_OPTIONS, ...pool };
}
