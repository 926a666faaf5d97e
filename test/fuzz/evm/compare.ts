/** Runs one case in both engines, transaction by transaction, and says where they part. */
import {
  type ConcreteTransaction,
  fillIn,
  type TransactionOutcome,
} from "./concrete-transaction.ts";
import { type FuzzCase, SENDER_KEYS } from "./fuzz-case.ts";
import { Oracle } from "./oracle.ts";
import { OwnEngine } from "./own-engine.ts";

export type Comparison = {
  readonly transactions: number;
  readonly executed: number;
  readonly difference: string | undefined;
};

/** Ours runs twice: a block per transaction, and all in one block, as on the network. */
export async function compareCase(fuzzCase: FuzzCase): Promise<Comparison> {
  const oracle = await Oracle.open(fuzzCase);
  const ours = new OwnEngine(fuzzCase);
  const oursInOneBlock = new OwnEngine(fuzzCase);
  let executed = 0;
  let root: string | undefined;
  for (const [index, transaction] of fuzzCase.transactions.entries()) {
    const concrete = fillIn(transaction, await readNonces(oracle));
    const theirs = await oracle.run(concrete);
    root = await oracle.stateRoot();
    const difference =
      findDifference(ours, concrete, theirs, root) ??
      findDifference(oursInOneBlock, concrete, theirs, undefined);
    if (difference !== undefined) {
      const text = `transaction ${index}: ${difference}`;
      return { transactions: index + 1, executed, difference: text };
    }
    if (theirs.kind === "executed") executed++;
  }
  const last = commitOwn(oursInOneBlock);
  const isEqual = root === undefined || last === root;
  const difference = isEqual ? undefined : `one block: ${last}, oracle ${root ?? ""}`;
  return { transactions: fuzzCase.transactions.length, executed, difference };
}

async function readNonces(oracle: Oracle): Promise<(sender: number) => bigint> {
  const nonces: bigint[] = [];
  for (let sender = 0; sender < SENDER_KEYS.length; sender++) {
    nonces.push(await oracle.nonceOf(sender));
  }
  return (sender) => nonces[sender] ?? 0n;
}

/** With a root given, the transaction is a block of its own. */
function findDifference(
  ours: OwnEngine,
  transaction: ConcreteTransaction,
  theirs: TransactionOutcome,
  root: string | undefined,
): string | undefined {
  const own = runOwn(ours, transaction);
  const difference = typeof own === "string" ? own : describeDifference(own, theirs);
  if (difference !== undefined || root === undefined) return difference;
  const ownRoot = ours.commit();
  return ownRoot === root ? undefined : `state root: ours ${ownRoot}, oracle ${root}`;
}

/** A crash of ours is a difference like any other, and can be shrunk. */
function runOwn(ours: OwnEngine, transaction: ConcreteTransaction): TransactionOutcome | string {
  try {
    return ours.run(transaction);
  } catch (error) {
    return `ours threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  }
}

function commitOwn(ours: OwnEngine): string {
  try {
    return ours.commit();
  } catch (error) {
    return `ours threw ${error instanceof Error ? error.message : String(error)}`;
  }
}

function describeDifference(
  ours: TransactionOutcome,
  theirs: TransactionOutcome,
): string | undefined {
  if (ours.kind === "refused" || theirs.kind === "refused") {
    return ours.kind === theirs.kind ? undefined : `ours ${ours.kind}, oracle ${theirs.kind}`;
  }
  for (const field of ["succeeded", "gasUsed", "output", "createdAddress"] as const) {
    if (ours[field] === theirs[field]) continue;
    return `${field}: ours ${String(ours[field])}, oracle ${String(theirs[field])}`;
  }
  const [own, other] = [ours.logs.join("\n"), theirs.logs.join("\n")];
  return own === other ? undefined : `logs: ours\n${own}\noracle\n${other}`;
}
