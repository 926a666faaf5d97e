/** The result of a block that replicas sign and compare (PROTOCOL §2.2, ExecVote). */
import { writeBigEndian } from "../base/big-endian.ts";
import { concatBytes } from "../base/bytes.ts";
import type { Header } from "../chain/header.ts";
import { sha256 } from "../crypto/sha256.ts";

/** Keeps the hash apart from every other use of SHA-256 in the protocol. */
const DOMAIN = Uint8Array.from("quorate execution result 1", (char) => char.charCodeAt(0));
const GAS_SIZE = 8;

/**
 * H(stateRoot, receiptsRoot, logsBloom, gasUsed, blockHash). All parts have a fixed width, so equal
 * hashes mean equal parts. For a height without a block the parts are those of the last block.
 */
export function resultHash(header: Header, blockHash: Uint8Array): Uint8Array {
  const { stateRoot, receiptsRoot, logsBloom, gasUsed } = header;
  const gas = new Uint8Array(GAS_SIZE);
  writeBigEndian(gasUsed, gas, 0, GAS_SIZE);
  return sha256(concatBytes(DOMAIN, stateRoot, receiptsRoot, logsBloom, gas, blockHash));
}
