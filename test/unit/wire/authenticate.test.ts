import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Message } from "../../../src/consensus/message.ts";
import {
  createPeerMessageAuthenticator,
  type PeerMessageAuthenticator,
} from "../../../src/wire/authenticate.ts";
import { decodeMessage, encodeMessage } from "../../../src/wire/message-codec.ts";
import { VerifiedSignatures } from "../../../src/wire/verified-signatures.ts";
import { GENESIS, REPLICA_COUNT, SignedNetwork } from "../../support/signed-messages.ts";

const network = new SignedNetwork(new Uint8Array(32).fill(0x11));
const OTHER_HASH = `0x${"99".repeat(32)}` as const;

describe("authenticate", () => {
  it("passes one correctly signed message of every kind, as it comes from the wire", () => {
    const authenticator = createFor(network);
    for (const message of network.messages()) {
      const decoded = decodeMessage(encodeMessage(message));
      assert.ok(decoded.ok, message.kind);
      const passed = authenticator.authenticate(decoded.value, 3);
      assert.deepEqual(passed, { ok: true, value: message }, message.kind);
    }
  });

  it("refuses every message if any one signature in it is damaged, however deep", () => {
    let damagedCount = 0;
    for (const message of network.messages()) {
      for (const path of signaturePaths(message)) {
        const damaged = structuredClone(message);
        const signature = at(damaged, path);
        signature[40] = (signature[40] ?? 0) ^ 1;
        const text = `${message.kind} ${path.join(".")}`;
        assert.equal(codeOf(damaged), "AUTH_SIGNATURE_INVALID", text);
        damagedCount++;
      }
    }
    assert.ok(damagedCount > 40, `only ${damagedCount} signatures were found`);
  });

  it("refuses forged parts that a member has put its own valid signature around", () => {
    const forged = new Uint8Array(64).fill(1);
    const quorum = network.quorumCert();
    const [vote, ...votes] = quorum.votes;
    assert.ok(vote !== undefined);
    const highCert = { ...quorum, votes: [{ ...vote, signature: forged }, ...votes] };
    const invalid = network.viewChange(2, { highCert });
    const fast = network.fastCert();
    const [first, ...others] = fast.votes;
    assert.ok(first !== undefined);
    const finalCert = { ...fast, votes: [{ ...first, signature: forged }, ...others] };
    const framed = { ...network.viewChange(3), signature: forged };
    const rejoin = { ...network.rejoin(3), signature: forged };
    const cases: readonly (readonly [string, Message])[] = [
      ["a vote in a view change", invalid],
      ["a vote in the finality of a view change", network.viewChange(2, { finalCert })],
      ["a view change in a new view", network.newView({ viewChanges: [framed] })],
      ["a vote in a view change in a new view", network.newView({ viewChanges: [invalid] })],
      ["a rejoin in a proposal", network.propose(network.block(0, rejoin))],
      ["a rejoin in a block", { kind: "bodyResponse", blocks: [network.block(0, rejoin)] }],
    ];
    for (const [name, message] of cases) {
      assert.equal(codeOf(message), "AUTH_SIGNATURE_INVALID", name);
    }
  });

  it("refuses every signed message of another network", () => {
    const foreign = new SignedNetwork(new Uint8Array(32).fill(0x12));
    for (const message of foreign.messages()) {
      if (signaturePaths(message).length === 0) continue;
      // Its certificates stand on another genesis, and its blocks have other names.
      const expected = /^(AUTH_SIGNATURE_INVALID|AUTH_BLOCK_HASH_MISMATCH|CERT_[A-Z_]+)$/;
      assert.match(codeOf(message), expected, message.kind);
    }
    assert.equal(codeOf(foreign.vote(1)), "AUTH_SIGNATURE_INVALID");
  });

  it("refuses what was signed in one epoch and is sent as of another", () => {
    for (const message of network.messages()) {
      if (!("signature" in message)) continue;
      assert.equal(codeOf({ ...message, epoch: 1 }), "AUTH_SIGNATURE_INVALID", message.kind);
    }
    const rejoin = { ...network.rejoin(2), epoch: 1 };
    assert.equal(codeOf({ kind: "forwardRejoin", rejoin }), "AUTH_SIGNATURE_INVALID");
    const certificate = { ...network.fastCert(), epoch: 1 };
    assert.equal(codeOf({ kind: "finality", certificate }), "AUTH_SIGNATURE_INVALID");
  });

  it("refuses a signature that is replayed under another type", () => {
    const vote = network.vote(1);
    assert.equal(codeOf({ ...vote, kind: "commit" }), "AUTH_SIGNATURE_INVALID");
    const block = network.block(2);
    const propose = network.propose(block, 1);
    assert.equal(codeOf({ ...vote, signature: propose.signature }), "AUTH_SIGNATURE_INVALID");
    const claims = {
      kind: "evidence",
      first: { ...vote, kind: "proposeClaim" },
      second: { ...network.vote(1, { blockHash: OTHER_HASH }), kind: "proposeClaim" },
    } as const;
    assert.equal(codeOf(claims), "AUTH_SIGNATURE_INVALID");
    const fast = network.fastCert();
    const commits = fast.votes.map((v) => ({ ...v, height: 1, hash: fast.blockHash }));
    const certificate = { ...fast, kind: "slow", commits, links: [] } as const;
    assert.equal(codeOf({ kind: "finality", certificate }), "AUTH_SIGNATURE_INVALID");
  });

  it("refuses a signature under another member's name", () => {
    assert.equal(codeOf({ ...network.vote(1), sender: 2 }), "AUTH_SIGNATURE_INVALID");
  });

  it("refuses senders and links that are no members", () => {
    assert.equal(codeOf({ ...network.vote(1), sender: REPLICA_COUNT }), "AUTH_SENDER_UNKNOWN");
    const rejoin = { ...network.rejoin(1), member: 5 };
    assert.equal(codeOf({ kind: "forwardRejoin", rejoin }), "AUTH_SENDER_UNKNOWN");
    for (const from of [REPLICA_COUNT, -1, 0.5]) {
      assert.equal(codeOf({ kind: "probe", nonce: OTHER_HASH }, from), "AUTH_LINK_UNKNOWN");
    }
  });

  it("refuses certificates that are too small, doubled or off the chain", () => {
    const fast = network.fastCert();
    const slow = network.slowCert();
    const quorum = network.quorumCert();
    const [vote] = fast.votes;
    assert.ok(vote !== undefined);
    const cases = [
      [{ ...fast, votes: fast.votes.slice(1) }, "CERT_TOO_FEW_SIGNERS"],
      [{ ...fast, votes: [vote, ...fast.votes.slice(0, 3)] }, "CERT_SIGNERS_NOT_DISTINCT"],
      [{ ...fast, votes: [...fast.votes.slice(1), { ...vote, sender: 9 }] }, "CERT_SIGNER_UNKNOWN"],
      [{ ...slow, links: [] }, "CERT_COMMIT_OFF_CHAIN"],
      [{ ...slow, links: [...slow.links, ...slow.links] }, "CERT_LINKS_BROKEN"],
    ] as const;
    for (const [certificate, code] of cases) {
      assert.equal(codeOf({ kind: "finality", certificate }), code);
    }
    const highCert = { ...quorum, votes: quorum.votes.slice(1) };
    const viewChange = network.viewChange(2, { highCert });
    assert.equal(codeOf(viewChange), "CERT_TOO_FEW_SIGNERS");
    assert.equal(codeOf(network.newView({ viewChanges: [viewChange] })), "CERT_TOO_FEW_SIGNERS");
  });

  it("refuses a NewView of more view changes than there are members", () => {
    const viewChanges = Array.from({ length: REPLICA_COUNT + 1 }, () => network.viewChange(2));
    assert.equal(codeOf(network.newView({ viewChanges })), "AUTH_VIEW_CHANGES_TOO_MANY");
  });

  it("refuses blocks that are not what their hash or header names", () => {
    const block = network.block(2);
    const respond = (changed: typeof block): Message => ({
      kind: "bodyResponse",
      blocks: [changed],
    });
    assert.equal(codeOf(respond({ ...block, hash: OTHER_HASH })), "AUTH_BLOCK_HASH_MISMATCH");
    assert.equal(codeOf(respond({ ...block, body: network.block(1).body })), "AUTH_BODY_MISMATCH");
    for (const wrong of [{ txCount: 3 }, { payloadSize: 1 }, { payloadHash: OTHER_HASH }]) {
      const misnamed = network.blockOf(block.body, wrong);
      assert.equal(codeOf(respond(misnamed)), "AUTH_BODY_MISMATCH", JSON.stringify(wrong));
      const certificate = network.fastCert();
      const response: Message = { kind: "blockResponse", blocks: [misnamed], certificate };
      assert.equal(codeOf(response), "AUTH_BODY_MISMATCH", JSON.stringify(wrong));
    }
  });

  it("passes a proposal that does not fit its hash: the core must be able to accuse", () => {
    const propose = network.propose(network.block(2));
    const header = { ...propose.header, timestampMs: 7 };
    assert.equal(codeOf({ ...propose, header }), "accepted");
    assert.equal(codeOf({ ...propose, body: network.block(1).body }), "accepted");
    // But not one that the leader did not sign: anybody could frame it.
    const moved = { ...propose.header, height: 2 };
    assert.equal(codeOf({ ...propose, header: moved }), "AUTH_SIGNATURE_INVALID");
  });
});

