/**
 * The format, frozen. A change that makes one of these fail changes what is stored in logs and said
 * between versions: it needs a new version byte, not a new vector.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bytesToHex, hexToBytes } from "../../../src/base/hex.ts";
import { sha256 } from "../../../src/crypto/sha256.ts";
import type { Header } from "../../../src/consensus/block.ts";
import { genesisCert } from "../../../src/consensus/certificate.ts";
import type { LogRecord } from "../../../src/consensus/log-record.ts";
import type { Message } from "../../../src/consensus/message.ts";
import { createTransaction } from "../../../src/wire/block-codec.ts";
import { decodeLogRecord, encodeLogRecord } from "../../../src/wire/log-record-codec.ts";
import { decodeMessage, encodeMessage } from "../../../src/wire/message-codec.ts";
import { createPorts } from "../../../src/wire/ports.ts";
import { encodeStatement } from "../../../src/wire/statement.ts";
import { SignedNetwork } from "../../support/signed-messages.ts";

const net = new Uint8Array(32).fill(0x11);
const signature = new Uint8Array(64).fill(0x55);
const SIGNATURE = "55".repeat(64);
const blockHash = `0x${"ab".repeat(32)}` as const;
const HASH = "ab".repeat(32);

const header: Header = {
  epoch: 1,
  height: 2,
  parent: `0x${"a1".repeat(32)}`,
  payloadHash: `0x${"a2".repeat(32)}`,
  txCount: 3,
  payloadSize: 4,
  timestampMs: 5,
  execHeight: 6,
  execResult: `0x${"a3".repeat(32)}`,
};
const HEADER =
  `000000010000000000000002${"a1".repeat(32)}${"a2".repeat(32)}` +
  `000000030000000400000000000000050000000000000006${"a3".repeat(32)}`;

const block = {
  hash: blockHash,
  header,
  body: {
    transactions: [
      createTransaction(Uint8Array.of(0xc1), 21_000),
      createTransaction(Uint8Array.of(0xc2, 0xc3), 2 ** 40),
    ],
    rejoin: undefined,
  },
};
const BODY = "00" + "00000002" + "000000000000520800000001" + "000001000000000000000002" + "c1c2c3";
const REJOIN = "03" + "00000001" + HASH + SIGNATURE;
const rejoin = { kind: "rejoin", member: 3, epoch: 1, nonce: blockHash, signature } as const;

const quorumCert = {
  kind: "quorum",
  epoch: 1,
  view: 2,
  height: 3,
  blockHash,
  votes: [{ sender: 2, signature }],
} as const;
const CERTIFIED = `0000000100000000000000020000000000000003${HASH}`;
const slowCert = {
  kind: "slow",
  epoch: 1,
  view: 2,
  height: 3,
  blockHash,
  commits: [{ sender: 2, signature, height: 4, hash: blockHash }],
  links: [header],
} as const;
const SLOW_CERT =
  "03" +
  CERTIFIED +
  "00000001" +
  "02" +
  SIGNATURE +
  "0000000000000004" +
  HASH +
  "00000001" +
  HEADER;
const QUORUM_CERT = "01" + CERTIFIED + "00000001" + "02" + SIGNATURE;

const MESSAGES: readonly (readonly [Message, string])[] = [
  [
    {
      kind: "propose",
      epoch: 1,
      sender: 2,
      view: 3,
      header,
      blockHash,
      body: block.body,
      signature,
    },
    "0101" + "00000001" + "02" + "0000000000000003" + HASH + HEADER + SIGNATURE + BODY,
  ],
  [
    { kind: "vote", epoch: 1, sender: 2, view: 3, height: 2 ** 53 - 1, blockHash, signature },
    "0102" + "00000001" + "02" + "0000000000000003" + "001fffffffffffff" + HASH + SIGNATURE,
  ],
  [
    { kind: "complaint", epoch: 1, sender: 2, view: 3, reason: "censorship", signature },
    "0105" + "00000001" + "02" + "0000000000000003" + "05" + SIGNATURE,
  ],
  [
    {
      kind: "viewChange",
      epoch: 1,
      sender: 2,
      newView: 3,
      finalCert: genesisCert(blockHash),
      highCert: quorumCert,
      votedView: -1,
      headersVoted: [],
      headersCert: [header],
      signature,
    },
    "0106" +
      "00000001" +
      "02" +
      "0000000000000003" +
      ("00" + HASH) +
      QUORUM_CERT +
      "0000000000000000" +
      "00000000" +
      ("00000001" + HEADER) +
      SIGNATURE,
  ],
  [
    { kind: "status", epoch: 1, view: 2, finalHeight: 3, execHeight: 4 },
    "010a" + "00000001" + "0000000000000002" + "0000000000000003" + "0000000000000004",
  ],
  [{ kind: "finality", certificate: slowCert }, "010b" + SLOW_CERT],
  [{ kind: "bodyResponse", blocks: [block] }, "010d" + "00000001" + HASH + HEADER + BODY],
  [{ kind: "forwardRejoin", rejoin }, "0112" + REJOIN],
];

const RECORDS: readonly (readonly [LogRecord, string])[] = [
  [{ kind: "boot" }, "0101"],
  [{ kind: "rejoin", nonce: blockHash }, "0102" + HASH],
  [
    {
      kind: "epoch",
      epoch: 1,
      boundary: { header, certificate: genesisCert(blockHash) },
      isJoining: true,
    },
    "0103" + "00000001" + HEADER + ("00" + HASH) + "01",
  ],
  [{ kind: "view", view: 9 }, "0104" + "0000000000000009"],
  [{ kind: "block", block }, "0105" + HASH + HEADER + BODY],
  [
    { kind: "vote", view: 1, height: 2, blockHash },
    "0106" + "0000000000000001" + "0000000000000002" + HASH,
  ],
  [{ kind: "certificate", certificate: quorumCert }, "0107" + QUORUM_CERT],
  [{ kind: "final", certificate: slowCert }, "0108" + SLOW_CERT],
  [
    {
      kind: "snapshot",
      epoch: 1,
      view: 2,
      booted: true,
      isTipConflicting: false,
      rejoinNonce: blockHash,
      final: { header, certificate: slowCert },
      boundary: { header, certificate: genesisCert(blockHash) },
      votedView: 1,
      votedTip: { height: 7, hash: blockHash },
      votes: [{ height: 8, hash: blockHash }],
      highCert: quorumCert,
      rejoinedAtMs: [-1, 15],
      blocks: [block],
    },
    "0109" +
      "00000001" +
      "0000000000000002" +
      "01" +
      "00" +
      ("01" + HASH) +
      (HEADER + SLOW_CERT) +
      (HEADER + "00" + HASH) +
      "0000000000000002" +
      ("01" + "0000000000000007" + HASH) +
      ("00000001" + "0000000000000008" + HASH) +
      QUORUM_CERT +
      ("00000002" + "0000000000000000" + "0000000000000010") +
      ("00000001" + HASH + HEADER + BODY),
  ],
];

/** Size and the first bytes of the SHA-256 of one signed message of every kind. */
const SIGNED: readonly (readonly [string, number, string])[] = [
  ["propose", 512, "0x52a7f7b6ec463217"],
  ["propose", 349, "0xc16e66a11c06d3a3"],
  ["vote", 119, "0x408e6f108d945d02"],
  ["commit", 119, "0x77fa2178f0eba7fe"],
  ["abdicate", 79, "0xdd75098501d2401f"],
  ["complaint", 80, "0x1cf229be7ceed125"],
  ["viewChange", 512, "0x0094b88db437a428"],
  ["newView", 1613, "0x9437ad69af370ed4"],
  ["execVote", 143, "0x2a0f356343fe225d"],
  ["evidence", 237, "0x44f750eaa9987ea4"],
  ["status", 30, "0x7348ef7ba6969318"],
  ["finality", 319, "0x98950a63cd3579a2"],
  ["finality", 510, "0x14d0b96fc0ee561e"],
  ["bodyRequest", 38, "0xeb7517e16e370bb4"],
  ["bodyResponse", 439, "0x4e765545a9616569"],
  ["blockRequest", 18, "0x9d5f66297d1a1db2"],
  ["blockResponse", 947, "0xb6756588dcf9e261"],
  ["newViewRequest", 14, "0xf3f0af298ceac7c8"],
  ["forward", 16, "0xa38674e58f27b756"],
  ["forwardRejoin", 103, "0x3873ebffc5e378e7"],
  ["probe", 34, "0x2f44beb7ba609fff"],
  ["probeAnswer", 782, "0xe620a57c44ac694d"],
];

