/** Where ethrpc listens and how much one caller may ask of it (SPEC E9). All can be configured. */
export type RpcOptions = {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** What `/` speaks. `/standard` is always strict. */
  readonly rootDialect: "legacy" | "standard";
  /** Names in the Host header besides IP addresses; `*` admits any. A page that points its own name
   * at this machine (DNS rebinding) is refused by this. */
  readonly allowedHosts: readonly string[];
  /** Web origins besides those on this machine; `*` admits any. */
  readonly allowedOrigins: readonly string[];
  /** Undefined: without TLS. */
  readonly tls?: RpcTlsOptions | undefined;
  readonly limits: RpcLimits;
};

/** All in PEM. */
export type RpcTlsOptions = {
  readonly cert: string;
  /** Secret: never log it. */
  readonly key: string;
  /** Who signs the certificates of callers; undefined: none is asked for. */
  readonly clientCa?: string | undefined;
  /** Whether callers without a certificate get no connection. */
  readonly isClientCertRequired: boolean;
};

export type RpcLimits = {
  readonly bodyBytesMax: number;
  readonly headerBytesMax: number;
  readonly batchLengthMax: number;
  /** Of one answer, single or batch, in characters. */
  readonly responseLengthMax: number;
  /** Of all bodies and answers that wait in memory. */
  readonly bufferedBytesMax: number;
  readonly connectionsMax: number;
  /** HTTP requests that are being answered. */
  readonly concurrentRequestsMax: number;
  /** Requests that wait for a transaction: of all callers, of one address, of one connection. */
  readonly waitersMax: number;
  readonly clientWaitersMax: number;
  readonly connectionWaitersMax: number;
  /** Requests of one client in a second; 0 is no limit. */
  readonly clientRateMax: number;
  /** How many clients are counted: beyond it, the one that was silent for longest is forgotten. */
  readonly ratedClientsMax: number;
  /** Requests of one batch that run at the same time. */
  readonly concurrentBatchItemsMax: number;
  /** The time in which the headers of a request must arrive. */
  readonly headersTimeoutMs: number;
  /** The time in which the whole request must arrive. */
  readonly requestTimeoutMs: number;
  /** How long a connection may be idle between two requests. */
  readonly keepAliveTimeoutMs: number;
  /** How long a connection may move no byte while an answer is made or read. */
  readonly idleTimeoutMs: number;
  /** In which one answer must have been read. */
  readonly answerReadMs: number;
  readonly callGasMax: bigint;
  readonly logBlocksMax: number;
  readonly logResultsMax: number;
  /** Addresses of a filter, and alternatives at one place of its topics. */
  readonly filterAlternativesMax: number;
  readonly feeHistoryBlocksMax: number;
  /** Blocks, results and time of one trace_filter. */
  readonly traceBlocksMax: number;
  readonly traceResultsMax: number;
  readonly traceFilterMs: number;
  /** Accounts and slots that a call may take to be different. */
  readonly overrideAccountsMax: number;
  readonly overrideSlotsMax: number;
  /** Blocks of one simulation, and calls of one of them. */
  readonly simulationBlocksMax: number;
  readonly simulationCallsMax: number;
  /** Slots of one proof. */
  readonly proofSlotsMax: number;
  /**
   * Filters of all callers, their addresses and topics together (and as many of subscriptions),
   * how long one may be unused.
   */
  readonly filtersMax: number;
  readonly filterValuesMax: number;
  readonly filterIdleMs: number;
  /** Of all connections, and of one. */
  readonly subscriptionsMax: number;
  readonly connectionSubscriptionsMax: number;
  /** WebSockets that are open. */
  readonly socketsMax: number;
  /** Requests of one WebSocket that are being answered: further ones are not read yet. */
  readonly socketRequestsMax: number;
  /** What may wait for a WebSocket to be read. One that is slower is closed. */
  readonly socketBufferedBytesMax: number;
  /** How often a silent WebSocket is pinged. */
  readonly socketPingMs: number;
  /** How long eth_sendRawTransactionSync waits at most, and by default. */
  readonly syncTimeoutMaxMs: number;
  readonly syncTimeoutMs: number;
  /** How long a request for the receipt of an accepted transaction waits for it to be final. */
  readonly receiptWaitMs: number;
  /** How long a request waits for a node that has just started and is catching up. */
  readonly readyWaitMs: number;
};

export const DEFAULT_RPC_LIMITS: RpcLimits = {
  bodyBytesMax: 5 * 1024 * 1024,
  headerBytesMax: 16 * 1024,
  batchLengthMax: 1_000,
  responseLengthMax: 25_000_000,
  bufferedBytesMax: 256 * 1024 * 1024,
  connectionsMax: 2_000,
  concurrentRequestsMax: 500,
  waitersMax: 4_000,
  clientWaitersMax: 2_000,
  connectionWaitersMax: 200,
  clientRateMax: 0,
  ratedClientsMax: 10_000,
  concurrentBatchItemsMax: 100,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 65_000,
  idleTimeoutMs: 60_000,
  answerReadMs: 30_000,
  callGasMax: 50_000_000n,
  logBlocksMax: 10_000,
  logResultsMax: 10_000,
  filterAlternativesMax: 1_000,
  feeHistoryBlocksMax: 1_024,
  traceBlocksMax: 1_000,
  traceResultsMax: 10_000,
  traceFilterMs: 10_000,
  overrideAccountsMax: 1_000,
  overrideSlotsMax: 10_000,
  simulationBlocksMax: 256,
  simulationCallsMax: 1_000,
  proofSlotsMax: 1_024,
  filtersMax: 10_000,
  filterValuesMax: 250_000,
  filterIdleMs: 5 * 60 * 1_000,
  subscriptionsMax: 10_000,
  connectionSubscriptionsMax: 100,
  socketsMax: 1_500,
  socketRequestsMax: 64,
  socketBufferedBytesMax: 4 * 1024 * 1024,
  socketPingMs: 30_000,
  syncTimeoutMaxMs: 60_000,
  syncTimeoutMs: 5_000,
  receiptWaitMs: 500,
  readyWaitMs: 5_000,
};

export const DEFAULT_RPC_OPTIONS: RpcOptions = {
  host: "127.0.0.1",
  port: 8545,
  rootDialect: "legacy",
  allowedHosts: ["localhost"],
  allowedOrigins: [],
  limits: DEFAULT_RPC_LIMITS,
};
