/** What waits in the pool, by sender and nonce, as the txpool methods show it. */
import type { RecoveredTransaction } from "../../chain/transaction-sender.ts";
import type { PoolReader } from "../../api/chain-reader.ts";
import { takeTurns } from "../server/event-loop-turn.ts";
import { jsonList, JsonText } from "../json-text.ts";
import type { JsonObject } from "../params/parameters.ts";
import { RESPONSE_TOO_LARGE, RpcError } from "../rpc-error.ts";

type Format = (transaction: RecoveredTransaction) => unknown;
type Turn = () => Promise<void>;

/**
 * The whole pool as JSON of at most `lengthMax` characters. A full pool takes long to write down,
 * so it is written transaction by transaction, and yields to other work in between.
 */
export async function formatPool(
  reader: PoolReader,
  senderToText: (sender: bigint) => string,
  format: Format,
  lengthMax: number,
): Promise<JsonText> {
  const turn = takeTurns();
  const pending: string[] = [];
  const queued: string[] = [];
  let length = 0;
  for (const content of [...(await reader.poolContent())]) {
    const sender = JSON.stringify(senderToText(content.sender));
    for (const [texts, transactions] of [
      [pending, content.executable],
      [queued, content.queued],
    ] as const) {
      if (transactions.length === 0) continue;
      const text = `${sender}:${await nonceTexts(transactions, format, turn, lengthMax - length)}`;
      length += text.length;
      texts.push(text);
    }
  }
  return new JsonText(`{"pending":{${pending.join(",")}},"queued":{${queued.join(",")}}}`);
}

/** A list of what can be ordered now, in the same way. */
export async function formatExecutables(
  reader: PoolReader,
  format: Format,
  lengthMax: number,
): Promise<JsonText> {
  const turn = takeTurns();
  const texts: string[] = [];
  let length = 0;
  for (const { executable } of [...(await reader.poolContent())]) {
    for (const one of executable) {
      await turn();
      const text = JSON.stringify(format(one));
      length += text.length;
      if (length > lengthMax) throw tooLarge();
      texts.push(text);
    }
  }
  return jsonList(texts);
}

/** The nonces are decimal. */
export function byNonce(transactions: readonly RecoveredTransaction[], format: Format): JsonObject {
  return Object.fromEntries(
    transactions.map((one) => [one.transaction.nonce.toString(), format(one)]),
  );
}

async function nonceTexts(
  transactions: readonly RecoveredTransaction[],
  format: Format,
  turn: Turn,
  lengthMax: number,
): Promise<string> {
  const texts: string[] = [];
  let length = 0;
  for (const one of transactions) {
    await turn();
    const text = `"${one.transaction.nonce}":${JSON.stringify(format(one))}`;
    length += text.length;
    if (length > lengthMax) throw tooLarge();
    texts.push(text);
  }
  return `{${texts.join(",")}}`;
}

function tooLarge(): RpcError {
  return new RpcError(RESPONSE_TOO_LARGE, "response too large; ask for less at a time");
}
