import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Block } from "../../../src/consensus/block.ts";
import type { Message } from "../../../src/consensus/message.ts";
import { CheckedTransactions } from "../../../src/replica/transactions/checked-transactions.ts";
import { PeerInbox } from "../../../src/replica/peers/peer-inbox.ts";
import { createTransaction } from "../../../src/wire/block-codec.ts";
import { ZERO_HASH_TEXT } from "../../../src/wire/hash-text.ts";
import { encodeMessage } from "../../../src/wire/message-codec.ts";
import { until } from "../../support/following-client.ts";
import { CHAIN_ID, transfer } from "../../support/replica-network.ts";
import { plainHeader } from "../../support/plain-header.ts";

const PEER = 1;
const STATUS: Message = {
  kind: "status",
  epoch: 0,
  view: 0,
  finalHeight: 0,
  execHeight: 0,
};

/** Signatures are another test's business: everything is taken for authentic here. */
function open(): {
  readonly inbox: PeerInbox;
  readonly got: { readonly kind: string; readonly isValid: boolean }[];
  readonly refused: string[];
  readonly holds: boolean[];
  readonly checked: CheckedTransactions;
} {
  const got: { readonly kind: string; readonly isValid: boolean }[] = [];
  const refused: string[] = [];
  const holds: boolean[] = [];
  const rules = { chainId: CHAIN_ID, fork: "prague", transactionGasMax: 16_777_216n } as const;
  const checked = new CheckedTransactions(rules);
  const inbox = new PeerInbox({
    authenticator: { authenticate: (message) => ({ ok: true, value: message }) },
    checked,
    receiver: {
      onMessage: (_from, { kind }, isValid) => got.push({ kind, isValid }),
      onRefused: (_from, code) => refused.push(code),
    },
    links: { hold: (_from, isHeld) => holds.push(isHeld) },
  });
  return { inbox, got, refused, holds, checked };
}

describe("what peers send", () => {
  it("is not even decoded if it is large and was not requested", () => {
    const { inbox, got, refused } = open();
    const response = encodeMessage({ kind: "bodyResponse", blocks: [] });
    inbox.onFrame(PEER, response);
    assert.deepEqual(refused, ["MESSAGE_UNASKED"]);
    inbox.noteSent(PEER, { kind: "bodyRequest", hashes: [ZERO_HASH_TEXT] });
    inbox.noteSent(2, { kind: "blockRequest", fromHeight: 1, toHeight: 2 });
    inbox.onFrame(PEER, response);
    assert.equal(got.length, 1);
    // One answer to one question, and only from whom it was put to.
    inbox.onFrame(PEER, response);
    inbox.onFrame(2, response);
    assert.equal(got.length, 1);
    assert.equal(refused.length, 3);
  });

  it("is refused with the code of what is wrong", () => {
    const { inbox, refused } = open();
    inbox.onFrame(PEER, Uint8Array.of(1, 99));
    inbox.onFrame(PEER, new Uint8Array(0));
    assert.deepEqual(refused, ["WIRE_UNKNOWN_TYPE", "WIRE_TRUNCATED"]);
  });

  it("is checked in slices when it is large, and keeps its order", async () => {
    const { inbox, got, holds } = open();
    const count = 150;
    const transfers = Array.from({ length: count }, (_, nonce) => transfer(0, nonce));
    inbox.onFrame(PEER, encodeMessage(propose(transfers.map((bytes) => [bytes, 21_000]))));
    inbox.onFrame(PEER, encodeMessage(STATUS));
    assert.deepEqual(got, [], "the first slice is not all");
    inbox.onFrame(2, encodeMessage(STATUS));
    assert.equal(got.length, 1, "another peer does not wait");
    await until(() => got.length === 3, "all is through");
    assert.deepEqual(got.slice(1), [
      { kind: "propose", isValid: true },
      { kind: "status", isValid: true },
    ]);
    assert.deepEqual(holds, [true, false]);
  });

  it("costs no signature for transactions that are known", () => {
    const { inbox, got, checked } = open();
    const bytes = transfer(0, 0);
    const frame = encodeMessage(propose([[bytes, 21_000]]));
    inbox.onFrame(PEER, frame);
    inbox.onFrame(2, frame);
    assert.equal(checked.recoveredCount, 1);
    assert.deepEqual(
      got.map(({ isValid }) => isValid),
      [true, true],
    );
  });

  it("is invalid when a transaction declares another gas, another chain, or is none", () => {
    const { inbox, got } = open();
    const damaged = Uint8Array.from(transfer(0, 1));
    damaged[10]! ^= 0xff;
    inbox.onFrame(PEER, encodeMessage(propose([[transfer(0, 0), 21_001]])));
    inbox.onFrame(PEER, encodeMessage(propose([[transfer(0, 0), 21_000]])));
    inbox.onFrame(PEER, encodeMessage(propose([[transfer(0, 0), 20_999]])));
    inbox.onFrame(PEER, encodeMessage(propose([[Uint8Array.of(1, 2, 3), 21_000]])));
    assert.deepEqual(
      got.map(({ isValid }) => isValid),
      [false, true, false, false],
    );
  });
});

function propose(transactions: readonly (readonly [Uint8Array, number])[]): Message {
  const header: Block["header"] = plainHeader({ height: 1 });
  return {
    kind: "propose",
    epoch: 0,
    sender: PEER,
    view: 0,
    header,
    blockHash: ZERO_HASH_TEXT,
    body: {
      transactions: transactions.map(([bytes, gas]) => createTransaction(bytes, gas)),
      rejoin: undefined,
    },
    signature: new Uint8Array(64),
  };
}
