import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { concatBytes } from "../../../src/base/bytes.ts";
import { InvariantError } from "../../../src/base/invariant.ts";
import type { Header } from "../../../src/consensus/block.ts";
import { genesisCert } from "../../../src/consensus/certificate.ts";
import type { Message, ViewChange, Vote } from "../../../src/consensus/message.ts";
import { DEFAULT_PARAMETERS } from "../../../src/consensus/parameters.ts";
import { createTransaction, encodedBlockSize } from "../../../src/wire/block-codec.ts";
import { ZERO_HASH_TEXT } from "../../../src/wire/hash-text.ts";
import { REPLICAS_MAX } from "../../../src/chain/genesis.ts";
import {
  assertWithinWireLimits,
  BLOCKS_MAX,
  BODY_PAYLOAD_SIZE_MAX,
  BODY_TRANSACTIONS_MAX,
  HEADERS_MAX,
  MESSAGE_SIZE_MAX,
} from "../../../src/wire/limits.ts";
import { decodeLogRecord } from "../../../src/wire/log-record-codec.ts";
import { decodeMessage, encodeMessage } from "../../../src/wire/message-codec.ts";
import { plainHeader } from "../../support/plain-header.ts";

const signature = new Uint8Array(64).fill(7);
const header: Header = plainHeader({ height: 1 });
const vote: Vote = {
  kind: "vote",
  epoch: 0,
  sender: 1,
  view: 2,
  height: 3,
  blockHash: ZERO_HASH_TEXT,
  signature,
};
const viewChange: ViewChange = {
  kind: "viewChange",
  epoch: 0,
  sender: 0,
  newView: 1,
  finalCert: genesisCert(ZERO_HASH_TEXT),
  highCert: genesisCert(ZERO_HASH_TEXT),
  votedView: -1,
  headersVoted: [],
  headersCert: [],
  signature,
};

describe("bytes that are refused", () => {
  it("an unknown version, an unknown type and no bytes at all", () => {
    assert.equal(codeOf(patched(vote, 0, 2)), "WIRE_UNKNOWN_VERSION");
    for (const type of [0, 21, 255])
      assert.equal(codeOf(patched(vote, 1, type)), "WIRE_UNKNOWN_TYPE");
    assert.equal(codeOf(new Uint8Array(0)), "WIRE_TRUNCATED");
  });

  it("a message larger than any may be, without looking at it", () => {
    assert.equal(codeOf(new Uint8Array(MESSAGE_SIZE_MAX + 1)), "WIRE_LIMIT_EXCEEDED");
  });

  it("integers above 2^53-1; 2^53-1 itself is accepted", () => {
    const viewAt = 7;
    const largest = { ...vote, view: Number.MAX_SAFE_INTEGER };
    assert.deepEqual(decodeMessage(encodeMessage(largest)), { ok: true, value: largest });
    assert.equal(codeOf(patched(largest, viewAt + 1, 0x20)), "WIRE_INTEGER_UNSAFE");
    assert.equal(codeOf(patched(largest, viewAt, 0x80)), "WIRE_INTEGER_UNSAFE");
  });

  it("a sender that no network has", () => {
    assert.equal(codeOf(patched(vote, 6, REPLICAS_MAX)), "WIRE_REPLICA_OUT_OF_RANGE");
  });

  it("a truth value that is neither 0 nor 1", () => {
    const answer: Message = {
      kind: "probeAnswer",
      nonce: ZERO_HASH_TEXT,
      isUntouched: true,
      vote: undefined,
      commit: undefined,
      viewChange: undefined,
    };
    const untouchedAt = 2 + 32;
    assert.equal(codeOf(patched(answer, untouchedAt, 2)), "WIRE_VALUE_UNKNOWN");
  });

  it("an unknown reason for a complaint", () => {
    const complaint: Message = {
      kind: "complaint",
      epoch: 0,
      sender: 0,
      view: 0,
      reason: "withdrawn",
      signature,
    };
    assert.equal(codeOf(patched(complaint, 15, 9)), "WIRE_VALUE_UNKNOWN");
  });

  it("a quorum certificate where only finality may stand, and the other way round", () => {
    const finality = encodeMessage({
      kind: "finality",
      certificate: {
        kind: "fast",
        epoch: 0,
        view: 0,
        height: 1,
        blockHash: ZERO_HASH_TEXT,
        votes: [],
      },
    });
    const quorum = Uint8Array.from(finality);
    quorum[2] = 1;
    assert.equal(codeOf(quorum), "WIRE_VALUE_UNKNOWN");
    const certificate = finality.subarray(2);
    const decoded = decodeLogRecord(concatBytes(Uint8Array.of(1, 7), certificate));
    assert.ok(!decoded.ok);
    assert.equal(decoded.error.code, "WIRE_VALUE_UNKNOWN");
  });

  it("lists over their limits, though all of their items are there", () => {
    const countAt = 2;
    const hashes = Array.from({ length: BLOCKS_MAX }, () => ZERO_HASH_TEXT);
    const request = encodeMessage({ kind: "bodyRequest", hashes });
    assert.equal(decodeMessage(request).ok, true);
    const longer = concatBytes(request, new Uint8Array(32));
    new DataView(longer.buffer).setUint32(countAt, BLOCKS_MAX + 1);
    assert.equal(codeOf(longer), "WIRE_LIMIT_EXCEEDED");
  });

  it("a body of more transactions or of more bytes than a block may have", () => {
    const empty = createTransaction(new Uint8Array(0), 0);
    const full = encodeForwardedBody(Array.from({ length: BODY_TRANSACTIONS_MAX }, () => empty));
    assert.equal(decodeMessage(full).ok, true);
    const longer = concatBytes(full, new Uint8Array(12));
    new DataView(longer.buffer).setUint32(full.length - 12 * BODY_TRANSACTIONS_MAX - 4, 4_097);
    assert.equal(codeOf(longer), "WIRE_LIMIT_EXCEEDED");

    const half = createTransaction(new Uint8Array(BODY_PAYLOAD_SIZE_MAX / 2), 0);
    const heavy = concatBytes(encodeForwardedBody([half, half]), Uint8Array.of(0));
    const sizeAt = heavy.length - 1 - BODY_PAYLOAD_SIZE_MAX - 4;
    new DataView(heavy.buffer).setUint32(sizeAt, BODY_PAYLOAD_SIZE_MAX / 2 + 1);
    assert.equal(codeOf(heavy), "WIRE_LIMIT_EXCEEDED");
  });
});

