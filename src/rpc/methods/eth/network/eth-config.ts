import { crc32 } from "node:zlib";
import { addressToHex } from "../../../../chain/address.ts";
import type { BlockReader, NetworkReader } from "../../../../api/chain-reader.ts";
import { requireBlock } from "../../../params/block-tag.ts";
import type { Method } from "../../../method.ts";
import { quantity } from "../../../format/quantity.ts";

/** The names are those of EIP-7910. */
const PRECOMPILES: Readonly<Record<string, bigint>> = {
  ...{ ECREC: 1n, SHA256: 2n, RIPEMD160: 3n, ID: 4n, MODEXP: 5n, BN254_ADD: 6n, BN254_MUL: 7n },
  ...{ BN254_PAIRING: 8n, BLAKE2F: 9n, KZG_POINT_EVALUATION: 10n, BLS12_G1ADD: 11n },
  ...{ BLS12_G1MSM: 12n, BLS12_G2ADD: 13n, BLS12_G2MSM: 14n, BLS12_PAIRING_CHECK: 15n },
  ...{ BLS12_MAP_FP_TO_G1: 16n, BLS12_MAP_FP2_TO_G2: 17n },
};
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
    const precompiles = Object.entries(PRECOMPILES).map(([name, address]): [string, string] => [
      name,
      addressToHex(address),
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
