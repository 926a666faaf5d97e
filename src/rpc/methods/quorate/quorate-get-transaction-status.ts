import type { StatusReader } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";
import { parseHash } from "../../params/parameters.ts";
import { quantity } from "../../format/quantity.ts";

/** What became of a transaction, and why it was refused if it was (SPEC E11). */
export const quorateGetTransactionStatus: Method<StatusReader, Uint8Array> = {
  name: "quorate_getTransactionStatus",
  paramsMax: 1,
  parse: ([hash]) => parseHash(hash, 0),
  async handle(node, hash) {
    const status = await node.transactionStatus(hash);
    if (status === undefined) return null;
    switch (status.kind) {
      case "final": {
        const { number, index } = status;
        return {
          status: "final",
          blockNumber: quantity(number),
          transactionIndex: quantity(index),
        };
      }
      case "pending":
        return { status: "pending", reason: status.code ?? null };
      case "refused":
        return { status: "refused", reason: status.code, timestampMs: status.refusedMs };
    }
  },
};
