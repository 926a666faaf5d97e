/**
 * Which transactions may run (SPEC A3). Every replica checks them, so no client node can bypass
 * them.
 */
import type { GenesisConfig } from "../chain/genesis.ts";
import { ANYONE, DEPLOY, isPermitted, PERMISSION_ADDRESS, WRITE } from "../chain/permissions.ts";
import { recoverAuthority } from "../chain/transaction-sender.ts";
import { authorizationListOf } from "../chain/transaction.ts";
import type { WorldState } from "../evm/world-state.ts";
import type { TransactionRequest } from "./transaction-request.ts";

/**
 * Whether the transaction is permitted on the state just before it (SPEC A3): the permission
 * contract is asked for each transaction, so that a grant holds from the next one in order.
 * A network without write permissioning has no policy and pays nothing.
 */
export type PermissionPolicy = (world: WorldState, request: TransactionRequest) => boolean;

/** The policy of the network; undefined where everyone may write. */
export function permissionPolicyOf(
  genesis: Pick<GenesisConfig, "chainId" | "isWritePermissioned">,
): PermissionPolicy | undefined {
  if (!genesis.isWritePermissioned) return undefined;
  const { chainId } = genesis;
  return (world, { transaction, sender }) => {
    const storage = (slot: bigint): bigint => world.storage(PERMISSION_ADDRESS, slot);
    const { to } = transaction;
    const isSenderPermitted =
      to === undefined
        ? isPermitted(storage, sender, ANYONE, DEPLOY)
        : isPermitted(storage, sender, to, WRITE);
    if (!isSenderPermitted) return false;
    return authorizationListOf(transaction).every((authorization) => {
      const authority = recoverAuthority(authorization, chainId);
      // Without an authority, execution will skip the authorization. One that execution may skip
      // for its nonce is still checked.
      if (authority === undefined) return true;
      // At any target: the code that the account takes on acts for it wherever it likes.
      return isPermitted(storage, authority, ANYONE, WRITE);
    });
  };
}