describe("what we would never send", () => {
  const cases: readonly (readonly [string, Message])[] = [
    ["a view that is not a count", { ...vote, view: -1 }],
    ["a height that is no integer", { ...vote, height: 1.5 }],
    ["a height above 2^53-1", { ...vote, height: 2 ** 53 }],
    ["an epoch of more than 32 bits", { ...vote, epoch: 2 ** 32 }],
    ["a sender that no network has", { ...vote, sender: REPLICAS_MAX }],
    ["a signature of another size", { ...vote, signature: new Uint8Array(63) }],
    ["a hash in capitals", { ...vote, blockHash: `0x${"AB".repeat(32)}` }],
    ["a hash that is too short", { ...vote, blockHash: "0x00" }],
    ["a genesis certificate of an epoch", finalityOf({ ...genesisCert(ZERO_HASH_TEXT), epoch: 1 })],
    [
      "more headers than the limit",
      { ...viewChange, headersVoted: Array.from({ length: HEADERS_MAX + 1 }, () => header) },
    ],
  ];
  for (const [name, message] of cases) {
    it(`stops us: ${name}`, () => {
      assert.throws(() => encodeMessage(message), InvariantError);
      // The encoder is not left in a state that spoils the next message.
      assert.deepEqual(decodeMessage(encodeMessage(vote)), { ok: true, value: vote });
    });
  }
});

describe("limits", () => {
  it("hold the default parameters, and refuse parameters that could not be sent", () => {
    const parameters = { replicaCount: 4, ...DEFAULT_PARAMETERS };
    assertWithinWireLimits(parameters);
    for (const excess of [
      { replicaCount: 67 },
      { window: 33 },
      { blockTransactionsMax: 4_097 },
      { blockBytesMax: BODY_PAYLOAD_SIZE_MAX + 1 },
      { window: 6 },
    ]) {
      const text = JSON.stringify(excess);
      assert.throws(
        () => assertWithinWireLimits({ ...parameters, ...excess }),
        InvariantError,
        text,
      );
    }
  });

  it("a block's size in a response is what encodedBlockSize says", () => {
    const rejoin = {
      kind: "rejoin",
      member: 1,
      epoch: 0,
      nonce: ZERO_HASH_TEXT,
      signature,
    } as const;
    const transactions = [createTransaction(Uint8Array.of(1, 2, 3), 5)];
    for (const body of [
      { transactions, rejoin: undefined },
      { transactions: [], rejoin },
    ]) {
      const block = { hash: ZERO_HASH_TEXT, header, body };
      const one = encodeMessage({ kind: "bodyResponse", blocks: [block] });
      const none = encodeMessage({ kind: "bodyResponse", blocks: [] });
      assert.equal(encodedBlockSize(block), one.length - none.length);
    }
  });
});

function codeOf(bytes: Uint8Array): string {
  const decoded = decodeMessage(bytes);
  return decoded.ok ? "accepted" : decoded.error.code;
}

function patched(message: Message, offset: number, value: number): Uint8Array {
  const bytes = encodeMessage(message);
  bytes[offset] = value;
  return bytes;
}

function finalityOf(certificate: ReturnType<typeof genesisCert>): Message {
  return { kind: "finality", certificate };
}

function encodeForwardedBody(transactions: readonly ReturnType<typeof createTransaction>[]) {
  const body = { transactions, rejoin: undefined };
  return encodeMessage({ kind: "bodyResponse", blocks: [{ hash: ZERO_HASH_TEXT, header, body }] });
}