describe("golden vectors", () => {
  for (const [message, hex] of MESSAGES) {
    it(`message ${message.kind}`, () => {
      assert.equal(bytesToHex(encodeMessage(message)), `0x${hex}`);
      assert.deepEqual(decodeMessage(hexToBytes(`0x${hex}`)), { ok: true, value: message });
    });
  }

  for (const [record, hex] of RECORDS) {
    it(`record ${record.kind}`, () => {
      assert.equal(bytesToHex(encodeLogRecord(record)), `0x${hex}`);
      assert.deepEqual(decodeLogRecord(hexToBytes(`0x${hex}`)), { ok: true, value: record });
    });
  }

  it("one signed message of every kind: encoding, statement and Ed25519 together", () => {
    const actual = new SignedNetwork(net).messages().map((message) => {
      const bytes = encodeMessage(message);
      return [message.kind, bytes.length, bytesToHex(sha256(bytes)).slice(0, 18)];
    });
    assert.deepEqual(actual, SIGNED);
  });

  it("what is signed", () => {
    const vote = { kind: "vote", epoch: 1, view: 2, height: 3, blockHash } as const;
    const prefix = `0xc201${"11".repeat(32)}00000001`;
    assert.equal(
      bytesToHex(encodeStatement(net, vote)),
      `${prefix}0200000000000000020000000000000003${HASH}`,
    );
    assert.equal(bytesToHex(encodeStatement(net, rejoin)), `${prefix}0903${HASH}`);
  });

  it("the names of headers and bodies", () => {
    const ports = createPorts({ net, signer: { sign: () => signature } });
    const hashed = (hex: string): string => bytesToHex(sha256(hexToBytes(`0x${hex}`)));
    assert.equal(ports.hashHeader(header), hashed(`0101${"11".repeat(32)}${HEADER}`));
    assert.equal(ports.hashBody(block.body), hashed(`0201${BODY}`));
    assert.equal(ports.hashBody({ transactions: [], rejoin }), hashed(`020101${REJOIN}00000000`));
  });

  it("the id of a transaction is the keccak-256 of its bytes", () => {
    assert.equal(
      createTransaction(new Uint8Array(0), 0).id,
      "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
    );
  });
});
