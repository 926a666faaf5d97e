/**
 * The whole path of a block: 1,000 ERC-20 transfers from 1,000 senders, already recovered, are
 * executed, their receipts made and rooted, the state root computed and the block built.
 */
import { bytesToHex } from "../src/base/hex.ts";
import { COINBASE_ADDRESS } from "../src/chain/genesis-block.ts";
import { receiptsRoot } from "../src/chain/receipt.ts";
import { encodeTransaction, transactionHash } from "../src/chain/transaction-encoder.ts";
import type { RecoveredTransaction } from "../src/chain/transaction-sender.ts";
import type { Transaction } from "../src/chain/transaction.ts";
import { AnalyzedCodeCache } from "../src/evm/analyzed-code.ts";
import { keccak256 } from "../src/crypto/keccak256.ts";
import type { ChainRules } from "../src/chain/chain-rules.ts";
import { createEngine } from "../src/execution/engine.ts";
import {
  type BatchResult,
  executeBatch,
  type ParentBlock,
} from "../src/execution/execute-batch.ts";
import { buildGenesis } from "../src/execution/genesis-state.ts";
import { runTransaction } from "../src/execution/run-transaction.ts";
import { MemoryStore } from "../src/state/memory-store.ts";
import { StateDatabase } from "../src/state/state-database.ts";
import { callData, runtimeCode } from "./support/contract-bytecode.ts";
import { median, microsSince } from "./support/cpu-time.ts";

const SENDER_COUNT = 1000;
const ROUNDS = 15;
const WARM_UP_ROUNDS = 5;
const TOKEN = 0x70ce4n;
const RULES: ChainRules = {
  chainId: 5000n,
  fork: "prague",
  transactionGasMax: 16_777_216n,
  baseFee: 0n,
};

export function printExecutionBench(): void {
  const chain = new BenchChain();
  const totals: number[] = [];
  const executions: number[] = [];
  const receipts: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const transactions = drawTransfers(round);
    const executionMicros = chain.measureExecutionOnly(transactions);
    const start = process.cpuUsage();
    const result = chain.execute(transactions);
    const totalMicros = microsSince(start);
    if (result.included.length !== SENDER_COUNT) throw new Error("a transfer was dropped");
    const receiptMicros = measureReceipts(result);
    if (round < WARM_UP_ROUNDS) continue;
    totals.push(totalMicros / SENDER_COUNT);
    executions.push(executionMicros / SENDER_COUNT);
    receipts.push(receiptMicros / SENDER_COUNT);
  }
  const [total, execution, receipt] = [median(totals), median(executions), median(receipts)];
  const rest = total - execution - receipt;
  process.stdout.write(
    `${SENDER_COUNT} ERC-20 transfers, microseconds of CPU each (median of ${totals.length} blocks)\n` +
      `  execute            ${execution.toFixed(1)}\n` +
      `  receipts' root     ${receipt.toFixed(1)}\n` +
      `  state root, blooms, transactions' root and the rest ${rest.toFixed(1)}\n` +
      `  whole path         ${total.toFixed(1)}  (goal: under 60)\n`,
  );
}

class BenchChain {
  readonly #database = new StateDatabase({}, new MemoryStore());
  readonly #codes = new AnalyzedCodeCache(10_000_000);
  #parent: ParentBlock;

  constructor() {
    const alloc = Array.from({ length: 100 }, (_, index) => ({
      address: 0xabc_0000n + BigInt(index),
      balance: 1n,
    }));
    const config = {
      chainId: RULES.chainId,
      timestamp: 1_700_000_000n,
      gasLimit: 60_000_000n,
      transactionGasMax: 16_777_216n,
      alloc,
      isWritePermissioned: false,
      isReadPermissioned: false,
      replicaPublicKeys: [],
    };
    const storage = Array.from(
      { length: SENDER_COUNT },
      (_, index) => [balanceSlot(senderOf(index)), 10n ** 24n] as const,
    );
    const token = { address: TOKEN, code: runtimeCode("Token"), storage };
    const genesis = buildGenesis(config, [token], this.#database);
    this.#parent = { header: genesis.block.header, hash: genesis.hash };
  }

  /** The EVM and the journal alone, on a state that is thrown away. */
  measureExecutionOnly(transactions: readonly RecoveredTransaction[]): number {
    const engine = createEngine(RULES, this.#database, { codes: this.#codes });
    const { header } = this.#parent;
    const block = {
      number: header.number + 1n,
      timestamp: header.timestamp,
      coinbase: COINBASE_ADDRESS,
      gasLimit: header.gasLimit,
      baseFee: 0n,
      blobBaseFee: 1n,
      prevRandao: 0n,
      blockHash: () => 0n,
    };
    const start = process.cpuUsage();
    for (const transaction of transactions) {
      runTransaction(engine, transaction, block, header.gasLimit);
    }
    return microsSince(start);
  }

  execute(transactions: readonly RecoveredTransaction[]): BatchResult {
    const consensusHash = keccak256(this.#parent.hash);
    const batch = { transactions, consensusHash, timestampMs: 1_700_000_001_000 };
    const blockHash = (): Uint8Array => this.#parent.hash;
    const dependencies = { database: this.#database, blockHash, codes: this.#codes };
    const result = executeBatch(batch, this.#parent, RULES, dependencies);
    if (result.block === undefined) throw new Error("no block was made");
    this.#parent = { header: result.block.block.header, hash: result.block.hash };
    return result;
  }
}

function measureReceipts(result: BatchResult): number {
  const receipts = result.included.map(({ receipt }) => receipt);
  const start = process.cpuUsage();
  receiptsRoot(receipts);
  return microsSince(start);
}

/** Signatures are not checked here, so any will do; everything else is as on the network. */
function drawTransfers(round: number): RecoveredTransaction[] {
  return Array.from({ length: SENDER_COUNT }, (_, index) => {
    const recipient = senderOf((index * 7 + round + 1) % (2 * SENDER_COUNT));
    const transaction: Transaction = {
      type: 2,
      chainId: RULES.chainId,
      nonce: BigInt(round),
      gasLimit: 60_000n,
      to: TOKEN,
      value: 0n,
      data: callData("Token", "transfer(address,uint256)", recipient, 1n),
      maxFeePerGas: 0n,
      maxPriorityFeePerGas: 0n,
      accessList: [],
      yParity: 0,
      r: BigInt(index + 1),
      s: 1n,
    };
    const encoded = encodeTransaction(transaction);
    return { transaction, encoded, hash: transactionHash(transaction), sender: senderOf(index) };
  });
}

function senderOf(index: number): bigint {
  return BigInt(bytesToHex(keccak256(Uint8Array.of(index >> 8, index & 0xff)).subarray(12)));
}

/** Where Token keeps a balance: the mapping at slot 1. */
function balanceSlot(owner: bigint): bigint {
  const hex = `${owner.toString(16).padStart(64, "0")}${"1".padStart(64, "0")}`;
  return BigInt(bytesToHex(keccak256(Uint8Array.from(Buffer.from(hex, "hex")))));
}
