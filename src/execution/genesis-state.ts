import { hexToBytes } from "../base/hex.ts";
import { genesisAdmins, type GenesisAccount, type GenesisConfig } from "../chain/genesis.ts";
import { createGenesisBlock, type GenesisBlock } from "../chain/genesis-block.ts";
import { genesisPermissions, PERMISSION_ADDRESS } from "../chain/permissions.ts";
import { Journal } from "../state/journal.ts";
import type { StateDatabase } from "../state/state-database.ts";
import { PERMISSION_BYTECODE } from "./permission-bytecode.ts";

/** A contract that is there from the start, such as the permission contract. */
export type PredeployedContract = {
  readonly address: bigint;
  readonly code: Uint8Array;
  readonly storage: readonly (readonly [slot: bigint, value: bigint])[];
};

/**
 * Commits the state of block 0 to an empty database and returns the block over it. The permission
 * contract is always part of it, whatever the switches say.
 */
export function buildGenesis(
  config: GenesisConfig,
  contracts: readonly PredeployedContract[],
  database: StateDatabase,
): GenesisBlock {
  const journal = new Journal(database);
  for (const account of config.alloc) setAccount(journal, account);
  for (const { address, code, storage } of [permissionContract(config), ...contracts]) {
    journal.setNonce(address, 1n);
    journal.setCode(address, code);
    for (const [slot, value] of storage) journal.setStorage(address, slot, value);
  }
  // EIP-161: an account of alloc with balance 0 is no account.
  journal.endTransaction();
  const stateRoot = database.commit(0n, journal.blockChanges());
  return createGenesisBlock(config, stateRoot);
}

function setAccount(journal: Journal, { address, balance, carried }: GenesisAccount): void {
  journal.setBalance(address, balance);
  if (carried === undefined) return;
  journal.setNonce(address, carried.nonce);
  if (carried.code.length > 0) journal.setCode(address, carried.code);
  for (const [slot, value] of carried.storage) journal.setStorage(address, slot, value);
}

function permissionContract(config: GenesisConfig): PredeployedContract {
  return {
    address: PERMISSION_ADDRESS,
    code: hexToBytes(PERMISSION_BYTECODE),
    storage: genesisPermissions(genesisAdmins(config)),
  };
}
