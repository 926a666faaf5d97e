/**
 * The permission contract as the nodes read it: straight from its storage, without a call. The
 * layout is that of contracts/Permissions.sol; docs/permissions.md describes it, and tests compare
 * every answer with the contract's own.
 */
import { writeBigEndian } from "../base/big-endian.ts";
import { keccak256Word } from "../crypto/keccak256.ts";
import { ZERO_ADDRESS } from "./address.ts";

/** "quorate.permissions" in ASCII: its key is unknown, and no contract can be created there. */
export const PERMISSION_ADDRESS = 0x71756f726174652e7065726d697373696f6e73n;

export const READ = 1;
export const WRITE = 2;
export const DEPLOY = 4;
export const ADMIN = 8;
export const ALL_ACTIONS = READ | WRITE | DEPLOY | ADMIN;

/** Stands for every sender, or for every target. */
export const ANYONE = ZERO_ADDRESS;

/** The word in a slot of the permission contract. */
export type PermissionStorage = (slot: bigint) => bigint;

const ADMIN_COUNT_SLOT = 0n;
const ENTRIES_SLOT = 1n;
const LISTED_SLOT = 2n;
/** The rights are the lowest byte of an entry; its place in the list is above it. */
const PLACE_SHIFT = 8n;
const RIGHTS_MASK = 0xffn;

/** Filled and read within one synchronous call. */
const scratch = new Uint8Array(64);

const ANYONE_SLOT = mappingSlot(ANYONE, ENTRIES_SLOT);
const ANYONE_ANYWHERE_SLOT = mappingSlot(ANYONE, ANYONE_SLOT);

/** Whether the sender may do all of these actions at the target: `checkUserAction`. */
export function isPermitted(
  storage: PermissionStorage,
  from: bigint,
  to: bigint,
  action: number,
): boolean {
  if (action === 0) return false;
  const senderSlot = mappingSlot(from, ENTRIES_SLOT);
  // From the entry that most often decides to the one that seldom does.
  const own = rightsAt(storage, mappingSlot(ANYONE, senderSlot));
  let rights = (own & ADMIN) === 0 ? own : ALL_ACTIONS;
  if ((action & ~rights) === 0) return true;
  rights |= rightsAt(storage, ANYONE_ANYWHERE_SLOT);
  if ((action & ~rights) === 0) return true;
  if (to === ANYONE) return false;
  rights |= rightsAt(storage, mappingSlot(to, senderSlot));
  if ((action & ~rights) === 0) return true;
  rights |= rightsAt(storage, mappingSlot(to, ANYONE_SLOT));
  return (action & ~rights) === 0;
}

/** The slot of the entry of this sender and target. */
export function permissionSlot(from: bigint, to: bigint): bigint {
  return mappingSlot(to, mappingSlot(from, ENTRIES_SLOT));
}

/** What the contract's storage holds at genesis: the accounts of alloc may do everything. */
export function genesisPermissions(
  admins: readonly bigint[],
): readonly (readonly [slot: bigint, value: bigint])[] {
  if (admins.length === 0) return [];
  const count = BigInt(admins.length);
  const elements = slotHash(LISTED_SLOT);
  return [
    [ADMIN_COUNT_SLOT, count],
    [LISTED_SLOT, count],
    ...admins.flatMap((admin, index) => {
      const entry = (BigInt(index + 1) << PLACE_SHIFT) | BigInt(ALL_ACTIONS);
      // An element of the list is a sender and a target, one slot each; here the target is any.
      const element = elements + 2n * BigInt(index);
      return [[permissionSlot(admin, ANYONE), entry] as const, [element, admin] as const];
    }),
  ];
}

function rightsAt(storage: PermissionStorage, slot: bigint): number {
  return Number(storage(slot) & RIGHTS_MASK);
}

/** Solidity keeps a mapping's value at keccak256(key . slot). */
function mappingSlot(key: bigint, slot: bigint): bigint {
  writeBigEndian(key, scratch, 0, 32);
  writeBigEndian(slot, scratch, 32, 32);
  return keccak256Word(scratch, 0, 64);
}

function slotHash(slot: bigint): bigint {
  writeBigEndian(slot, scratch, 0, 32);
  return keccak256Word(scratch, 0, 32);
}
