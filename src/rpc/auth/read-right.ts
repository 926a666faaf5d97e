/** Whether the permission contract gives an account READ, on the latest block. */
import {
  ANYONE,
  isPermitted,
  PERMISSION_ADDRESS,
  permissionSlot,
  READ,
} from "../../chain/permissions.ts";
import type { StateAtReader } from "../../api/chain-reader.ts";
import type { AccessDependencies } from "./access-rules.ts";

export function createReadRight(reader: StateAtReader): AccessDependencies["mayRead"] {
  return async (account, target) => {
    const state = await reader.stateAt(await reader.latestBlock());
    if (state === undefined) return false;
    // All that can give the right: the account's entries and anyone's, there and everywhere.
    const slots = [account, ANYONE].flatMap((from) => [
      permissionSlot(from, ANYONE),
      permissionSlot(from, target),
    ]);
    const words = new Map<bigint, bigint>();
    for (const slot of slots) words.set(slot, await state.storage(PERMISSION_ADDRESS, slot));
    return isPermitted((slot) => words.get(slot) ?? 0n, account, target, READ);
  };
}
