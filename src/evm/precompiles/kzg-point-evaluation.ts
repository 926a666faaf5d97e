import { equalBytes } from "../../base/bytes.ts";
import { verifyKzgProof } from "../../crypto/kzg.ts";
import { sha256 } from "../../crypto/sha256.ts";
import type { Precompile } from "../precompile.ts";

const INPUT_SIZE = 192;
const VERSIONED_HASH_KZG = 1;

/** 4096 field elements per blob, then the order of the scalar field (EIP-4844). */
const ANSWER = Uint8Array.from(
  [0x10_00n, 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n].flatMap((word) =>
    Array.from({ length: 32 }, (_, index) => byteOf(word, 31 - index)),
  ),
);

/** 0x0a: whether the polynomial behind a commitment has value y at z. */
export const kzgPointEvaluation: Precompile = {
  name: "kzgPointEvaluation",
  gasCost: () => 50_000,
  run(input) {
    if (input.length !== INPUT_SIZE) return undefined;
    const commitment = input.subarray(96, 144);
    const versionedHash = sha256(commitment).slice();
    versionedHash[0] = VERSIONED_HASH_KZG;
    if (!equalBytes(versionedHash, input.subarray(0, 32))) return undefined;
    const z = input.subarray(32, 64);
    const y = input.subarray(64, 96);
    const isProven = verifyKzgProof(commitment, z, y, input.subarray(144));
    return isProven ? ANSWER.slice() : undefined;
  },
};

function byteOf(word: bigint, index: number): number {
  return Number((word >> BigInt(8 * index)) & 0xffn);
}
