/** All methods of ethrpc, each bound to the node. A new method is a file and a line here. */
import type {
  AccessListCreator,
  BlockReader,
  Caller,
  CertificateReader,
  ChainEvents,
  FinalityWaiter,
  GasEstimator,
  NetworkReader,
  PeerReader,
  PendingNonceReader,
  PendingTransactionReader,
  PoolReader,
  PriorityFeeReader,
  Prover,
  ReceiptsReader,
  RetentionReader,
  Simulator,
  StateAtReader,
  StatusReader,
  Submitter,
  TraceReader,
  SyncReader,
  TransactionFinder,
  TransactionsReader,
} from "../api/chain-reader.ts";
import { Filters } from "./filters.ts";
import { LogSearch } from "./log-search.ts";
import { bindMethod, type BoundMethod, type MethodTable } from "./method.ts";
import { debugGetBadBlocks } from "./methods/debug-get-bad-blocks.ts";
import { debugGetRawBlock } from "./methods/debug-get-raw-block.ts";
import { debugGetRawHeader } from "./methods/debug-get-raw-header.ts";
import { debugGetRawReceipts } from "./methods/debug-get-raw-receipts.ts";
import { debugGetRawTransaction } from "./methods/debug-get-raw-transaction.ts";
import { debugTraceBlockByHash } from "./methods/debug-trace-block-by-hash.ts";
import { debugTraceBlockByNumber } from "./methods/debug-trace-block-by-number.ts";
import { debugTraceCall } from "./methods/debug-trace-call.ts";
import { debugTraceTransaction } from "./methods/debug-trace-transaction.ts";
import { ethAccounts } from "./methods/eth-accounts.ts";
import { ethBaseFee } from "./methods/eth-base-fee.ts";
import { ethBlobBaseFee } from "./methods/eth-blob-base-fee.ts";
import { ethBlockNumber } from "./methods/eth-block-number.ts";
import { ethCall } from "./methods/eth-call.ts";
import { ethCapabilities } from "./methods/eth-capabilities.ts";
import { ethChainId } from "./methods/eth-chain-id.ts";
import { ethCoinbase } from "./methods/eth-coinbase.ts";
import { ethConfig } from "./methods/eth-config.ts";
import { ethCreateAccessList } from "./methods/eth-create-access-list.ts";
import { ethEstimateGas } from "./methods/eth-estimate-gas.ts";
import { ethFeeHistory } from "./methods/eth-fee-history.ts";
import { ethFillTransaction } from "./methods/eth-fill-transaction.ts";
import { ethGasPrice } from "./methods/eth-gas-price.ts";
import { ethGetBalance } from "./methods/eth-get-balance.ts";
import { ethGetBlockByHash } from "./methods/eth-get-block-by-hash.ts";
import { ethGetBlockByNumber } from "./methods/eth-get-block-by-number.ts";
import { ethGetBlockReceipts } from "./methods/eth-get-block-receipts.ts";
import { ethGetBlockTransactionCountByHash } from "./methods/eth-get-block-transaction-count-by-hash.ts";
import { ethGetBlockTransactionCountByNumber } from "./methods/eth-get-block-transaction-count-by-number.ts";
import { ethGetCode } from "./methods/eth-get-code.ts";
import { ethGetFilterChanges } from "./methods/eth-get-filter-changes.ts";
import { ethGetFilterLogs } from "./methods/eth-get-filter-logs.ts";
import { ethGetLogs } from "./methods/eth-get-logs.ts";
import { ethGetProof } from "./methods/eth-get-proof.ts";
import { ethGetRawTransactionByHash } from "./methods/eth-get-raw-transaction-by-hash.ts";
import { ethGetStorageAt } from "./methods/eth-get-storage-at.ts";
import { ethGetStorageValues } from "./methods/eth-get-storage-values.ts";
import { ethGetTransactionByBlockHashAndIndex } from "./methods/eth-get-transaction-by-block-hash-and-index.ts";
import { ethGetTransactionByBlockNumberAndIndex } from "./methods/eth-get-transaction-by-block-number-and-index.ts";
import { ethGetTransactionByHash } from "./methods/eth-get-transaction-by-hash.ts";
import { ethGetTransactionCount } from "./methods/eth-get-transaction-count.ts";
import { ethGetTransactionReceipt } from "./methods/eth-get-transaction-receipt.ts";
import { ethGetUncleByBlockHashAndIndex } from "./methods/eth-get-uncle-by-block-hash-and-index.ts";
import { ethGetUncleByBlockNumberAndIndex } from "./methods/eth-get-uncle-by-block-number-and-index.ts";
import { ethGetUncleCountByBlockHash } from "./methods/eth-get-uncle-count-by-block-hash.ts";
import { ethGetUncleCountByBlockNumber } from "./methods/eth-get-uncle-count-by-block-number.ts";
import { ethHashrate } from "./methods/eth-hashrate.ts";
import { ethMaxPriorityFeePerGas } from "./methods/eth-max-priority-fee-per-gas.ts";
import { ethMining } from "./methods/eth-mining.ts";
import { ethNewBlockFilter } from "./methods/eth-new-block-filter.ts";
import { ethNewFilter } from "./methods/eth-new-filter.ts";
import { ethNewPendingTransactionFilter } from "./methods/eth-new-pending-transaction-filter.ts";
import { ethSendRawTransactionSync } from "./methods/eth-send-raw-transaction-sync.ts";
import { ethSendRawTransaction } from "./methods/eth-send-raw-transaction.ts";
import { ethSimulateV1 } from "./methods/eth-simulate-v1.ts";
import { ethSubscribe } from "./methods/eth-subscribe.ts";
import { ethSyncing } from "./methods/eth-syncing.ts";
import { ethUninstallFilter } from "./methods/eth-uninstall-filter.ts";
import { ethUnsubscribe } from "./methods/eth-unsubscribe.ts";
import { netListening } from "./methods/net-listening.ts";
import { netPeerCount } from "./methods/net-peer-count.ts";
import { netVersion } from "./methods/net-version.ts";
import { quorateGetCertificate } from "./methods/quorate-get-certificate.ts";
import { quorateGetTransactionStatus } from "./methods/quorate-get-transaction-status.ts";
import { quorateReplicas } from "./methods/quorate-replicas.ts";
import { quorateStatus } from "./methods/quorate-status.ts";
import { rpcModules } from "./methods/rpc-modules.ts";
import { txpoolContentFrom } from "./methods/txpool-content-from.ts";
import { txpoolContent } from "./methods/txpool-content.ts";
import { txpoolInspect } from "./methods/txpool-inspect.ts";
import { txpoolStatus } from "./methods/txpool-status.ts";
import { web3ClientVersion } from "./methods/web3-client-version.ts";
import { web3Sha3 } from "./methods/web3-sha3.ts";
import type { NetworkStatusReader } from "../api/network-status.ts";
import { Subscriptions } from "./subscriptions.ts";
import { unsupportedMethods } from "./unsupported-methods.ts";

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
  AccessListCreator &
  Prover &
  Simulator &
  TraceReader &
  ChainEvents &
  CertificateReader &
  Submitter &
  StatusReader &
  FinalityWaiter &
  PoolReader &
  PeerReader &
  RetentionReader &
  PriorityFeeReader &
  SyncReader &
  NetworkReader & { readonly transactionGasMax: bigint | undefined };

