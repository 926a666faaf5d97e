import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  blockResponseParts,
  decodeBlockBytes,
  decodeFinalCert,
  encodeBlockBytes,
  encodeFinalCert,
  isBoundaryBlock,
  readBlockHead,
} from "../../../src/wire/block-bytes.ts";
import {
  decodeClientMessage,
  encodeClientMessage,
  finalBlockParts,
  REPLICA_MODES,
  SUBMIT_TRANSACTIONS_MAX,
  type ClientMessage,
} from "../../../src/wire/client-codec.ts";
import { encodeMessage } from "../../../src/wire/message-codec.ts";
import {
  arbitraryBlock,
  arbitraryFinalCert,
  arbitraryHash,
  ARBITRARY_MESSAGES,
  record,
} from "../../support/arbitrary-messages.ts";
import { itKeepsToItsCodec } from "../../support/codec-properties.ts";

const RUNS = { numRuns: 60, seed: 20_260_102 };

type Arbitraries = {
  readonly [Kind in ClientMessage["kind"]]: fc.Arbitrary<
    Extract<ClientMessage, { readonly kind: Kind }>
  >;
};

const height = fc.oneof(fc.nat(100), fc.maxSafeNat());
const replica = fc.nat(63);
const certificate = fc.option(arbitraryFinalCert, { nil: undefined });

const ARBITRARY: Arbitraries = {
  submit: record({
    kind: fc.constant("submit"),
    transactions: fc.array(
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Uint8Array.from(bytes)),
      { maxLength: 5 },
    ),
  }),
  follow: record({ kind: fc.constant("follow"), fromHeight: height }),
  statusRequest: record({ kind: fc.constant("statusRequest"), nonce: height }),
  blocksRequest: record({
    kind: fc.constant("blocksRequest"),
    fromHeight: height,
    toHeight: height,
  }),
  finalBlock: record({ kind: fc.constant("finalBlock"), block: arbitraryBlock, certificate }),
  execVote: record({ kind: fc.constant("execVote"), vote: ARBITRARY_MESSAGES.execVote }),
  refused: record({
    kind: fc.constant("refused"),
    transactionId: arbitraryHash,
    code: fc.constantFrom("POOL_FULL", "TX_NONCE_TOO_LOW", "A", "X".repeat(64)),
  }),
  status: record({
    kind: fc.constant("status"),
    nonce: height,
    replica,
    mode: fc.constantFrom(...REPLICA_MODES),
    epoch: fc.nat(1_000),
    view: height,
    isAccepted: fc.boolean(),
    leader: replica,
    tipHeight: height,
    finalHeight: height,
    finalHash: arbitraryHash,
    execHeight: height,
    pendingCount: fc.nat(100_000),
    isDiskFull: fc.boolean(),
    peersUp: fc.array(replica, { maxLength: 6 }),
  }),
};

describe("the client protocol on the wire", () => {
  const codec = { encode: encodeClientMessage, decode: decodeClientMessage };
  itKeepsToItsCodec<ClientMessage>(ARBITRARY, codec, 20_260_102);

  it("refuses more transactions than one submit may have", () => {
    const count = SUBMIT_TRANSACTIONS_MAX + 1;
    const bytes = new Uint8Array(6 + 4 * count);
    bytes.set([1, 1]);
    new DataView(bytes.buffer).setUint32(2, count);
    const decoded = decodeClientMessage(bytes);
    assert.ok(!decoded.ok);
    assert.equal(decoded.error.code, "WIRE_LIMIT_EXCEEDED");
  });

  it("a code that is no word of capital letters is refused", () => {
    const bytes = encodeClientMessage({
      kind: "refused",
      transactionId: `0x${"ab".repeat(32)}`,
      code: "POOL_FULL",
    });
    bytes[bytes.length - 1] = "l".charCodeAt(0);
    const decoded = decodeClientMessage(bytes);
    assert.ok(!decoded.ok);
    assert.equal(decoded.error.code, "WIRE_VALUE_UNKNOWN");
  });
});

describe("blocks as stored bytes", () => {
  it("a block and a certificate come back, and the flag of a boundary is found", () => {
    const property = fc.property(arbitraryBlock, arbitraryFinalCert, (block, proof) => {
      const bytes = encodeBlockBytes(block);
      assert.deepStrictEqual(decodeBlockBytes(bytes), { ok: true, value: block });
      assert.equal(isBoundaryBlock(bytes), block.body.rejoin !== undefined);
      assert.deepStrictEqual(readBlockHead(bytes), { hash: block.hash, header: block.header });
      const proofBytes = encodeFinalCert(proof);
      assert.deepStrictEqual(decodeFinalCert(proofBytes), { ok: true, value: proof });
    });
    fc.assert(property, RUNS);
  });

  it("messages put together from stored bytes equal those encoded from values", () => {
    const property = fc.property(
      fc.array(arbitraryBlock, { maxLength: 3 }),
      arbitraryFinalCert,
      certificate,
      (blocks, proof, own) => {
        const response = blockResponseParts(blocks.map(encodeBlockBytes), encodeFinalCert(proof));
        const message = { kind: "blockResponse", blocks, certificate: proof } as const;
        assert.deepEqual(joined(response), encodeMessage(message));
        const [block] = blocks;
        if (block === undefined) return;
        const ownBytes = own === undefined ? undefined : encodeFinalCert(own);
        const answer = { kind: "finalBlock", block, certificate: own } as const;
        const parts = finalBlockParts(encodeBlockBytes(block), ownBytes);
        assert.deepEqual(joined(parts), encodeClientMessage(answer));
      },
    );
    fc.assert(property, RUNS);
  });
});

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}
