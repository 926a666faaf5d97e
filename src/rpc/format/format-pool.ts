/** What waits in the pool, by sender and nonce, as the txpool methods show it. */
import type { RecoveredTransaction } from "../../chain/transaction-sender.ts";
import type { PoolReader } from "../../api/chain-reader.ts";
import type { JsonObject } from "../params/parameters.ts";

type Format = (transaction: RecoveredTransaction) => unknown;

export async function formatPool(
  reader: PoolReader,
  senderToText: (sender: bigint) => string,
  format: Format,
): Promise<JsonObject> {
  const pending: Record<string, JsonObject> = {};
  const queued: Record<string, JsonObject> = {};
  for (const content of await reader.poolContent()) {
    const sender = senderToText(content.sender);
    if (content.executable.length > 0) pending[sender] = byNonce(content.executable, format);
    if (content.queued.length > 0) queued[sender] = byNonce(content.queued, format);
  }
  return { pending, queued };
}

/** The nonces are decimal. */
export function byNonce(transactions: readonly RecoveredTransaction[], format: Format): JsonObject {
  return Object.fromEntries(
    transactions.map((one) => [one.transaction.nonce.toString(), format(one)]),
  );
}
