import { bytesToHex } from "../../../base/hex.ts";
import type { StateAtReader, TransactionsReader } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";
import { invalidParameter, parseAddressParameter, parseQuantity } from "../../params/parameters.ts";
import { firstBlockWhere } from "../first-block-where.ts";

type Reader = StateAtReader & TransactionsReader;
type Params = { readonly address: bigint; readonly nonce: bigint };

/** A nonce never falls, so the block that used it is found by halving. */
export const otsGetTransactionBySenderAndNonce: Method<Reader, Params> = {
  name: "ots_getTransactionBySenderAndNonce",
  paramsMax: 2,
  parse: ([address, nonce], { dialect }) => ({
    address: parseAddressParameter(address, 0),
    nonce: typeof nonce === "number" ? parseNonce(nonce) : parseQuantity(nonce, 1, dialect, 64),
  }),
  async handle(chain, { address, nonce }) {
    const isUsed = async (number: bigint): Promise<boolean> => {
      const block = await chain.blockByNumber(number);
      const state = block === undefined ? undefined : await chain.stateAt(block);
      return state !== undefined && (await state.nonce(address)) > nonce;
    };
    const block = await firstBlockWhere(chain, isUsed);
    const transactions = block === undefined ? undefined : await chain.transactionsOf(block);
    for (const one of transactions ?? []) {
      if (!("transaction" in one) || one.sender !== address) continue;
      if (one.transaction.nonce === nonce) return bytesToHex(one.hash);
    }
    return null;
  },
};

function parseNonce(value: number): bigint {
  if (Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  throw invalidParameter(1, "a nonce", value);
}
