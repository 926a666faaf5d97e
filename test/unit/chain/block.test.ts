import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createBlockFromRLP } from "@ethereumjs/block";
import { Common, Hardfork, Mainnet } from "@ethereumjs/common";
import fc from "fast-check";
import { decodeBlock, encodeBlock, type Block } from "../../../src/chain/block.ts";
import { EMPTY_OMMERS_HASH, EMPTY_TRIE_ROOT } from "../../../src/chain/hash-constants.ts";
import { decodeHeader, encodeHeader, headerHash, type Header } from "../../../src/chain/header.ts";
import { listRoot } from "../../../src/chain/list-root.ts";
import { decodeRlp, encodeRlp, type RlpInput, type RlpItem } from "../../../src/chain/rlp/rlp.ts";
import { encodeTransaction } from "../../../src/chain/transaction-encoder.ts";
import { CHAIN_ID, signedTransaction } from "./transaction-samples.ts";

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 63n });

const header: fc.Arbitrary<Header> = fc
  .record({
    parentHash: hash,
    ommersHash: fc.constant(EMPTY_OMMERS_HASH),
    coinbase: fc.bigInt({ min: 0n, max: 2n ** 160n - 1n }),
    stateRoot: hash,
    transactionsRoot: hash,
    receiptsRoot: hash,
    logsBloom: fc.uint8Array({ minLength: 256, maxLength: 256 }),
    difficulty: fc.constant(0n),
    number: uint64,
    gasLimit: fc.bigInt({ min: 5000n, max: 2n ** 40n }),
    gasUsed: fc.constant(0n),
    timestamp: uint64,
    extraData: fc.uint8Array({ maxLength: 32 }),
    mixHash: hash,
    nonce: fc.constant(new Uint8Array(8)),
    baseFeePerGas: uint64,
    withdrawalsRoot: fc.constant(EMPTY_TRIE_ROOT),
    blobGasUsed: fc.constant(0n),
    excessBlobGas: uint64,
    parentBeaconBlockRoot: hash,
    requestsHash: fc.option(hash, { nil: undefined }),
  })
  .map((fields) => ({ ...fields }));

const block: fc.Arbitrary<Block> = fc
  .tuple(header, fc.array(signedTransaction.map(encodeTransaction), { maxLength: 4 }))
  .map(([fields, transactions]) => ({
    header: { ...fields, transactionsRoot: listRoot(transactions) },
    transactions,
  }));

function codeOf(item: RlpInput): string {
  const decoded = decodeBlock(encodeRlp(item));
  return decoded.ok ? "accepted" : decoded.error.code;
}

function itemsOf(sample: Block): RlpItem[] {
  const decoded = decodeRlp(encodeBlock(sample));
  assert.ok(decoded.ok && !(decoded.value instanceof Uint8Array));
  return [...decoded.value];
}

describe("header", () => {
  it("decodes what it encoded, before and since Prague", () => {
    fc.assert(
      fc.property(header, (fields) => {
        assert.deepEqual(decodeHeader(encodeHeader(fields)), { ok: true, value: fields });
      }),
    );
  });

  it("refuses missing, long, short and oversized fields", () => {
    const [sample] = fc.sample(header, 1);
    assert.ok(sample !== undefined);
    const decoded = decodeRlp(encodeHeader({ ...sample, requestsHash: new Uint8Array(32) }));
    assert.ok(decoded.ok && !(decoded.value instanceof Uint8Array));
    const items = decoded.value;
    const cases: readonly (readonly [string, readonly RlpItem[]])[] = [
      ["RLP_FIELD_COUNT_WRONG", items.slice(0, 19)],
      ["RLP_FIELD_COUNT_WRONG", [...items, new Uint8Array(0)]],
      ["RLP_FIELD_SIZE_WRONG", items.with(0, new Uint8Array(31))],
      ["RLP_FIELD_SIZE_WRONG", items.with(6, new Uint8Array(255))],
      ["RLP_FIELD_TOO_LARGE", items.with(8, new Uint8Array(9).fill(1))],
      ["RLP_FIELD_LEADING_ZERO", items.with(8, new Uint8Array(1))],
      ["HEADER_EXTRA_DATA_TOO_LONG", items.with(12, new Uint8Array(33))],
      ["RLP_FIELD_NOT_BYTES", items.with(13, [])],
    ];
    for (const [code, fields] of cases) {
      const result = decodeHeader(encodeRlp(fields));
      assert.equal(result.ok ? "accepted" : result.error.code, code);
    }
  });
});

describe("block", () => {
  it("has the encoding, size and hash that @ethereumjs/block gives it", () => {
    fc.assert(
      fc.property(block, (sample) => {
        const hardfork =
          sample.header.requestsHash === undefined ? Hardfork.Cancun : Hardfork.Prague;
        const common = new Common({ chain: { ...Mainnet, chainId: Number(CHAIN_ID) }, hardfork });
        // Theirs refuses set-code transactions before Prague.
        fc.pre(hardfork === Hardfork.Prague || sample.transactions.every(([type]) => type !== 4));
        const encoded = encodeBlock(sample);
        const theirs = createBlockFromRLP(encoded, { common, skipConsensusFormatValidation: true });
        assert.deepEqual(theirs.hash(), headerHash(sample.header));
        assert.deepEqual(theirs.serialize(), encoded);
        assert.equal(theirs.transactions.length, sample.transactions.length);
      }),
      { numRuns: 60 },
    );
  });

  it("decodes what it encoded", () => {
    fc.assert(
      fc.property(block, (sample) => {
        assert.deepEqual(decodeBlock(encodeBlock(sample)), { ok: true, value: sample });
      }),
      { numRuns: 60 },
    );
  });

  it("refuses ommers, withdrawals, strings that are no envelope and missing parts", () => {
    const [sample] = fc.sample(block, 1);
    assert.ok(sample !== undefined);
    const items = itemsOf(sample);
    assert.equal(codeOf(items), "accepted");
    assert.equal(codeOf(items.with(2, [[]])), "BLOCK_HAS_OMMERS");
    assert.equal(codeOf(items.with(3, [[]])), "BLOCK_HAS_WITHDRAWALS");
    assert.equal(codeOf(items.slice(0, 3)), "RLP_FIELD_COUNT_WRONG");
    assert.equal(codeOf(items.with(1, [new Uint8Array(0)])), "BLOCK_TRANSACTION_MALFORMED");
    assert.equal(codeOf(items.with(1, [Uint8Array.of(0xc1, 1)])), "BLOCK_TRANSACTION_MALFORMED");
  });

  it("never throws on changed bytes", () => {
    fc.assert(
      fc.property(block, fc.nat(), fc.nat(255), (sample, place, byte) => {
        const bytes = encodeBlock(sample);
        bytes[place % bytes.length] = byte;
        const decoded = decodeBlock(bytes);
        if (decoded.ok) assert.deepEqual(encodeBlock(decoded.value), bytes);
      }),
      { numRuns: 200 },
    );
  });
});
