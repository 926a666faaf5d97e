/** Runs fuzz cases with our own state, EVM and execution. */
import { bytesToHex, type Hex, hexToBytes } from "../../../src/base/hex.ts";
import { addressToHex } from "../../../src/chain/address.ts";
import type { UnsignedTransaction } from "../../../src/chain/transaction.ts";
import type { BlockContext } from "../../../src/evm/message.ts";
import { createEngine } from "../../../src/execution/engine.ts";
import { runTransaction, type TransactionEngine } from "../../../src/execution/run-transaction.ts";
import type { ExecutedTransaction } from "../../../src/execution/transaction-request.ts";
import { Journal } from "../../../src/state/journal.ts";
import { MemoryStore } from "../../../src/state/memory-store.ts";
import { StateDatabase } from "../../../src/state/state-database.ts";
import type { ConcreteTransaction, TransactionOutcome } from "./concrete-transaction.ts";
import {
  FUZZ_BLOCK_GAS_LIMIT,
  FUZZ_BLOCK_NUMBER,
  FUZZ_CHAIN_ID,
  FUZZ_TIMESTAMP,
  type FuzzCase,
} from "./fuzz-case.ts";
import { numberHash } from "./oracle.ts";

const CHAIN_ID = BigInt(FUZZ_CHAIN_ID);

/** Either every transaction is a block of its own, with a root after each, or all are one block. */
export class OwnEngine {
  readonly #database = new StateDatabase({ keepsHistory: false }, new MemoryStore());
  readonly #fork: FuzzCase["fork"];
  readonly #block: BlockContext;
  #engine: TransactionEngine;
  #blocks = 0n;
  /** What was handed out in this block, to see that later transactions do not change it. */
  #given: { readonly result: ExecutedTransaction; readonly outcome: string }[] = [];

  constructor(fuzzCase: FuzzCase) {
    this.#fork = fuzzCase.fork;
    this.#block = blockOf(fuzzCase);
    const journal = new Journal(this.#database);
    for (const account of fuzzCase.accounts) {
      const address = BigInt(account.address);
      journal.setNonce(address, BigInt(account.nonce));
      journal.setBalance(address, BigInt(account.balance));
      journal.setCode(address, hexToBytes(account.code));
      for (const [slot, value] of Object.entries(account.storage)) {
        journal.setStorage(address, BigInt(slot), BigInt(value));
      }
    }
    this.#database.commit(this.#blocks++, journal.blockChanges());
    this.#engine = this.#createEngine();
  }

  /** Ends the block: what comes next reads the committed state. */
  commit(): Hex {
    for (const { result, outcome } of this.#given) {
      const isKept = JSON.stringify(outcomeOf(result), bigintToText) === outcome;
      if (!isKept) throw new Error("a later transaction changed an earlier one's result");
    }
    this.#given = [];
    const root = this.#database.commit(this.#blocks++, this.#engine.journal.blockChanges());
    this.#engine = this.#createEngine();
    return bytesToHex(root);
  }

  run(transaction: ConcreteTransaction): TransactionOutcome {
    const request = { transaction: toTransaction(transaction), sender: BigInt(transaction.sender) };
    const result = runTransaction(this.#engine, request, this.#block, this.#block.gasLimit);
    if (!result.ok) return { kind: "refused" };
    const outcome = outcomeOf(result.value);
    this.#given.push({ result: result.value, outcome: JSON.stringify(outcome, bigintToText) });
    return outcome;
  }

  #createEngine(): TransactionEngine {
    const rules = { fork: this.#fork, chainId: CHAIN_ID, transactionGasMax: undefined };
    return createEngine(rules, this.#database);
  }
}

function outcomeOf(result: ExecutedTransaction): TransactionOutcome {
  const { status, gasUsed, output, logs, createdAddress } = result;
  return {
    kind: "executed",
    succeeded: status === "success",
    gasUsed,
    output: bytesToHex(output),
    logs: logs.map(({ address, topics, data }) =>
      [addressToHex(address), ...topics.map(wordToHex), bytesToHex(data)].join(" "),
    ),
    createdAddress: createdAddress === undefined ? undefined : addressToHex(createdAddress),
  };
}

function bigintToText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

function blockOf(fuzzCase: FuzzCase): BlockContext {
  return {
    number: BigInt(FUZZ_BLOCK_NUMBER),
    timestamp: BigInt(FUZZ_TIMESTAMP),
    coinbase: BigInt(fuzzCase.coinbase),
    gasLimit: BigInt(FUZZ_BLOCK_GAS_LIMIT),
    baseFee: BigInt(fuzzCase.baseFee),
    blobBaseFee: 1n,
    prevRandao: BigInt(bytesToHex(numberHash(1n))),
    blockHash: (number) => BigInt(bytesToHex(numberHash(number))),
  };
}

function toTransaction(transaction: ConcreteTransaction): UnsignedTransaction {
  const shared = {
    nonce: transaction.nonce,
    gasLimit: BigInt(transaction.gasLimit),
    to: transaction.to === undefined ? undefined : BigInt(transaction.to),
    value: transaction.value,
    data: hexToBytes(transaction.data),
    chainId: CHAIN_ID,
  };
  const maxFee = BigInt(transaction.maxFee);
  if (transaction.type === 0) return { ...shared, type: 0, gasPrice: maxFee };
  const accessList = transaction.accessList.map(({ address, slots }) => ({
    address: BigInt(address),
    storageKeys: slots.map(BigInt),
  }));
  if (transaction.type === 1) return { ...shared, type: 1, accessList, gasPrice: maxFee };
  const maxPriorityFeePerGas = BigInt(transaction.priorityFee);
  const priced = { ...shared, accessList, maxFeePerGas: maxFee, maxPriorityFeePerGas };
  if (transaction.type === 2) return { ...priced, type: 2 };
  const authorizationList = transaction.authorizations.map((authorization) => ({
    ...authorization,
    address: BigInt(authorization.address),
  }));
  return { ...priced, type: 4, to: priced.to ?? 0n, authorizationList };
}

function wordToHex(word: bigint): Hex {
  return `0x${word.toString(16).padStart(64, "0")}`;
}
