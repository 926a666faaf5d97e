/**
 * What each method reveals to its caller, and thus which READ right it needs where reads are
 * permissioned (docs/permissions.md). Every method of the method table is listed; a test compares.
 * A method that is not listed needs READ at every target.
 */
import { parseAddress } from "../../chain/address.ts";
import { ANYONE } from "../../chain/permissions.ts";
import { isObject } from "../params/parameters.ts";

export type AccessClass =
  /** The answer is a constant of the chain or of the program. */
  | "open"
  /** Takes a transaction, which needs a right of its signer, and returns its hash. */
  | "submit"
  /** Reveals the state of one account: the first parameter. */
  | "account"
  /** Runs the code of one account: `to` of the first parameter. */
  | "call"
  /** Everything else: the answer can depend on any account. */
  | "chain";

/** What a wallet must know before it can sign in; the genesis is no secret. */
const OPEN = ["eth_chainId", "net_version"];

/** Its errors reveal no number of the state (refusalTo in src/rpc/format/failure-error.ts). */
const SUBMIT = ["eth_sendRawTransaction"];

const ACCOUNT = ["eth_getBalance", "eth_getCode", "eth_getStorageAt", "eth_getTransactionCount"];

const CALL = ["eth_call", "eth_estimateGas"];

/**
 * Some of these look narrower than they are. A receipt (eth_sendRawTransactionSync) has the gas and
 * the logs of code that may have read anything. A proof has hashes of the neighbours of its
 * account. An access list names slots of all contracts that were called, and their keys are data.
 */
const CHAIN = [
  "debug_getBadBlocks",
  "debug_getRawBlock",
  "debug_getRawBlockAccessList",
  "debug_getRawHeader",
  "debug_getRawReceipts",
  "debug_getRawTransaction",
  "debug_traceBlock",
  "debug_traceBlockByHash",
  "debug_traceBlockByNumber",
  "debug_traceCall",
  "debug_traceTransaction",
  "eth_accounts",
  "eth_baseFee",
  "eth_blobBaseFee",
  "eth_blockNumber",
  "eth_capabilities",
  "eth_coinbase",
  "eth_config",
  "eth_createAccessList",
  "eth_feeHistory",
  "eth_fillTransaction",
  "eth_gasPrice",
  "eth_getBlockAccessList",
  "eth_getBlockByHash",
  "eth_getBlockByNumber",
  "eth_getBlockReceipts",
  "eth_getBlockTransactionCountByHash",
  "eth_getBlockTransactionCountByNumber",
  "eth_getFilterChanges",
  "eth_getFilterLogs",
  "eth_getHeaderByHash",
  "eth_getHeaderByNumber",
  "eth_getLogs",
  "eth_getProof",
  "eth_getRawTransactionByHash",
  "eth_getStorageValues",
  "eth_getTransactionByBlockHashAndIndex",
  "eth_getTransactionByBlockNumberAndIndex",
  "eth_getTransactionByHash",
  "eth_getTransactionReceipt",
  "eth_getUncleByBlockHashAndIndex",
  "eth_getUncleByBlockNumberAndIndex",
  "eth_getUncleCountByBlockHash",
  "eth_getUncleCountByBlockNumber",
  "eth_getWork",
  "eth_hashrate",
  "eth_maxPriorityFeePerGas",
  "eth_mining",
  "eth_newBlockFilter",
  "eth_newFilter",
  "eth_newPendingTransactionFilter",
  "eth_pendingTransactions",
  "eth_protocolVersion",
  "eth_sendRawTransactionSync",
  "eth_sendTransaction",
  "eth_sign",
  "eth_signTransaction",
  "eth_simulateV1",
  "eth_submitHashrate",
  "eth_submitWork",
  "eth_subscribe",
  "eth_syncing",
  "eth_uninstallFilter",
  "eth_unsubscribe",
  "net_listening",
  "net_peerCount",
  "ots_getApiLevel",
  "ots_getBlockDetails",
  "ots_getBlockDetailsByHash",
  "ots_getBlockTransactions",
  "ots_getContractCreator",
  "ots_getInternalOperations",
  "ots_getTransactionBySenderAndNonce",
  "ots_getTransactionError",
  "ots_hasCode",
  "ots_traceTransaction",
  "quorate_getCertificate",
  "quorate_getTransactionStatus",
  "quorate_replicas",
  "quorate_status",
  "rpc_modules",
  "trace_block",
  "trace_call",
  "trace_filter",
  "trace_replayBlockTransactions",
  "trace_replayTransaction",
  "trace_transaction",
  "txpool_content",
  "txpool_contentFrom",
  "txpool_inspect",
  "txpool_status",
  "web3_clientVersion",
  "web3_sha3",
];

export const ACCESS_CLASSES: ReadonlyMap<string, AccessClass> = new Map<string, AccessClass>([
  ...classed(OPEN, "open"),
  ...classed(SUBMIT, "submit"),
  ...classed(ACCOUNT, "account"),
  ...classed(CALL, "call"),
  ...classed(CHAIN, "chain"),
]);

export function accessClassOf(method: string): AccessClass {
  return ACCESS_CLASSES.get(method) ?? "chain";
}

/** A call as the rules of READ see it. */
export type CallAccess = {
  /** ANYONE: READ is needed at every target. */
  readonly target: bigint;
  /** The sender that it claims; undefined for none. */
  readonly from: bigint | undefined;
  readonly block: unknown;
};

/** The first parameter is a call, then comes the block; after it come overrides. */
const CALL_PARAMS_MAX = 2;

export function callAccess(params: readonly unknown[]): CallAccess {
  const [call, block] = params;
  if (!isObject(call)) return { target: ANYONE, from: undefined, block };
  // Code that the caller supplies can read everything.
  const isMadeUp = params.length > CALL_PARAMS_MAX || "authorizationList" in call;
  const { from } = call;
  return {
    target: isMadeUp ? ANYONE : addressOf(call["to"]),
    from: from === undefined || from === null ? undefined : addressOf(from),
    block,
  };
}

/** The account that a method of class `account` reads. */
export function accountTarget([first]: readonly unknown[]): bigint {
  return addressOf(first);
}

function addressOf(value: unknown): bigint {
  return typeof value === "string" ? (parseAddress(value) ?? ANYONE) : ANYONE;
}

function classed(
  methods: readonly string[],
  access: AccessClass,
): readonly (readonly [string, AccessClass])[] {
  return methods.map((method) => [method, access]);
}
