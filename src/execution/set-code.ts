/** EIP-7702: accounts that let another contract's code stand for theirs. */
import { DELEGATION_SIZE, isDelegation } from "../chain/delegation.ts";
import type { UnsignedTransaction } from "../chain/transaction.ts";
import { authorizationListOf } from "../chain/transaction.ts";
import { recoverAuthority } from "../chain/transaction-sender.ts";
import type { Journal } from "../state/journal.ts";
import { writeBigEndian } from "../base/big-endian.ts";

/** Given back per authority that exists: each was charged as a new account. */
const EXISTING_AUTHORITY_REFUND = 12_500;

/**
 * Processes the list in order. An authorization that does not hold is skipped without a trace,
 * except that its authority stays warm. What is set here stays even if the transaction reverts.
 * Returns the authorities whose nonce was used.
 */
export function applyAuthorizations(
  journal: Journal,
  transaction: UnsignedTransaction,
  chainId: bigint,
): readonly bigint[] {
  const authorizations = authorizationListOf(transaction);
  if (authorizations.length === 0) return NO_AUTHORITIES;
  const applied: bigint[] = [];
  for (const authorization of authorizations) {
    const authority = recoverAuthority(authorization, chainId);
    if (authority === undefined) continue;
    journal.warmAddress(authority);
    const { bytes } = journal.code(authority);
    if (bytes.length > 0 && !isDelegation(bytes)) continue;
    if (journal.nonce(authority) !== authorization.nonce) continue;
    if (journal.exists(authority)) journal.addRefund(EXISTING_AUTHORITY_REFUND);
    journal.setCode(authority, delegationTo(authorization.address));
    journal.setNonce(authority, authorization.nonce + 1n);
    applied.push(authority);
  }
  return applied;
}

/** The zero address takes the delegation away. */
function delegationTo(address: bigint): Uint8Array {
  if (address === 0n) return NO_CODE;
  const code = new Uint8Array(DELEGATION_SIZE);
  code[0] = 0xef;
  code[1] = 0x01;
  writeBigEndian(address, code, 3, 20);
  return code;
}

const NO_CODE = new Uint8Array(0);
const NO_AUTHORITIES: readonly bigint[] = [];
