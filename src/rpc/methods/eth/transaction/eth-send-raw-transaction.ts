import { bytesToHex } from "../../../../base/hex.ts";
import type { Submitter } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { parseData } from "../../../params/parameters.ts";
import { refusalTo } from "../../../format/failure-error.ts";

/** The hash acknowledges the transaction: it is durable when the hash is returned (SPEC E13). */
export const ethSendRawTransaction: Method<Submitter, Uint8Array> = {
  name: "eth_sendRawTransaction",
  paramsMax: 1,
  parse: ([transaction]) => parseData(transaction, 0),
  async handle(submitter, transaction, context) {
    const submitted = await submitter.submitRaw(transaction, await context.caller?.());
    if (!submitted.ok) throw await refusalTo(submitted.error, context);
    return bytesToHex(submitted.value);
  },
};
