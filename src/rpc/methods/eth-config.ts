import { crc32 } from "node:zlib";
import { addressToHex } from "../../chain/address.ts";
import type { BlockReader, NetworkReader } from "../chain-reader.ts";
import { requireBlock } from "../block-tag.ts";
import type { Method } from "../method.ts";
import { quantity } from "../quantity.ts";

/** By address, from 1 on; the names are those of EIP-7910. */
const PRECOMPILE_NAMES = [
  ...["ECREC", "SHA256", "RIPEMD160", "ID", "MODEXP", "BN254_ADD", "BN254_MUL", "BN254_PAIRING"],
  ...["BLAKE2F", "KZG_POINT_EVALUATION", "BLS12_G1ADD", "BLS12_G1MSM", "BLS12_G2ADD"],
  ...["BLS12_G2MSM", "BLS12_PAIRING_CHECK", "BLS12_MAP_FP_TO_G1", "BLS12_MAP_FP2_TO_G2"],
] as const;
/** No blob is ever taken. */
const BLOB_SCHEDULE = { baseFeeUpdateFraction: 5_007_716, max: 0, target: 0 } as const;

/** EIP-7910. All rules hold from block 0 on, and no change is planned. */
export const ethConfig: Method<BlockReader & NetworkReader, undefined> = {
  name: "eth_config",
  paramsMax: 0,
  parse: () => undefined,
  async handle(chain) {
    const genesis = await requireBlock(chain, { kind: "name", name: "earliest" });
    const forkId = crc32(genesis.hash).toString(16).padStart(8, "0");
    const precompiles = PRECOMPILE_NAMES.map((name, index): [string, string] => [
      name,
      addressToHex(BigInt(index + 1)),
    ]);
    return {
      current: {
        activationTime: 0,
        blobSchedule: BLOB_SCHEDULE,
        chainId: quantity(chain.chainId),
        forkId: `0x${forkId}`,
        precompiles: Object.fromEntries(precompiles),
        systemContracts: {},
      },
      next: null,
      last: null,
    };
  },
};