describe("signatures that were verified before", () => {
  it("are not verified again inside certificates, view changes and new views", () => {
    let calls = 0;
    const authenticator = createFor(network, (sender, bytes, signature) => {
      calls++;
      return network.verify(sender, bytes, signature);
    });
    for (const sender of [0, 1, 2, 3]) authenticator.authenticate(network.vote(sender), sender);
    assert.equal(calls, 4);
    assert.ok(
      authenticator.authenticate({ kind: "finality", certificate: network.fastCert() }, 0).ok,
    );
    assert.equal(calls, 4);
    for (const sender of [0, 2, 3]) authenticator.authenticate(network.viewChange(sender), sender);
    assert.equal(calls, 7);
    assert.ok(authenticator.authenticate(network.newView(), 1).ok);
    assert.equal(calls, 8);
  });

  it("count for nothing under another sender, statement or signature", () => {
    const verified = new VerifiedSignatures(10);
    const statement = Uint8Array.of(1, 2, 3);
    const signature = new Uint8Array(64).fill(5);
    verified.add(1, statement, signature);
    assert.equal(verified.has(1, statement, signature), true);
    assert.equal(verified.has(2, statement, signature), false);
    assert.equal(verified.has(1, Uint8Array.of(1, 2, 4), signature), false);
    const other = Uint8Array.from(signature);
    other[0] = 6;
    assert.equal(verified.has(1, statement, other), false);
  });

  it("are forgotten when there are too many, the oldest unused first", () => {
    const verified = new VerifiedSignatures(100);
    const statement = Uint8Array.of(1);
    const kept = signatureOf(0);
    verified.add(0, statement, kept);
    for (let index = 1; index < 5_000; index++) {
      verified.add(0, statement, signatureOf(index));
      assert.ok(verified.count <= 200, `${verified.count} remembered`);
      assert.equal(verified.has(0, statement, kept), true, `in use, forgotten at ${index}`);
    }
    assert.equal(verified.has(0, statement, signatureOf(1)), false);
    assert.equal(verified.has(0, statement, signatureOf(4_999)), true);
  });

  it("do not make a failed one pass later", () => {
    const authenticator = createFor(network);
    const forged = { ...network.vote(1), signature: new Uint8Array(64) };
    assert.equal(authenticator.authenticate(forged, 1).ok, false);
    assert.equal(authenticator.authenticate(forged, 1).ok, false);
  });
});

function createFor(of: SignedNetwork, verify = of.verify): PeerMessageAuthenticator {
  const options = { net: network.net, replicaCount: REPLICA_COUNT, genesis: GENESIS, window: 4 };
  return createPeerMessageAuthenticator(options, { verify });
}

/** By a fresh authenticator, which has verified nothing before. */
function codeOf(message: Message, from = 0): string {
  const passed = createFor(network).authenticate(message, from);
  return passed.ok ? "accepted" : passed.error.code;
}

function signatureOf(index: number): Uint8Array {
  const signature = new Uint8Array(64);
  new DataView(signature.buffer).setUint32(34, index);
  return signature;
}

/** Where signatures are in a message. */
function signaturePaths(value: unknown, path: readonly string[] = []): readonly string[][] {
  if (value instanceof Uint8Array) return path.at(-1) === "signature" ? [[...path]] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => signaturePaths(item, [...path, key]));
}

function at(value: unknown, path: readonly string[]): Uint8Array {
  let found = value;
  for (const key of path) found = (found as Record<string, unknown>)[key];
  return found as Uint8Array;
}
