/**
 * Makes a failing case smaller while it still fails: fewer transactions, accounts and lists, then
 * shorter and emptier code. Greedy, with a bound on the number of trials.
 */
import { bytesToHex, type Hex, hexToBytes } from "../../../src/base/hex.ts";
import { OP } from "./assembler.ts";
import type { FuzzCase } from "./fuzz-case.ts";

const TRIALS_MAX = 1500;

export async function shrinkCase(
  fuzzCase: FuzzCase,
  fails: (candidate: FuzzCase) => Promise<boolean>,
): Promise<FuzzCase> {
  let smallest = fuzzCase;
  let trials = 0;
  for (let progress = true; progress && trials < TRIALS_MAX;) {
    progress = false;
    for (const candidate of smaller(smallest)) {
      if (++trials > TRIALS_MAX) break;
      if (!(await fails(candidate))) continue;
      smallest = candidate;
      progress = true;
      break;
    }
  }
  return smallest;
}

/** Candidates from the boldest cut to the finest. */
function* smaller(fuzzCase: FuzzCase): Generator<FuzzCase> {
  const { transactions, accounts } = fuzzCase;
  for (const index of transactions.keys()) {
    yield { ...fuzzCase, transactions: transactions.toSpliced(index, 1) };
  }
  for (const index of accounts.keys()) {
    yield { ...fuzzCase, accounts: accounts.toSpliced(index, 1) };
  }
  for (const [index, transaction] of transactions.entries()) {
    for (const change of smallerTransactions(transaction)) {
      yield { ...fuzzCase, transactions: transactions.with(index, { ...transaction, ...change }) };
    }
  }
  for (const [index, account] of accounts.entries()) {
    if (Object.keys(account.storage).length > 0) {
      yield { ...fuzzCase, accounts: accounts.with(index, { ...account, storage: {} }) };
    }
    for (const code of smallerCodes(account.code)) {
      yield { ...fuzzCase, accounts: accounts.with(index, { ...account, code }) };
    }
  }
}

type Transaction = FuzzCase["transactions"][number];

function* smallerTransactions(transaction: Transaction): Generator<Partial<Transaction>> {
  const { accessList, authorizations, data, value } = transaction;
  if (accessList.length > 0) yield { accessList: [] };
  if (authorizations.length > 1) {
    for (const index of authorizations.keys()) {
      yield { authorizations: authorizations.toSpliced(index, 1) };
    }
  }
  if (value !== "0x0") yield { value: "0x0" };
  for (const smallerData of smallerCodes(data)) yield { data: smallerData };
}

/** Cuts tails off and blanks ranges with JUMPDEST, which keeps jump targets where they are. */
function* smallerCodes(code: Hex): Generator<Hex> {
  const bytes = hexToBytes(code);
  if (bytes.length === 0) return;
  yield "0x";
  for (let size = bytes.length >> 1; size > 0; size >>= 1) {
    yield bytesToHex(bytes.subarray(0, bytes.length - size));
  }
  const starts = instructionStarts(bytes);
  for (let count = starts.length >> 1; count > 0; count >>= 1) {
    for (let first = 0; first + count <= starts.length; first += count) {
      const from = starts[first] ?? 0;
      const to = starts[first + count] ?? bytes.length;
      const blanked = bytes.slice().fill(OP.JUMPDEST, from, to);
      const text = bytesToHex(blanked);
      if (text !== code) yield text;
    }
  }
}

function instructionStarts(bytes: Uint8Array): number[] {
  const starts: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    starts.push(at);
    const opcode = bytes[at] ?? 0;
    if (opcode > OP.PUSH0 && opcode < OP.DUP1) at += opcode - OP.PUSH0;
  }
  return starts;
}