/** `network` is there where a node knows its network: a chain alone has no status. */
export function createMethodTable(reader: RpcReader, network?: NetworkStatusReader): MethodTable {
  const search = new LogSearch(reader);
  const methods: BoundMethod[] = [
    ...lookupMethods(reader),
    bindMethod(ethGetLogs, search),
    ...ethMethods(reader),
    ...debugMethods(reader),
    ...nodeMethods(reader),
    ...filterMethods(new Filters(reader, search)),
    ...subscriptionMethods(new Subscriptions(reader, search)),
    ...unsupportedMethods(),
  ];
  if (network !== undefined) {
    methods.push(bindMethod(quorateReplicas, network), bindMethod(quorateStatus, network));
  }
  const methodNames = [...methods.map(({ name }) => name), rpcModules.name];
  methods.push(bindMethod(rpcModules, { methodNames }));
  return new Map(methods.map((method) => [method.name, method]));
}

/** What is on the chain and in its state. */
function lookupMethods(reader: RpcReader): BoundMethod[] {
  return [
    bindMethod(ethGetBalance, reader),
    bindMethod(ethGetBlockByHash, reader),
    bindMethod(ethGetBlockByNumber, reader),
    bindMethod(ethGetBlockReceipts, reader),
    bindMethod(ethGetBlockTransactionCountByHash, reader),
    bindMethod(ethGetBlockTransactionCountByNumber, reader),
    bindMethod(ethGetCode, reader),
    bindMethod(ethGetProof, reader),
    bindMethod(ethGetRawTransactionByHash, reader),
    bindMethod(ethGetStorageAt, reader),
    bindMethod(ethGetStorageValues, reader),
    bindMethod(ethGetTransactionByBlockHashAndIndex, reader),
    bindMethod(ethGetTransactionByBlockNumberAndIndex, reader),
    bindMethod(ethGetTransactionByHash, reader),
    bindMethod(ethGetTransactionCount, reader),
    bindMethod(ethGetTransactionReceipt, reader),
    bindMethod(ethGetUncleByBlockHashAndIndex, reader),
    bindMethod(ethGetUncleByBlockNumberAndIndex, reader),
    bindMethod(ethGetUncleCountByBlockHash, reader),
    bindMethod(ethGetUncleCountByBlockNumber, reader),
  ];
}

