import { bytesToHex } from "../../../base/hex.ts";
import { keccak256 } from "../../../crypto/keccak256.ts";
import type { Method } from "../../method.ts";
import { parseData } from "../../params/parameters.ts";

/** Keccak-256, whatever the name says. */
export const web3Sha3: Method<unknown, Uint8Array> = {
  name: "web3_sha3",
  paramsMax: 1,
  parse: ([data]) => parseData(data, 0),
  handle: (_reader, data) => bytesToHex(keccak256(data)),
};
