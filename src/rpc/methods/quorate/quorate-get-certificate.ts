import { bytesToHex } from "../../../base/hex.ts";
import { encodeHeader } from "../../../chain/header.ts";
import { parseBlockTag, requireBlock, type BlockTag } from "../../params/block-tag.ts";
import type { BlockReader, CertificateReader } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";
import { requireParameter } from "../../params/parameters.ts";
import { quantity } from "../../format/quantity.ts";
import { HISTORY_PRUNED, RpcError, SERVER_ERROR } from "../../rpc-error.ts";

/** All that it takes to check a block offline (docs/ethrpc.md, "Certificates"). */
export const quorateGetCertificate: Method<BlockReader & CertificateReader, BlockTag> = {
  name: "quorate_getCertificate",
  paramsMax: 1,
  parse: ([block], { dialect }) => parseBlockTag(requireParameter(block, 0), 0, dialect),
  async handle(chain, tag) {
    const { header, hash } = await requireBlock(chain, tag);
    if (header.number === 0n) {
      throw new RpcError(SERVER_ERROR, "genesis has no certificate: it is final by definition");
    }
    const found = await chain.certificateOf(header.number);
    if (found === undefined) {
      throw new RpcError(HISTORY_PRUNED, "the certificate of that block is no longer kept");
    }
    return {
      blockNumber: quantity(header.number),
      blockHash: bytesToHex(hash),
      header: bytesToHex(encodeHeader(header)),
      network: bytesToHex(found.net),
      height: quantity(found.height),
      consensusHash: bytesToHex(found.consensusHash),
      consensusHeaders: found.headers.map(bytesToHex),
      commitCertificate: bytesToHex(found.commit),
      result: bytesToHex(found.result),
      resultSignatures: found.votes.map(({ replica, epoch, signature }) => ({
        replica,
        epoch,
        signature: bytesToHex(signature),
      })),
    };
  },
};
