/** What a caller did wrong or cannot have. Anything else that is thrown answers a bare -32603. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  /** The message says what to do. `data` is left out of the answer if undefined. */
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The codes of JSON-RPC 2.0. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** The codes of Ethereum clients. */
export const EXECUTION_REVERTED = 3;
/** EIP-7966: accepted, and not final in time. */
export const SYNC_TIMED_OUT = 4;
export const HISTORY_PRUNED = 4444;
export const SERVER_ERROR = -32000;
export const TIMED_OUT = -32002;
export const RESPONSE_TOO_LARGE = -32003;
export const METHOD_NOT_SUPPORTED = -32004;
export const LIMIT_EXCEEDED = -32005;
/** Inside a result of eth_simulateV1. */
export const VM_EXECUTION_ERROR = -32015;
export const PERMISSION_DENIED = -32060;
