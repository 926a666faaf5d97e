/** What the rules of READ ask of the chain. */
import { bytesToHex } from "../../base/hex.ts";
import {
  ANYONE,
  isPermitted,
  PERMISSION_ADDRESS,
  permissionSlot,
  READ,
} from "../../chain/permissions.ts";
import { isDelegation } from "../../chain/delegation.ts";
import { parseBlockTag, prunedBlock, requireBlock } from "../params/block-tag.ts";
import type { StateAtReader } from "../../api/chain-reader.ts";
import type { AccessDependencies } from "./access-rules.ts";

const BLOCK_PLACE = 1;

/** Whether the permission contract gives an account READ, on the latest block. */
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

/** What a call runs. The block is parsed leniently: the method says what is wrong with it. */
export function createCalledCode(reader: StateAtReader): AccessDependencies["calledCode"] {
  return async (target, given) => {
    const block = await requireBlock(reader, parseBlockTag(given, BLOCK_PLACE, "legacy"));
    const state = await reader.stateAt(block);
    if (state === undefined) throw prunedBlock(block);
    const isDelegated = isDelegation(await state.code(target));
    return { blockHash: bytesToHex(block.hash), isDelegated };
  };
}
