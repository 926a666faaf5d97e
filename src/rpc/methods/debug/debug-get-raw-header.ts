import { bytesToHex } from "../../../base/hex.ts";
import { encodeHeader } from "../../../chain/header.ts";
import { parseBlockTag, requireBlock, type BlockTag } from "../../params/block-tag.ts";
import type { BlockReader } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";
import { requireParameter } from "../../params/parameters.ts";

export const debugGetRawHeader: Method<BlockReader, BlockTag> = {
  name: "debug_getRawHeader",
  paramsMax: 1,
  parse: ([block], { dialect }) => parseBlockTag(requireParameter(block, 0), 0, dialect),
  handle: async (chain, tag) => bytesToHex(encodeHeader((await requireBlock(chain, tag)).header)),
};
