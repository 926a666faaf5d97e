import type { Method } from "../../../method.ts";

/** This chain takes no blobs: their price stays at its least. */
export const ethBlobBaseFee: Method<unknown, undefined> = {
  name: "eth_blobBaseFee",
  paramsMax: 0,
  parse: () => undefined,
  handle: () => "0x1",
};
