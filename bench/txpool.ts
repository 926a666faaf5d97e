/** What the pool costs per transaction: letting in, proposing, following a block. */
import type { RecoveredTransaction } from "../src/chain/transaction-sender.ts";
import { DEFAULT_POOL_OPTIONS } from "../src/txpool/pool-options.ts";
import { TxPool } from "../src/txpool/tx-pool.ts";

const SENDERS = 200;
const TRANSACTIONS = 30_000;
const BLOCK_TRANSACTIONS = 1_000;
const ROUNDS = 4;

export type TxPoolFigures = {
  readonly addUs: number;
  readonly proposeUs: number;
  readonly onBlockUs: number;
};

/** The fastest of a few rounds, in microseconds per transaction. */
export function benchTxpool(): TxPoolFigures {
  const transactions = Array.from({ length: TRANSACTIONS }, (_, index) => {
    return transactionOf(BigInt(1 + (index % SENDERS)), BigInt(Math.floor(index / SENDERS)), index);
  });
  const rounds = Array.from({ length: ROUNDS }, () => measureRound(transactions));
  const best = (key: keyof TxPoolFigures): number =>
    Number(Math.min(...rounds.map((round) => round[key])).toFixed(2));
  return { addUs: best("addUs"), proposeUs: best("proposeUs"), onBlockUs: best("onBlockUs") };
}

function measureRound(transactions: readonly RecoveredTransaction[]): TxPoolFigures {
  const pool = new TxPool(DEFAULT_POOL_OPTIONS, { nonceOf: () => 0n, balanceOf: () => 1n });
  const addUs = measureUs(() => {
    for (const transaction of transactions) pool.add(transaction, { source: "rpc", nowMs: 0 });
  });
  let proposeUs = 0;
  let onBlockUs = 0;
  while (pool.status().executable > 0) {
    const batch: RecoveredTransaction[] = [];
    proposeUs += measureUs(() => {
      for (const transaction of pool.executables()) {
        if (batch.push(transaction) === BLOCK_TRANSACTIONS) break;
      }
    });
    const nonces = new Map(batch.map(({ sender, transaction }) => [sender, transaction.nonce]));
    const accounts = Array.from(nonces, ([address, nonce]) => {
      return { address, nonce: nonce + 1n, balance: 1n };
    });
    const included = batch.map(({ hash }) => hash);
    onBlockUs += measureUs(() => pool.onBlock({ accounts, included }));
  }
  const count = transactions.length;
  return { addUs: addUs / count, proposeUs: proposeUs / count, onBlockUs: onBlockUs / count };
}

function transactionOf(sender: bigint, nonce: bigint, index: number): RecoveredTransaction {
  const hash = new Uint8Array(32);
  new DataView(hash.buffer).setUint32(28, Math.imul(index, 0x9e3779b1) >>> 0);
  const shared = { nonce, gasLimit: 60_000n, to: 1n, value: 0n, data: new Uint8Array(0) };
  const signature = { yParity: 0, r: 1n, s: 1n } as const;
  const transaction = { ...shared, ...signature, type: 0, chainId: 1n, gasPrice: 0n } as const;
  return { transaction, encoded: new Uint8Array(110), hash, sender };
}

/** CPU time, because other work on the machine is not the pool's. */
function measureUs(work: () => unknown): number {
  const started = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(started);
  return user + system;
}
