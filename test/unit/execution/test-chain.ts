/** A small chain for tests of execution: funded keys, a database, batches on top of each other. */
import { createGenesisBlock } from "../../../src/chain/genesis-block.ts";
import type { GenesisConfig } from "../../../src/chain/genesis.ts";
import { publicKeyToAddress } from "../../../src/chain/address.ts";
import { encodeTransaction } from "../../../src/chain/transaction-encoder.ts";
import {
  type RecoveredTransaction,
  recoverTransaction,
  signTransaction,
} from "../../../src/chain/transaction-sender.ts";
import type { UnsignedTransaction } from "../../../src/chain/transaction.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { publicKeyOf } from "../../../src/crypto/secp256k1.ts";
import type { BlockContext } from "../../../src/evm/message.ts";
import type { ChainRules } from "../../../src/chain/chain-rules.ts";
import {
  type BatchDependencies,
  type BatchResult,
  executeBatch,
  type ParentBlock,
} from "../../../src/execution/execute-batch.ts";
import { buildGenesis, type PredeployedContract } from "../../../src/execution/genesis-state.ts";
import { MemoryStore } from "../../../src/state/memory-store.ts";
import { StateDatabase } from "../../../src/state/state-database.ts";

export const CHAIN_ID = 5000n;
export const KEYS: readonly Uint8Array[] = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte));
export const ADDRESSES: readonly bigint[] = KEYS.map((key) => publicKeyToAddress(publicKeyOf(key)));
export const RICH = 10n ** 21n;

export const RULES: ChainRules = {
  chainId: CHAIN_ID,
  fork: "prague",
  transactionGasMax: 16_777_216n,
  baseFee: 0n,
};

export const GENESIS: GenesisConfig = {
  chainId: CHAIN_ID,
  timestamp: 1_669_939_260n,
  gasLimit: 60_000_000n,
  transactionGasMax: 16_777_216n,
  alloc: ADDRESSES.map((address) => ({ address, balance: RICH })),
  isWritePermissioned: false,
  isReadPermissioned: false,
  replicaPublicKeys: [],
};

export class TestChain {
  readonly database = new StateDatabase({}, new MemoryStore());
  readonly rules: ChainRules;
  readonly parents: ParentBlock[];
  readonly #permits: BatchDependencies["permits"];

  constructor(
    contracts: readonly PredeployedContract[] = [],
    rules: Partial<ChainRules> = {},
    permits?: BatchDependencies["permits"],
    config: GenesisConfig = GENESIS,
  ) {
    this.rules = { ...RULES, ...rules };
    this.#permits = permits;
    const genesis = buildGenesis(config, contracts, this.database);
    this.parents = [{ header: genesis.block.header, hash: genesis.hash }];
  }

  get parent(): ParentBlock {
    return this.parents.at(-1) ?? rootBlock();
  }

  execute(...transactions: readonly RecoveredTransaction[]): BatchResult {
    const consensusHash = keccak256(this.parent.hash);
    const timestampMs = 1_700_000_000_999 + this.parents.length;
    const batch = { transactions, consensusHash, timestampMs };
    const result = executeBatch(batch, this.parent, this.rules, {
      database: this.database,
      blockHash: (number) => this.parents[Number(number)]?.hash ?? new Uint8Array(32),
      permits: this.#permits,
    });
    if (result.block !== undefined) {
      this.parents.push({ header: result.block.block.header, hash: result.block.hash });
    }
    return result;
  }

  /** What a call on the latest state sees. */
  blockContext(): BlockContext {
    const { header } = this.parent;
    return {
      number: header.number,
      timestamp: header.timestamp,
      coinbase: header.coinbase,
      gasLimit: header.gasLimit,
      baseFee: this.rules.baseFee,
      blobBaseFee: 1n,
      prevRandao: 0n,
      blockHash: () => 0n,
    };
  }
}

/** A signed transaction; what is not given is what a plain transfer of nothing has. */
export function transactionOf(
  keyIndex: number,
  fields: Partial<Extract<UnsignedTransaction, { type: 2 }>>,
): RecoveredTransaction {
  const unsigned: UnsignedTransaction = {
    type: 2,
    chainId: CHAIN_ID,
    nonce: 0n,
    gasLimit: 100_000n,
    to: 0xaaaan,
    value: 0n,
    data: new Uint8Array(0),
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
    accessList: [],
    ...fields,
  };
  return recovered(unsigned, keyIndex);
}

export function recovered(unsigned: UnsignedTransaction, keyIndex: number): RecoveredTransaction {
  const key = KEYS[keyIndex] ?? new Uint8Array(32);
  const result = recoverTransaction(encodeTransaction(signTransaction(unsigned, key)));
  if (!result.ok) throw new Error(result.error.code);
  return result.value;
}

function rootBlock(): ParentBlock {
  const { block, hash } = createGenesisBlock(GENESIS, new Uint8Array(32));
  return { header: block.header, hash };
}
