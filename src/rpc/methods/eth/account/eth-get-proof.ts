import { bytesToHex } from "../../../../base/hex.ts";
import { addressToHex } from "../../../../chain/address.ts";
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from "../../../../chain/hash-constants.ts";
import { parseBlockTag, requireBlock, type BlockTag } from "../../../params/block-tag.ts";
import type { AccountProof, BlockReader, Prover } from "../../../../api/chain-reader.ts";
import { takeTurns } from "../../../server/event-loop-turn.ts";
import { JsonText } from "../../../json-text.ts";
import type { Method } from "../../../method.ts";
import { parseAddressParameter, parseArray, parseSlot } from "../../../params/parameters.ts";
import { quantity, word } from "../../../format/quantity.ts";
import { callFailureToError } from "../../../format/failure-error.ts";

type Params = {
  readonly address: bigint;
  /** As the caller wrote them: the answer repeats them so. */
  readonly keys: readonly string[];
  readonly slots: readonly bigint[];
  readonly block: BlockTag;
};

export const ethGetProof: Method<BlockReader & Prover, Params> = {
  name: "eth_getProof",
  paramsMax: 3,
  parse: ([address, keys, block], { dialect, limits }) => {
    const entries = parseArray(keys, 1, limits.proofSlotsMax);
    return {
      address: parseAddressParameter(address, 0),
      slots: entries.map((key, index) => parseSlot(key, `1.${index}`)),
      keys: entries.map(String),
      block: parseBlockTag(block, 2, dialect),
    };
  },
  async handle(chain, { address, keys, slots, block }, { caller }) {
    const proved = await chain.prove(address, slots, await requireBlock(chain, block), caller);
    if (!proved.ok) throw callFailureToError(proved.error);
    return formatProof(address, proved.value, keys);
  },
};

/**
 * A proof of many slots has megabytes: it is written slot by slot, and yields to other work in
 * between.
 */
async function formatProof(
  address: bigint,
  { account, proof, storage }: AccountProof,
  keys: readonly string[],
): Promise<JsonText> {
  const hash = account === undefined ? bytesToHex(EMPTY_CODE_HASH) : word(account.codeHash);
  const root = account === undefined ? bytesToHex(EMPTY_TRIE_ROOT) : word(account.storageRoot);
  const head = JSON.stringify({
    address: addressToHex(address),
    accountProof: proof.map(bytesToHex),
    balance: quantity(account?.balance ?? 0n),
    codeHash: hash,
    nonce: quantity(account?.nonce ?? 0n),
    storageHash: root,
  });
  const turn = takeTurns();
  const slots: string[] = [];
  for (const [index, { value, proof: nodes }] of storage.entries()) {
    await turn();
    const slot = { key: keys[index], value: quantity(value), proof: nodes.map(bytesToHex) };
    slots.push(JSON.stringify(slot));
  }
  return new JsonText(`${head.slice(0, -1)},"storageProof":[${slots.join(",")}]}`);
}
