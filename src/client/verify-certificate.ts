/**
 * Checks the proofs of a block with nothing but the genesis: no node is asked or trusted
 * (docs/ethrpc.md, "Certificates"). What is checked comes from outside: nothing here throws.
 */
import { equalBytes } from "../base/bytes.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { BlockCertificate } from "../api/block-certificate.ts";
import type { GenesisConfig } from "../chain/genesis.ts";
import { decodeHeader, headerHash, type Header } from "../chain/header.ts";
import type { ExecVote } from "../consensus/message.ts";
import { DEFAULT_PARAMETERS } from "../consensus/parameters.ts";
import type { Header as ConsensusHeader } from "../consensus/block.ts";
import { quorumOf } from "../consensus/quorum.ts";
import { resultHash } from "../execution/result-hash.ts";
import {
  createPeerMessageAuthenticator,
  createKeyVerifier,
  type PeerMessageAuthenticator,
} from "../wire/authenticate.ts";
import { decodeFinalCert } from "../wire/block-bytes.ts";
import { consensusGenesis } from "../wire/consensus-genesis.ts";
import { bytesToHash } from "../wire/hash-text.ts";
import { readConsensusHeader } from "../wire/header-codec.ts";
import { createHeaderHasher } from "../wire/ports.ts";
import { Reader } from "../wire/reader.ts";

export type CertificateProblem =
  | "CERTIFICATE_NETWORK_WRONG"
  | "CERTIFICATE_HEADER_MALFORMED"
  | "CERTIFICATE_RESULT_WRONG"
  | "CERTIFICATE_VOTES_MISSING"
  | "CERTIFICATE_CHAIN_BROKEN"
  | "CERTIFICATE_COMMIT_INVALID";

export type TrustAnchor = {
  readonly genesis: GenesisConfig;
  /** Of the Ethereum block 0 that this genesis makes. */
  readonly genesisResult: Uint8Array;
};

/** The Ethereum block that is proved to be final. */
export type ProvedBlock = {
  readonly header: Header;
  readonly hash: Uint8Array;
  /** Replicas whose signature under the result is good. */
  readonly signers: readonly number[];
};

/** `encodedHeader` is the header of the Ethereum block, as debug_getRawHeader gives it. */
export function verifyCertificate(
  { genesis, genesisResult }: TrustAnchor,
  encodedHeader: Uint8Array,
  certificate: BlockCertificate,
): Result<ProvedBlock, CertificateProblem> {
  const origin = consensusGenesis(genesis, genesisResult);
  if (!equalBytes(origin.net, certificate.net)) return err("CERTIFICATE_NETWORK_WRONG");
  const { replicaPublicKeys } = genesis;
  const authenticator = createPeerMessageAuthenticator(
    {
      net: origin.net,
      replicaCount: replicaPublicKeys.length,
      genesis: origin.header,
      window: DEFAULT_PARAMETERS.window,
    },
    { verify: createKeyVerifier(replicaPublicKeys) },
  );
  const decoded = decodeHeader(encodedHeader);
  if (!decoded.ok) return err("CERTIFICATE_HEADER_MALFORMED");
  const header = decoded.value;
  const hash = headerHash(header);
  const isResult = equalBytes(resultHash(header, hash), certificate.result);
  const isOrdered = equalBytes(header.mixHash, certificate.consensusHash);
  if (!isResult || !isOrdered) return err("CERTIFICATE_RESULT_WRONG");
  const { weak } = quorumOf(replicaPublicKeys.length);
  const signers = findSigners(authenticator, certificate);
  if (signers.length < weak) return err("CERTIFICATE_VOTES_MISSING");
  const problem = checkFinality(authenticator, origin.net, certificate);
  return problem === undefined ? ok({ header, hash, signers }) : err(problem);
}

/** Replicas that signed the result. f+1 hold a correct one. */
function findSigners(
  authenticator: PeerMessageAuthenticator,
  certificate: BlockCertificate,
): number[] {
  const { height, consensusHash, result, votes } = certificate;
  const voters = new Set<number>();
  for (const { replica, epoch, signature } of votes) {
    const vote: ExecVote = {
      kind: "execVote",
      sender: replica,
      epoch,
      height,
      blockHash: bytesToHash(consensusHash),
      result: bytesToHash(result),
      signature,
    };
    if (authenticator.authenticate(vote, replica).ok) voters.add(replica);
  }
  return [...voters].sort((a, b) => a - b);
}

/** The ordered block is on the chain of one that is final. */
function checkFinality(
  authenticator: PeerMessageAuthenticator,
  net: Uint8Array,
  { height, consensusHash, headers, commit }: BlockCertificate,
): CertificateProblem | undefined {
  const hashHeader = createHeaderHasher(net);
  const certificate = decodeFinalCert(commit);
  if (!certificate.ok) return "CERTIFICATE_COMMIT_INVALID";
  let last = bytesToHash(consensusHash);
  for (const [index, encoded] of headers.entries()) {
    const header = decodeConsensusHeader(encoded);
    if (header?.height !== height + index) return "CERTIFICATE_CHAIN_BROKEN";
    const hash = hashHeader(header);
    if (index === 0 ? hash !== last : header.parent !== last) return "CERTIFICATE_CHAIN_BROKEN";
    last = hash;
  }
  const { blockHash, height: certified } = certificate.value;
  const isLast = blockHash === last && certified === height + headers.length - 1;
  if (!isLast || headers.length === 0) return "CERTIFICATE_CHAIN_BROKEN";
  const finality = { kind: "finality", certificate: certificate.value } as const;
  return authenticator.authenticate(finality, 0).ok ? undefined : "CERTIFICATE_COMMIT_INVALID";
}

function decodeConsensusHeader(bytes: Uint8Array): ConsensusHeader | undefined {
  const reader = new Reader(bytes);
  const header = reader.finish(readConsensusHeader(reader));
  return header.ok ? header.value : undefined;
}
