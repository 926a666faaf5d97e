/** All methods of ethrpc, each bound to the node. A new method is a file and a line here. */
import type {
  AccessListCreator,
  BlockReader,
  CallRunner,
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
} from "../../api/chain-reader.ts";
import { Filters } from "../logs/filters.ts";
import { LogSearch } from "../logs/log-search.ts";
import { bindMethod, type BoundMethod, type MethodTable } from "../method.ts";
import { debugGetBadBlocks } from "./debug/debug-get-bad-blocks.ts";
import { debugGetRawBlock } from "./debug/debug-get-raw-block.ts";
import { debugGetRawHeader } from "./debug/debug-get-raw-header.ts";
import { debugGetRawReceipts } from "./debug/debug-get-raw-receipts.ts";
import { debugGetRawTransaction } from "./debug/debug-get-raw-transaction.ts";
import { debugTraceBlock } from "./debug/debug-trace-block.ts";
import { debugTraceBlockByHash } from "./debug/debug-trace-block-by-hash.ts";
import { debugTraceBlockByNumber } from "./debug/debug-trace-block-by-number.ts";
import { debugTraceCall } from "./debug/debug-trace-call.ts";
import { debugTraceTransaction } from "./debug/debug-trace-transaction.ts";
import { ethAccounts } from "./eth/account/eth-accounts.ts";
import { ethBaseFee } from "./eth/fee/eth-base-fee.ts";
import { ethBlobBaseFee } from "./eth/fee/eth-blob-base-fee.ts";
import { ethBlockNumber } from "./eth/block/eth-block-number.ts";
import { ethCall } from "./eth/call/eth-call.ts";
import { ethCapabilities } from "./eth/network/eth-capabilities.ts";
import { ethChainId } from "./eth/network/eth-chain-id.ts";
import { ethCoinbase } from "./eth/network/eth-coinbase.ts";
import { ethConfig } from "./eth/network/eth-config.ts";
import { ethCreateAccessList } from "./eth/call/eth-create-access-list.ts";
import { ethEstimateGas } from "./eth/call/eth-estimate-gas.ts";
import { ethFeeHistory } from "./eth/fee/eth-fee-history.ts";
import { ethFillTransaction } from "./eth/transaction/eth-fill-transaction.ts";
import { ethGasPrice } from "./eth/fee/eth-gas-price.ts";
import { ethGetBalance } from "./eth/account/eth-get-balance.ts";
import { ethGetBlockByHash } from "./eth/block/eth-get-block-by-hash.ts";
import { ethGetBlockByNumber } from "./eth/block/eth-get-block-by-number.ts";
import { ethGetBlockReceipts } from "./eth/block/eth-get-block-receipts.ts";
import { ethGetBlockTransactionCountByHash } from "./eth/block/eth-get-block-transaction-count-by-hash.ts";
import { ethGetBlockTransactionCountByNumber } from "./eth/block/eth-get-block-transaction-count-by-number.ts";
import { ethGetCode } from "./eth/account/eth-get-code.ts";
import { ethGetHeaderByHash } from "./eth/block/eth-get-header-by-hash.ts";
import { ethGetHeaderByNumber } from "./eth/block/eth-get-header-by-number.ts";
import { ethGetFilterChanges } from "./eth/filter/eth-get-filter-changes.ts";
import { ethGetFilterLogs } from "./eth/filter/eth-get-filter-logs.ts";
import { ethGetLogs } from "./eth/filter/eth-get-logs.ts";
import { ethGetProof } from "./eth/account/eth-get-proof.ts";
import { ethGetRawTransactionByHash } from "./eth/transaction/eth-get-raw-transaction-by-hash.ts";
import { ethGetStorageAt } from "./eth/account/eth-get-storage-at.ts";
import { ethGetStorageValues } from "./eth/account/eth-get-storage-values.ts";
import { ethGetTransactionByBlockHashAndIndex } from "./eth/transaction/eth-get-transaction-by-block-hash-and-index.ts";
import { ethGetTransactionByBlockNumberAndIndex } from "./eth/transaction/eth-get-transaction-by-block-number-and-index.ts";
import { ethGetTransactionByHash } from "./eth/transaction/eth-get-transaction-by-hash.ts";
import { ethGetTransactionCount } from "./eth/account/eth-get-transaction-count.ts";
import { ethGetTransactionReceipt } from "./eth/transaction/eth-get-transaction-receipt.ts";
import { ethGetUncleByBlockHashAndIndex } from "./eth/block/eth-get-uncle-by-block-hash-and-index.ts";
import { ethGetUncleByBlockNumberAndIndex } from "./eth/block/eth-get-uncle-by-block-number-and-index.ts";
import { ethGetUncleCountByBlockHash } from "./eth/block/eth-get-uncle-count-by-block-hash.ts";
import { ethGetUncleCountByBlockNumber } from "./eth/block/eth-get-uncle-count-by-block-number.ts";
import { ethHashrate } from "./eth/network/eth-hashrate.ts";
import { ethMaxPriorityFeePerGas } from "./eth/fee/eth-max-priority-fee-per-gas.ts";
import { ethMining } from "./eth/network/eth-mining.ts";
import { ethNewBlockFilter } from "./eth/filter/eth-new-block-filter.ts";
import { ethNewFilter } from "./eth/filter/eth-new-filter.ts";
import { ethNewPendingTransactionFilter } from "./eth/filter/eth-new-pending-transaction-filter.ts";
import { ethPendingTransactions } from "./eth/transaction/eth-pending-transactions.ts";
import { ethSendRawTransactionSync } from "./eth/transaction/eth-send-raw-transaction-sync.ts";
import { ethSendRawTransaction } from "./eth/transaction/eth-send-raw-transaction.ts";
import { ethSimulateV1 } from "./eth/call/eth-simulate-v1.ts";
import { ethSubscribe } from "./eth/filter/eth-subscribe.ts";
import { ethSyncing } from "./eth/network/eth-syncing.ts";
import { ethUninstallFilter } from "./eth/filter/eth-uninstall-filter.ts";
import { ethUnsubscribe } from "./eth/filter/eth-unsubscribe.ts";
import { netListening } from "./net/net-listening.ts";
import { netPeerCount } from "./net/net-peer-count.ts";
import { netVersion } from "./net/net-version.ts";
import { otsGetApiLevel } from "./ots/ots-get-api-level.ts";
import { otsGetBlockDetailsByHash } from "./ots/ots-get-block-details-by-hash.ts";
import { otsGetBlockDetails } from "./ots/ots-get-block-details.ts";
import { otsGetBlockTransactions } from "./ots/ots-get-block-transactions.ts";
import { otsGetContractCreator } from "./ots/ots-get-contract-creator.ts";
import { otsGetInternalOperations } from "./ots/ots-get-internal-operations.ts";
import { otsGetTransactionBySenderAndNonce } from "./ots/ots-get-transaction-by-sender-and-nonce.ts";
import { otsGetTransactionError } from "./ots/ots-get-transaction-error.ts";
import { otsHasCode } from "./ots/ots-has-code.ts";
import { otsTraceTransaction } from "./ots/ots-trace-transaction.ts";
import { quorateGetCertificate } from "./quorate/quorate-get-certificate.ts";
import { quorateGetTransactionStatus } from "./quorate/quorate-get-transaction-status.ts";
import { quorateReplicas } from "./quorate/quorate-replicas.ts";
import { quorateStatus } from "./quorate/quorate-status.ts";
import { rpcModules } from "./rpc/rpc-modules.ts";
import { traceBlockParity } from "./trace/trace-block.ts";
import { traceCallParity } from "./trace/trace-call.ts";
import { traceFilter } from "./trace/trace-filter.ts";
import { traceReplayBlockTransactions } from "./trace/trace-replay-block-transactions.ts";
import { traceReplayTransaction } from "./trace/trace-replay-transaction.ts";
import { traceTransactionParity } from "./trace/trace-transaction.ts";
import { txpoolContentFrom } from "./txpool/txpool-content-from.ts";
import { txpoolContent } from "./txpool/txpool-content.ts";
import { txpoolInspect } from "./txpool/txpool-inspect.ts";
import { txpoolStatus } from "./txpool/txpool-status.ts";
import { web3ClientVersion } from "./web3/web3-client-version.ts";
import { web3Sha3 } from "./web3/web3-sha3.ts";
import type { NetworkStatusReader } from "../../api/network-status.ts";
import { Subscriptions } from "../logs/subscriptions.ts";
import { unsupportedMethods } from "./unsupported-methods.ts";

