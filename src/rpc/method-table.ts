/** All methods of ethrpc, each bound to the node. A new method is a file and a line here. */
import type {
  BlockReader,
  Caller,
  GasEstimator,
  NetworkReader,
  PendingNonceReader,
  PendingTransactionReader,
  PriorityFeeReader,
  ReceiptsReader,
  StateAtReader,
  Submitter,
  SyncReader,
  TransactionFinder,
  TransactionsReader,
} from "./chain-reader.ts";
import { bindMethod, type BoundMethod, type MethodTable } from "./method.ts";
import { ethAccounts } from "./methods/eth-accounts.ts";
import { ethBlockNumber } from "./methods/eth-block-number.ts";
import { ethCall } from "./methods/eth-call.ts";
import { ethChainId } from "./methods/eth-chain-id.ts";
import { ethEstimateGas } from "./methods/eth-estimate-gas.ts";
import { ethFeeHistory } from "./methods/eth-fee-history.ts";
import { ethGasPrice } from "./methods/eth-gas-price.ts";
import { ethGetBalance } from "./methods/eth-get-balance.ts";
import { ethGetBlockByHash } from "./methods/eth-get-block-by-hash.ts";
import { ethGetBlockByNumber } from "./methods/eth-get-block-by-number.ts";
import { ethGetCode } from "./methods/eth-get-code.ts";
import { ethGetLogs } from "./methods/eth-get-logs.ts";
import { ethGetStorageAt } from "./methods/eth-get-storage-at.ts";
import { ethGetTransactionByHash } from "./methods/eth-get-transaction-by-hash.ts";
import { ethGetTransactionCount } from "./methods/eth-get-transaction-count.ts";
import { ethGetTransactionReceipt } from "./methods/eth-get-transaction-receipt.ts";
import { ethMaxPriorityFeePerGas } from "./methods/eth-max-priority-fee-per-gas.ts";
import { ethSendRawTransaction } from "./methods/eth-send-raw-transaction.ts";
import { ethSyncing } from "./methods/eth-syncing.ts";
import { netListening } from "./methods/net-listening.ts";
import { netVersion } from "./methods/net-version.ts";
import { quorateReplicas } from "./methods/quorate-replicas.ts";
import { quorateStatus } from "./methods/quorate-status.ts";
import { rpcModules } from "./methods/rpc-modules.ts";
import { web3ClientVersion } from "./methods/web3-client-version.ts";
import { web3Sha3 } from "./methods/web3-sha3.ts";
import type { NetworkStatusReader } from "./network-status.ts";

/** Everything that the methods together ask of the node. */
export type RpcReader = BlockReader &
  TransactionsReader &
  ReceiptsReader &
  TransactionFinder &
  PendingTransactionReader &
  PendingNonceReader &
  StateAtReader &
  Caller &
  GasEstimator &
  Submitter &
  PriorityFeeReader &
  SyncReader &
  NetworkReader & { readonly transactionGasMax: bigint | undefined };

/** `network` is there where a node knows its network: a chain alone has no status. */
export function createMethodTable(reader: RpcReader, network?: NetworkStatusReader): MethodTable {
  const methods: BoundMethod[] = [
    bindMethod(ethAccounts, reader),
    bindMethod(ethBlockNumber, reader),
    bindMethod(ethCall, reader),
    bindMethod(ethChainId, reader),
    bindMethod(ethEstimateGas, reader),
    bindMethod(ethFeeHistory, reader),
    bindMethod(ethGasPrice, reader),
    bindMethod(ethGetBalance, reader),
    bindMethod(ethGetBlockByHash, reader),
    bindMethod(ethGetBlockByNumber, reader),
    bindMethod(ethGetCode, reader),
    bindMethod(ethGetLogs, reader),
    bindMethod(ethGetStorageAt, reader),
    bindMethod(ethGetTransactionByHash, reader),
    bindMethod(ethGetTransactionCount, reader),
    bindMethod(ethGetTransactionReceipt, reader),
    bindMethod(ethMaxPriorityFeePerGas, reader),
    bindMethod(ethSendRawTransaction, reader),
    bindMethod(ethSyncing, reader),
    bindMethod(netListening, reader),
    bindMethod(netVersion, reader),
    bindMethod(web3ClientVersion, reader),
    bindMethod(web3Sha3, reader),
  ];
  if (network !== undefined) {
    methods.push(bindMethod(quorateReplicas, network), bindMethod(quorateStatus, network));
  }
  const methodNames = [...methods.map(({ name }) => name), rpcModules.name];
  methods.push(bindMethod(rpcModules, { methodNames }));
  return new Map(methods.map((method) => [method.name, method]));
}
