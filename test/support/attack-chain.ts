/** Runs an attack as a block of transactions on a state with many accounts. */
import { bytesToHex } from "../../src/base/hex.ts";
import type { RecoveredTransaction } from "../../src/chain/transaction-sender.ts";
import type { Transaction } from "../../src/chain/transaction.ts";
import { keccak256 } from "../../src/crypto/keccak256.ts";
import { AnalyzedCodeCache } from "../../src/evm/analyzed-code.ts";
import {
  type BatchResult,
  executeBatch,
  type ParentBlock,
} from "../../src/execution/execute-batch.ts";
import { buildGenesis, type PredeployedContract } from "../../src/execution/genesis-state.ts";
import { MemoryStore } from "../../src/state/memory-store.ts";
import { StateDatabase } from "../../src/state/state-database.ts";
import {
  ATTACK_ADDRESS,
  BOMB_ADDRESS,
  BOMB_CODE,
  CROWD_ADDRESS,
  LARGE_ADDRESS,
  LARGE_CODE,
} from "./attack-programs.ts";

export const TRANSACTION_GAS_MAX = 16_777_216n;
const RULES = {
  chainId: 5000n,
  fork: "prague",
  transactionGasMax: TRANSACTION_GAS_MAX,
  baseFee: 0n,
} as const;

export class AttackChain {
  readonly database: StateDatabase;
  readonly #codes = new AnalyzedCodeCache(10_000_000);
  #parent: ParentBlock;

  constructor(code: Uint8Array, crowdCount: number) {
    this.database = new StateDatabase({}, new MemoryStore());
    const contract = (address: bigint, bytes: Uint8Array): PredeployedContract => ({
      address,
      code: bytes,
      storage: [],
    });
    const alloc = Array.from({ length: crowdCount }, (_, index) => ({
      address: CROWD_ADDRESS + BigInt(index),
      balance: 1n,
    }));
    const config = {
      chainId: RULES.chainId,
      timestamp: 1_700_000_000n,
      gasLimit: 60_000_000n,
      transactionGasMax: TRANSACTION_GAS_MAX,
      alloc,
      isWritePermissioned: false,
      isReadPermissioned: false,
      replicaPublicKeys: [],
    };
    const contracts = [
      contract(ATTACK_ADDRESS, code),
      contract(BOMB_ADDRESS, BOMB_CODE),
      contract(LARGE_ADDRESS, LARGE_CODE),
    ];
    const genesis = buildGenesis(config, contracts, this.database);
    this.#parent = { header: genesis.block.header, hash: genesis.hash };
  }

  /** A block that is filled with transactions of this gas limit each. */
  attack(gasLimits: readonly bigint[]): BatchResult {
    const transactions = gasLimits.map((gasLimit, index) => toTransaction(index, gasLimit));
    const consensusHash = keccak256(this.#parent.hash);
    const batch = { transactions, consensusHash, timestampMs: 1_700_000_001_000 };
    const blockHash = (): Uint8Array => this.#parent.hash;
    const dependencies = { database: this.database, blockHash, codes: this.#codes };
    return executeBatch(batch, this.#parent, RULES, dependencies);
  }
}

/** A full block: three of the largest transactions and one that takes the rest. */
export const FULL_BLOCK: readonly bigint[] = [
  TRANSACTION_GAS_MAX,
  TRANSACTION_GAS_MAX,
  TRANSACTION_GAS_MAX,
  60_000_000n - 3n * TRANSACTION_GAS_MAX,
];

/** Recovered from nothing: execution does not look at signatures. */
function toTransaction(index: number, gasLimit: bigint): RecoveredTransaction {
  const transaction: Transaction = {
    type: 0,
    chainId: RULES.chainId,
    nonce: 0n,
    gasLimit,
    gasPrice: 0n,
    to: ATTACK_ADDRESS,
    value: 0n,
    data: new Uint8Array(0),
    yParity: 0,
    r: 1n,
    s: 1n,
  };
  const encoded = Uint8Array.of(0xc0 + index);
  const sender = BigInt(bytesToHex(keccak256(encoded))) >> 96n;
  return { transaction, encoded, hash: keccak256(encoded), sender };
}