/** Everything that the methods together read from the node. */
export type RpcReader = BlockReader &
  TransactionsReader &
  ReceiptsReader &
  TransactionFinder &
  PendingTransactionReader &
  PendingNonceReader &
  StateAtReader &
  CallRunner &
  GasEstimator &
  AccessListCreator &
  Prover &
  Simulator &
  TraceReader &
  ChainEvents &
  CertificateReader &
  StatusReader &
  FinalityWaiter &
  PoolReader &
  PeerReader &
  RetentionReader &
  PriorityFeeReader &
  SyncReader &
  NetworkReader & { readonly transactionGasMax: bigint | undefined };

/** `network` is there where a node knows its network: a chain alone has no status. */
export function createMethodTable(
  reader: RpcReader,
  submitter: Submitter,
  network?: NetworkStatusReader,
): MethodTable {
  const search = new LogSearch(reader);
  const methods: BoundMethod[] = [
    ...lookupMethods(reader),
    bindMethod(ethGetLogs, search),
    ...ethMethods(reader),
    ...submitMethods(reader, submitter),
    ...debugMethods(reader),
    ...traceMethods(reader),
    ...otterscanMethods(reader),
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
    bindMethod(ethGetHeaderByHash, reader),
    bindMethod(ethGetHeaderByNumber, reader),
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
    bindMethod(ethPendingTransactions, reader),
    bindMethod(ethSyncing, reader),
  ];
}

