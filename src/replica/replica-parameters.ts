import { DEFAULT_PARAMETERS, DEFAULT_TIMING, type Parameters } from "../consensus/parameters.ts";
import { DEFAULT_POOL_OPTIONS, type TxPoolOptions } from "../txpool/pool-options.ts";
import type { ConsensusGenesis } from "../wire/consensus-genesis.ts";
import { assertWithinWireLimits } from "../wire/limits.ts";
import type { ReplicaOptions } from "./replica-options.ts";

const POOL_TRANSACTIONS_MAX = 16_384;

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
  return { ...DEFAULT_POOL_OPTIONS, transactionsMax: POOL_TRANSACTIONS_MAX, ...pool };
}