/** The rest of the eth module. */
function ethMethods(reader: RpcReader): BoundMethod[] {
  return [
    bindMethod(ethAccounts, reader),
    bindMethod(ethBaseFee, reader),
    bindMethod(ethBlobBaseFee, reader),
    bindMethod(ethBlockNumber, reader),
    bindMethod(ethCall, reader),
    bindMethod(ethCapabilities, reader),
    bindMethod(ethChainId, reader),
    bindMethod(ethCoinbase, reader),
    bindMethod(ethConfig, reader),
    bindMethod(ethCreateAccessList, reader),
    bindMethod(ethEstimateGas, reader),
    bindMethod(ethFeeHistory, reader),
    bindMethod(ethFillTransaction, reader),
    bindMethod(ethGasPrice, reader),
    bindMethod(ethSimulateV1, reader),
    bindMethod(ethHashrate, reader),
    bindMethod(ethMaxPriorityFeePerGas, reader),
    bindMethod(ethMining, reader),
    bindMethod(ethSendRawTransactionSync, reader),
    bindMethod(ethSendRawTransaction, reader),
    bindMethod(ethSyncing, reader),
  ];
}

/** Raw forms and traces. */
function debugMethods(reader: RpcReader): BoundMethod[] {
  return [
    bindMethod(debugGetBadBlocks, reader),
    bindMethod(debugGetRawBlock, reader),
    bindMethod(debugGetRawHeader, reader),
    bindMethod(debugGetRawReceipts, reader),
    bindMethod(debugGetRawTransaction, reader),
    bindMethod(debugTraceBlockByHash, reader),
    bindMethod(debugTraceBlockByNumber, reader),
    bindMethod(debugTraceCall, reader),
    bindMethod(debugTraceTransaction, reader),
  ];
}

/** The node, its pool and its peers. */
function nodeMethods(reader: RpcReader): BoundMethod[] {
  return [
    bindMethod(netListening, reader),
    bindMethod(netPeerCount, reader),
    bindMethod(netVersion, reader),
    bindMethod(quorateGetCertificate, reader),
    bindMethod(quorateGetTransactionStatus, reader),
    bindMethod(txpoolContentFrom, reader),
    bindMethod(txpoolContent, reader),
    bindMethod(txpoolInspect, reader),
    bindMethod(txpoolStatus, reader),
    bindMethod(web3ClientVersion, reader),
    bindMethod(web3Sha3, reader),
  ];
}

function filterMethods(filters: Filters): BoundMethod[] {
  return [
    bindMethod(ethGetFilterChanges, filters),
    bindMethod(ethGetFilterLogs, filters),
    bindMethod(ethNewBlockFilter, filters),
    bindMethod(ethNewFilter, filters),
    bindMethod(ethNewPendingTransactionFilter, filters),
    bindMethod(ethUninstallFilter, filters),
  ];
}

function subscriptionMethods(subscriptions: Subscriptions): BoundMethod[] {
  return [bindMethod(ethSubscribe, subscriptions), bindMethod(ethUnsubscribe, subscriptions)];
}
