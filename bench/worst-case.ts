/**
 * The worst microseconds per gas: loops of single opcodes, precompiles, and whole blocks that were
 * made to be slow, on a state of 100,000 accounts, with receipts and state root.
 */
import { AttackChain, FULL_BLOCK, TRANSACTION_GAS_MAX } from "../test/support/attack-chain.ts";
import { ATTACK_PROGRAMS, MIXED_PROGRAM, SLOW_PROGRAMS } from "../test/support/attack-programs.ts";
import { measureWorstCases } from "./evm-worst-case.ts";

const BLOCK_ROUNDS = 5;
const LOOP_GAS = 3_000_000;
const SHOWN_SECONDS_MIN = 0.3;
const BLOCK_GAS = 60_000_000;
const CROWD_COUNT = 100_000;

export function printWorstCases(): void {
  process.stdout.write(row("full blocks of 60,000,000 gas", "s per block", "ns per gas"));
  for (const { name, code } of [...ATTACK_PROGRAMS, ...SLOW_PROGRAMS, MIXED_PROGRAM]) {
    const crowdCount = name.includes("large state") ? CROWD_COUNT : 0;
    const { seconds, gas } = measureBlock(code, crowdCount);
    const used = gas < 0.9 * BLOCK_GAS ? ` (${gas} gas only)` : "";
    const perGas = gas === 0 ? "-" : ((seconds * 1e9) / gas).toFixed(1);
    process.stdout.write(row(`${name}${used}`, seconds.toFixed(3), perGas));
  }
  process.stdout.write(`\n${row("loops of one opcode, from 0.3 s", "s per block", "ns per gas")}`);
  for (const { name, nanosecondsPerGas, slowShare } of measureWorstCases(LOOP_GAS)) {
    const gas = gasPerBlock(slowShare);
    const seconds = (nanosecondsPerGas * gas) / 1e9;
    if (seconds < SHOWN_SECONDS_MIN) continue;
    const used = gas < BLOCK_GAS ? ` (${gas} gas only)` : "";
    process.stdout.write(row(`${name}${used}`, seconds.toFixed(3), nanosecondsPerGas.toFixed(1)));
  }
}

/** As much as fits into one block: slow work beyond an eighth is counted (docs/adr/0010). */
function gasPerBlock(slowShare: number): number {
  const countedShare = slowShare - 1 / 8;
  if (countedShare <= 0) return BLOCK_GAS;
  return Math.min(BLOCK_GAS, Math.floor(Number(TRANSACTION_GAS_MAX) / countedShare));
}

/** The fastest of some runs, after one that also pays for compiling: other work only adds time. */
function measureBlock(
  code: Uint8Array,
  crowdCount: number,
): { readonly seconds: number; readonly gas: number } {
  new AttackChain(code, crowdCount).attack(FULL_BLOCK);
  let seconds = Infinity;
  let gas = 0;
  // A large state takes seconds to make.
  const rounds = crowdCount === 0 ? BLOCK_ROUNDS : 1;
  for (let round = 0; round < rounds; round++) {
    const chain = new AttackChain(code, crowdCount);
    const start = process.cpuUsage();
    const { block } = chain.attack(FULL_BLOCK);
    const { user, system } = process.cpuUsage(start);
    seconds = Math.min(seconds, (user + system) / 1e6);
    gas = Number(block?.block.header.gasUsed ?? 0n);
  }
  return { seconds, gas };
}

function row(name: string, ...figures: readonly string[]): string {
  return `${name.padEnd(80)}${figures.map((figure) => figure.padStart(14)).join("")}\n`;
}