function submitMethods(reader: RpcReader, submitter: Submitter): BoundMethod[] {
  return [
    bindMethod(ethSendRawTransaction, submitter),
    bindMethod(ethSendRawTransactionSync, { submitter, chain: reader }),
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
    bindMethod(debugTraceBlock, reader),
    bindMethod(debugTraceBlockByHash, reader),
    bindMethod(debugTraceBlockByNumber, reader),
    bindMethod(debugTraceCall, reader),
    bindMethod(debugTraceTransaction, reader),
  ];
}

/** Traces in the format of OpenEthereum. */
function traceMethods(reader: RpcReader): BoundMethod[] {
  return [
    bindMethod(traceBlockParity, reader),
    bindMethod(traceCallParity, reader),
    bindMethod(traceFilter, reader),
    bindMethod(traceReplayBlockTransactions, reader),
    bindMethod(traceReplayTransaction, reader),
    bindMethod(traceTransactionParity, reader),
  ];
}

/** What the Otterscan explorer asks besides. */
function otterscanMethods(reader: RpcReader): BoundMethod[] {
  return [
    bindMethod(otsGetApiLevel, reader),
    bindMethod(otsGetBlockDetailsByHash, reader),
    bindMethod(otsGetBlockDetails, reader),
    bindMethod(otsGetBlockTransactions, reader),
    bindMethod(otsGetContractCreator, reader),
    bindMethod(otsGetInternalOperations, reader),
    bindMethod(otsGetTransactionBySenderAndNonce, reader),
    bindMethod(otsGetTransactionError, reader),
    bindMethod(otsHasCode, reader),
    bindMethod(otsTraceTransaction, reader),
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
