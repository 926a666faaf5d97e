/** The proofs that a client node keeps, checked without it. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { BlockCertificate } from "../../../src/api/block-certificate.ts";
import { encodeHeader } from "../../../src/chain/header.ts";
import type { ClientNode } from "../../../src/client/client-node.ts";
import { verifyCertificate, type TrustAnchor } from "../../../src/client/verify-certificate.ts";
import { hexToBytes } from "../../../src/base/hex.ts";
import { until } from "../../support/following-client.ts";
import { GENESIS, transfer } from "../../support/replica-network.ts";
import { openClient, temporaryDirectory } from "./client-nodes.ts";
import { FinalChain, type Proof } from "./final-chain.ts";
import { ServingNetwork } from "./serving-replicas.ts";

const PROOFS: readonly Proof[] = ["fast", "none", "none", "slow", "fast"];

describe("certificates of blocks", () => {
  let network: ServingNetwork;
  let directory: ReturnType<typeof temporaryDirectory>;
  let node: ClientNode;
  let anchor: TrustAnchor;

  beforeEach(async () => {
    directory = temporaryDirectory();
    const chain = new FinalChain();
    anchor = { genesis: GENESIS, genesisResult: hexToBytes(chain.genesisResult) };
    network = await ServingNetwork.open(chain);
    ({ node } = await openClient(directory.path, network));
    for (const [nonce, proof] of PROOFS.entries()) network.order([transfer(0, nonce, 1n)], proof);
    await until(() => node.status().publishedHeight === PROOFS.length, "all are published");
  });
  afterEach(async () => {
    await node.close();
    await network.close();
    directory.remove();
  });

  const proofOf = (number: bigint): { header: Uint8Array; certificate: BlockCertificate } => {
    const header = encodeHeader(node.reads.blockByNumber(number)!.header);
    return { header, certificate: node.reads.certificateOf(number)! };
  };

  it("prove every block, also those that a later certificate covers", async () => {
    for (let number = 1n; number <= BigInt(PROOFS.length); number++) {
      const { header, certificate } = proofOf(number);
      const proved = verifyCertificate(anchor, header, certificate);
      assert.ok(proved.ok, `block ${number}: ${proved.ok ? "" : proved.error}`);
      assert.deepEqual(proved.value.hash, node.reads.blockByNumber(number)!.hash);
    }
    assert.equal(node.reads.certificateOf(2n)!.headers.length, 3);
    assert.equal(node.reads.certificateOf(0n), undefined);
    assert.equal(node.reads.certificateOf(9n), undefined);
    // They outlive the process.
    await node.close();
    ({ node } = await openClient(directory.path, network));
    assert.ok(verifyCertificate(anchor, ...parts(proofOf(3n))).ok);
  });

  it("prove nothing else", () => {
    const { header, certificate } = proofOf(2n);
    const other = proofOf(3n);
    const [vote] = certificate.votes;
    const turned = { ...vote!, signature: vote!.signature.map((byte) => byte ^ 1) };
    const commit = Uint8Array.from(certificate.commit);
    commit[commit.length - 1]! ^= 1;
    const cases: readonly (readonly [string, Uint8Array, Partial<BlockCertificate>])[] = [
      ["CERTIFICATE_NETWORK_WRONG", header, { net: new Uint8Array(32) }],
      ["CERTIFICATE_HEADER_MALFORMED", header.subarray(1), {}],
      ["CERTIFICATE_RESULT_WRONG", other.header, {}],
      ["CERTIFICATE_RESULT_WRONG", header, { result: other.certificate.result }],
      ["CERTIFICATE_VOTES_MISSING", header, { votes: [vote!, vote!] }],
      ["CERTIFICATE_VOTES_MISSING", header, { votes: [turned, ...certificate.votes.slice(1)] }],
      ["CERTIFICATE_CHAIN_BROKEN", header, { headers: [] }],
      ["CERTIFICATE_CHAIN_BROKEN", header, { headers: certificate.headers.slice(0, 2) }],
      ["CERTIFICATE_CHAIN_BROKEN", header, { headers: other.certificate.headers }],
      ["CERTIFICATE_COMMIT_INVALID", header, { commit }],
      ["CERTIFICATE_COMMIT_INVALID", header, { commit: commit.subarray(1) }],
    ];
    for (const [problem, shown, change] of cases) {
      const checked = verifyCertificate(anchor, shown, { ...certificate, ...change });
      assert.deepEqual(checked, { ok: false, error: problem });
    }
  });
});

function parts(proof: {
  header: Uint8Array;
  certificate: BlockCertificate;
}): [Uint8Array, BlockCertificate] {
  return [proof.header, proof.certificate];
}
