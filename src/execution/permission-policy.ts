import type { WorldState } from "../evm/world-state.ts";
import type { TransactionRequest } from "./transaction-request.ts";

/**
 * Whether the transaction is permitted on the state just before it (SPEC A3): the permission
 * contract is asked for each transaction, so that a grant holds from the next one in order.
 * A network without write permissioning has no policy and pays nothing.
 */
export type PermissionPolicy = (world: WorldState, request: TransactionRequest) => boolean;
