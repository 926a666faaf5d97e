/** Sender recovery in place and on other threads: processor time and wall time of each. */
import { encodeTransaction } from "../src/chain/transaction-encoder.ts";
import { recoverTransaction, signTransaction } from "../src/chain/transaction-sender.ts";
import { SignatureRecoveryPool } from "../src/ledger/signature-recovery-pool.ts";

const COUNT = 4_096;
const ROUNDS = 5;

type Measured = { readonly cpuUs: number; readonly wallUs: number; readonly mainUs: number };

/** Prints microseconds per transaction: of all threads, on the clock, and of the main thread. */
export async function benchSenderPool(): Promise<void> {
  const transactions = Array.from({ length: COUNT }, (_, index) => signed(index));
  console.log("threads  batch  cpu us  wall us  main thread us");
  report(0, 1, await measure(() => inPlace(transactions)));
  for (const threads of [1, 2]) {
    const pool = new SignatureRecoveryPool(threads);
    await pool.recover(transactions.slice(0, 64));
    for (const batch of [16, 64, 256]) {
      report(threads, batch, await measure(() => onThreads(pool, transactions, batch)));
    }
    await pool.close();
  }
}

function inPlace(transactions: readonly Uint8Array[]): Promise<void> {
  for (const bytes of transactions) recoverTransaction(bytes);
  return Promise.resolve();
}

async function onThreads(
  pool: SignatureRecoveryPool,
  transactions: readonly Uint8Array[],
  batch: number,
): Promise<void> {
  const parts: Promise<unknown>[] = [];
  for (let at = 0; at < transactions.length; at += batch) {
    parts.push(pool.recover(transactions.slice(at, at + batch)));
  }
  await Promise.all(parts);
}

/** The best of some rounds: the machine may have other work. */
async function measure(act: () => Promise<void>): Promise<Measured> {
  let best: Measured | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const cpu = process.cpuUsage();
    const main = process.threadCpuUsage();
    const startMs = performance.now();
    await act();
    const wallUs = (1_000 * (performance.now() - startMs)) / COUNT;
    const { user, system } = process.cpuUsage(cpu);
    const used = process.threadCpuUsage(main);
    const mainUs = (used.user + used.system) / COUNT;
    const measured = { cpuUs: (user + system) / COUNT, wallUs, mainUs };
    if (best === undefined || measured.cpuUs < best.cpuUs) best = measured;
  }
  return best ?? { cpuUs: 0, wallUs: 0, mainUs: 0 };
}

function report(threads: number, batch: number, { cpuUs, wallUs, mainUs }: Measured): void {
  const cells = [threads, batch, cpuUs.toFixed(1), wallUs.toFixed(1), mainUs.toFixed(1)];
  console.log(cells.map((cell) => String(cell).padStart(7)).join("  "));
}

function signed(index: number): Uint8Array {
  const key = new Uint8Array(32).fill(1 + (index % 200));
  const transaction = {
    ...({ type: 2, chainId: 5000n, nonce: BigInt(index), maxPriorityFeePerGas: 0n } as const),
    ...{ maxFeePerGas: 0n, gasLimit: 60_000n, to: 1n, value: 0n },
    ...{ data: new Uint8Array(68).fill(index % 256), accessList: [] },
  };
  return encodeTransaction(signTransaction(transaction, key));
}
