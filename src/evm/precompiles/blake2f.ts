import { blake2fCompress } from "../../crypto/blake2f.ts";
import type { Precompile } from "../precompile.ts";

const INPUT_SIZE = 213;
const FINAL_FLAG_OFFSET = 212;

/** 0x09: the compression function of BLAKE2b with a chosen number of rounds (EIP-152). */
export const blake2f: Precompile = {
  name: "blake2f",
  gasCost: (input) => (input.length === INPUT_SIZE ? roundCount(input) : 0),
  run(input) {
    if (input.length !== INPUT_SIZE) return undefined;
    const flag = input[FINAL_FLAG_OFFSET];
    if (flag !== 0 && flag !== 1) return undefined;
    return blake2fCompress(roundCount(input), input.subarray(4, FINAL_FLAG_OFFSET), flag === 1);
  },
};

function roundCount(input: Uint8Array): number {
  return new DataView(input.buffer, input.byteOffset, 4).getUint32(0);
}
