/** Verifies a block with the network file alone; no node is trusted. */
import { equalBytes } from "../../base/bytes.ts";
import { CodedError } from "../../base/coded-error.ts";
import { bytesToHex } from "../../base/hex.ts";
import { type ProvedBlock, verifyCertificate } from "../../client/verify-certificate.ts";
import { problemText } from "../../config/config-problem.ts";
import type { NetworkFile } from "../../config/network-file.ts";
import { buildGenesis } from "../../execution/genesis-state.ts";
import { resultHash } from "../../execution/result-hash.ts";
import { MemoryStore } from "../../state/memory-store.ts";
import { StateDatabase } from "../../state/state-database.ts";
import { parseCertificateJson } from "./certificate-json.ts";

/** The block that the user wants proved; undefined: whichever the certificate is about. */
export type WantedBlock = { readonly number: bigint } | { readonly hash: Uint8Array } | undefined;

/** Throws CERTIFICATE_MALFORMED, CERTIFICATE_BLOCK_WRONG, and what verifyCertificate finds. */
export function verifyBlock(
  network: NetworkFile,
  certificateText: string,
  wanted: WantedBlock,
): ProvedBlock {
  const parsed = parseCertificateJson(certificateText);
  if (!parsed.ok) {
    const problems = parsed.error.map(problemText).join("; ");
    throw new CodedError("CERTIFICATE_MALFORMED", { problems });
  }
  const { encodedHeader, certificate, blockNumber, blockHash } = parsed.value;
  const anchor = { genesis: network.genesis, genesisResult: genesisResultOf(network) };
  const verified = verifyCertificate(anchor, encodedHeader, certificate);
  if (!verified.ok) {
    const { replicaPublicKeys } = network.genesis;
    throw new CodedError(verified.error, { replicaCount: replicaPublicKeys.length });
  }
  const proved = verified.value;
  // The certificate's own metadata is not signed, so it must be checked against what is.
  assertIs(proved, { number: blockNumber });
  assertIs(proved, { hash: blockHash });
  assertIs(proved, wanted);
  return proved;
}

function assertIs({ header, hash }: ProvedBlock, wanted: WantedBlock): void {
  if (wanted === undefined) return;
  const isNumber = "number" in wanted;
  const isIt = isNumber ? header.number === wanted.number : equalBytes(hash, wanted.hash);
  if (isIt) return;
  const named = isNumber ? wanted.number.toString() : bytesToHex(wanted.hash);
  const proved = `${header.number} ${bytesToHex(hash)}`;
  throw new CodedError("CERTIFICATE_BLOCK_WRONG", { named, proved });
}

/** Block 0 is computed again, so that the file is not trusted where it can be checked. */
function genesisResultOf({ genesis, genesisBlockHash }: NetworkFile): Uint8Array {
  const { block, hash } = buildGenesis(genesis, [], new StateDatabase({}, new MemoryStore()));
  if (!equalBytes(hash, genesisBlockHash)) {
    const problems = "genesisBlockHash: is not the hash of block 0 of this genesis";
    throw new CodedError("CONFIG_INVALID", { path: "the network file", problems });
  }
  return resultHash(block.header, hash);
}
