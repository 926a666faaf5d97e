/**
 * eth_createAccessList: the accounts and slots that a transaction touches. A list changes gas, and
 * gas may change the path: so it runs again with its own list until that no longer changes.
 */
import { ok, type Result } from "../../base/result.ts";
import { createdAddress } from "../../chain/address.ts";
import type { AccessList, UnsignedTransaction } from "../../chain/transaction.ts";
import { precompilesOf } from "../../evm/precompiles/registry.ts";
import type { Step, Tracer } from "../../evm/tracer.ts";
import { type CallEnvironment, runCall } from "./call.ts";
import type { DropReason } from "../drop-reason.ts";
import { touchedByStep } from "../touched-by-step.ts";
import type { ExecutedTransaction, TransactionRequest } from "../transaction-request.ts";

export type AccessListResult = {
  readonly accessList: AccessList;
  /** The run with that list; its status may be a failure. */
  readonly execution: ExecutedTransaction;
};

/** Rounds after which the list is given as it is: a contract may make it alternate for ever. */
const ROUNDS_MAX = 8;

export function createAccessList(
  environment: CallEnvironment,
  request: TransactionRequest,
): Result<AccessListResult, DropReason> {
  const excluded = excludedAddresses(environment, request);
  let accessList: AccessList = [];
  for (let round = 1; ; round++) {
    const collector = new AccessCollector(excluded);
    const transaction = withAccessList(request.transaction, accessList, environment.rules.chainId);
    const tracer: Tracer = { onStep: (step) => collector.onStep(step) };
    const result = runCall({ ...environment, tracer }, { ...request, transaction });
    if (!result.ok) return result;
    const found = collector.accessList();
    if (isEqualList(found, accessList) || round === ROUNDS_MAX) {
      return ok({ accessList: found, execution: result.value });
    }
    accessList = found;
  }
}

/** Collects in the order of first access, which is the same on every run. */
class AccessCollector {
  readonly #excluded: ReadonlySet<bigint>;
  readonly #accessed = new Map<bigint, Set<bigint>>();

  constructor(excluded: ReadonlySet<bigint>) {
    this.#excluded = excluded;
  }

  onStep(step: Step): void {
    const touched = touchedByStep(step);
    if (touched === undefined) return;
    const slots = this.#slotsOf(touched.address);
    if (touched.slot !== undefined) slots.add(touched.slot);
  }

  /** An excluded account is listed only for its slots: it is warm anyway. */
  accessList(): AccessList {
    const list = [...this.#accessed].map(([address, slots]) => ({
      address,
      storageKeys: [...slots],
    }));
    return list.filter(
      ({ address, storageKeys }) => storageKeys.length > 0 || !this.#excluded.has(address),
    );
  }

  #slotsOf(address: bigint): Set<bigint> {
    const slots = this.#accessed.get(address) ?? new Set<bigint>();
    this.#accessed.set(address, slots);
    return slots;
  }
}

function excludedAddresses(
  { rules, block }: CallEnvironment,
  { transaction, sender }: TransactionRequest,
): ReadonlySet<bigint> {
  const target = transaction.to ?? createdAddress(sender, transaction.nonce);
  return new Set([sender, target, block.coinbase, ...precompilesOf(rules.fork).keys()]);
}

/** A legacy transaction with a list is one of EIP-2930. */
function withAccessList(
  transaction: UnsignedTransaction,
  accessList: AccessList,
  chainId: bigint,
): UnsignedTransaction {
  if (transaction.type !== 0) return { ...transaction, accessList };
  return { ...transaction, type: 1, chainId, accessList };
}

function isEqualList(a: AccessList, b: AccessList): boolean {
  if (a.length !== b.length) return false;
  return a.every(({ address, storageKeys }, index) => {
    const other = b[index];
    if (other?.address !== address || other.storageKeys.length !== storageKeys.length) return false;
    return storageKeys.every((key, place) => other.storageKeys[place] === key);
  });
}
