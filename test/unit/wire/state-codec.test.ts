import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  decodeStateMessage,
  encodeStateMessage,
  SNAPSHOT_HEADERS_MAX,
  SNAPSHOT_REFUSALS,
  STATE_MESSAGE_SIZE_MAX,
  type StateCursor,
  type StateEntry,
  type StateMessage,
} from "../../../src/wire/state-codec.ts";
import { ARBITRARY_MESSAGES, record } from "../../support/arbitrary-messages.ts";
import { itKeepsToItsCodec } from "../../support/codec-properties.ts";

type Arbitraries = {
  readonly [Kind in StateMessage["kind"]]: fc.Arbitrary<
    Extract<StateMessage, { readonly kind: Kind }>
  >;
};

const height = fc.oneof(fc.nat(100), fc.maxSafeNat());
const id = fc.integer({ min: 0, max: 0xffff_ffff });
const unsigned = (bits: bigint): fc.Arbitrary<bigint> => fc.bigInt(0n, 2n ** bits - 1n);
const word = unsigned(256n);
const address = unsigned(160n);
const bytes = (maxLength: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ maxLength }).map((some) => Uint8Array.from(some));

const cursor: fc.Arbitrary<StateCursor> = record({
  address,
  slot: fc.option(word, { nil: undefined }),
});
const entry: fc.Arbitrary<StateEntry> = fc.oneof(
  record({
    kind: fc.constant("account" as const),
    address,
    account: record({
      nonce: unsigned(64n),
      balance: word,
      codeHash: word,
      storageRoot: word,
    }),
  }),
  record({ kind: fc.constant("slot" as const), address, slot: word, value: word }),
  record({ kind: fc.constant("code" as const), hash: word, bytes: bytes(100) }),
);

const ARBITRARY: Arbitraries = {
  snapshotRequest: record({ kind: fc.constant("snapshotRequest" as const), minHeight: height }),
  chunkRequest: record({ kind: fc.constant("chunkRequest" as const), snapshot: id, cursor }),
  resultRequest: record({ kind: fc.constant("resultRequest" as const), height }),
  snapshotRelease: record({ kind: fc.constant("snapshotRelease" as const), snapshot: id }),
  snapshotOffer: record({
    kind: fc.constant("snapshotOffer" as const),
    snapshot: id,
    height,
    headers: fc.array(bytes(600), { maxLength: 4 }),
  }),
  snapshotChunk: record({
    kind: fc.constant("snapshotChunk" as const),
    snapshot: id,
    entries: fc.array(entry, { maxLength: 6 }),
    next: fc.option(cursor, { nil: undefined }),
  }),
  signedResult: record({
    kind: fc.constant("signedResult" as const),
    vote: ARBITRARY_MESSAGES.execVote,
  }),
  snapshotRefused: record({
    kind: fc.constant("snapshotRefused" as const),
    code: fc.constantFrom(...SNAPSHOT_REFUSALS),
  }),
};

describe("state transfer on the wire", () => {
  const codec = { encode: encodeStateMessage, decode: decodeStateMessage };
  itKeepsToItsCodec<StateMessage>(ARBITRARY, codec, 20_260_103);

  it("refuses what is larger than its limits", () => {
    const codeOf = (whole: Uint8Array): string | undefined => {
      const decoded = decodeStateMessage(whole);
      return decoded.ok ? undefined : decoded.error.code;
    };
    assert.equal(codeOf(new Uint8Array(STATE_MESSAGE_SIZE_MAX + 1)), "WIRE_LIMIT_EXCEEDED");
    const headers = Array.from({ length: SNAPSHOT_HEADERS_MAX }, () => Uint8Array.of(1));
    const offer = encodeStateMessage({ kind: "snapshotOffer", snapshot: 1, height: 1, headers });
    new DataView(offer.buffer).setUint32(2 + 4 + 8, SNAPSHOT_HEADERS_MAX + 1);
    assert.equal(codeOf(offer), "WIRE_LIMIT_EXCEEDED");
    const code = { kind: "code", hash: 1n, bytes: Uint8Array.of(1) } as const;
    const entries = [code];
    const chunk = { kind: "snapshotChunk", snapshot: 1, entries, next: undefined } as const;
    const large = encodeStateMessage(chunk);
    new DataView(large.buffer).setUint32(2 + 4 + 4 + 1 + 32, 2 ** 21);
    assert.equal(codeOf(large), "WIRE_LIMIT_EXCEEDED");
  });
});
