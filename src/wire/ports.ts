/** The names and signatures that the core asks for, over the canonical encodings. */
import { invariant } from "../base/invariant.ts";
import { sha256 } from "../crypto/sha256.ts";
import type { Body, Hash, Header } from "../consensus/block.ts";
import type { Ports } from "../consensus/parameters.ts";
import { writeBlockBody } from "./block-codec.ts";
import { bytesToHash } from "./hash-text.ts";
import { writeConsensusHeader } from "./header-codec.ts";
import { HASH_SIZE } from "../crypto/keccak256.ts";
import { SIGNATURE_SIZE } from "./limits.ts";
import { encodeStatement } from "./statement.ts";
import { Writer } from "./writer.ts";

/** Different first bytes: no header can be taken for a body. */
const HEADER_DOMAIN = 0x01;
const BODY_DOMAIN = 0x02;
const HASHED_VERSION = 1;

/** How a replica signs. In production an Ed25519 key; every scheme makes 64-byte signatures. */
export type StatementSigner = { readonly sign: (bytes: Uint8Array) => Uint8Array };

export function createPorts(options: {
  readonly net: Uint8Array;
  readonly signer: StatementSigner;
}): Ports {
  const { net, signer } = options;
  const sign: Ports["sign"] & Ports["signRejoin"] = (statement) => {
    const signature = signer.sign(encodeStatement(net, statement));
    invariant(signature.length === SIGNATURE_SIZE, "a signature has 64 bytes");
    return signature;
  };
  return { hashHeader: createHeaderHasher(net), hashBody, sign, signRejoin: sign };
}

/** The hash of a block is that of its header in its network: two networks never share a block. */
export function createHeaderHasher(net: Uint8Array): (header: Header) => Hash {
  invariant(net.length === HASH_SIZE, "a network is named by a hash of 32 bytes");
  const writer = new Writer();
  return (header) => {
    writer.reset();
    writer.uint8(HEADER_DOMAIN);
    writer.uint8(HASHED_VERSION);
    writer.bytes(net);
    writeConsensusHeader(writer, header);
    return bytesToHash(sha256(writer.peek()));
  };
}

const bodyWriter = new Writer();

/** Covers the declared gas of each transaction as well as its bytes. */
export function hashBody(body: Body): Hash {
  bodyWriter.reset();
  bodyWriter.uint8(BODY_DOMAIN);
  bodyWriter.uint8(HASHED_VERSION);
  writeBlockBody(bodyWriter, body);
  return bytesToHash(sha256(bodyWriter.peek()));
}
