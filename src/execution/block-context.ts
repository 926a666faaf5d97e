import { readBigEndian } from "../base/big-endian.ts";
import type { BlockOverrides } from "../api/call-request.ts";
import type { Header } from "../chain/header.ts";
import type { BlockContext } from "../evm/message.ts";

/** Without blobs their price stays at its least. */
const BLOB_BASE_FEE = 1n;

/** A block of the chain as the code that runs in it sees it. */
export function blockContextOf(
  header: Header,
  blockHash: (number: bigint) => Uint8Array,
  overrides: BlockOverrides = {},
): BlockContext {
  return {
    number: overrides.number ?? header.number,
    timestamp: overrides.timestamp ?? header.timestamp,
    coinbase: overrides.coinbase ?? header.coinbase,
    gasLimit: overrides.gasLimit ?? header.gasLimit,
    baseFee: overrides.baseFee ?? header.baseFeePerGas,
    blobBaseFee: overrides.blobBaseFee ?? BLOB_BASE_FEE,
    prevRandao: overrides.prevRandao ?? readBigEndian(header.mixHash, 0, 32),
    // A call may pretend to be in a later block: those in between have no hash.
    blockHash: (number) => (number > header.number ? 0n : readBigEndian(blockHash(number), 0, 32)),
  };
}
