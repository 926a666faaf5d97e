import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bytesToHex } from "../../../src/base/hex.ts";
import { genesisCert } from "../../../src/consensus/certificate.ts";
import { ZERO_HASH_TEXT } from "../../../src/wire/hash-text.ts";
import { createPorts } from "../../../src/wire/ports.ts";
import { encodeStatement, type Signable } from "../../../src/wire/statement.ts";
import { plainHeader } from "../../support/plain-header.ts";

const net = new Uint8Array(32).fill(0x11);
const blockHash = ZERO_HASH_TEXT;

const STATEMENTS: readonly Signable[] = [
  { kind: "proposeClaim", epoch: 1, view: 2, height: 3, blockHash },
  { kind: "vote", epoch: 1, view: 2, height: 3, blockHash },
  { kind: "commit", epoch: 1, view: 2, height: 3, blockHash },
  { kind: "abdicate", epoch: 1, view: 2 },
  { kind: "complaint", epoch: 1, view: 2, reason: "no-progress" },
  {
    kind: "viewChange",
    epoch: 1,
    newView: 2,
    finalCert: genesisCert(blockHash),
    highCert: genesisCert(blockHash),
    votedView: -1,
    headersVoted: [],
    headersCert: [],
  },
  { kind: "newView", epoch: 1, view: 2, viewChanges: [] },
  { kind: "execVote", epoch: 1, height: 3, blockHash, result: blockHash },
  { kind: "rejoin", member: 0, epoch: 1, nonce: blockHash },
];

describe("what replicas sign", () => {
  it("begins with domain, version, network, epoch and type, each kind with its own type", () => {
    const types = new Set<number>();
    for (const statement of STATEMENTS) {
      const bytes = encodeStatement(net, statement);
      const prefix = `0xc201${"11".repeat(32)}00000001`;
      assert.equal(bytesToHex(bytes.subarray(0, 38)), prefix, statement.kind);
      types.add(bytes[38] ?? 0);
    }
    assert.deepEqual(
      [...types].sort((a, b) => a - b),
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
  });

  it("differs between networks and between epochs for every kind", () => {
    for (const statement of STATEMENTS) {
      const bytes = bytesToHex(encodeStatement(net, statement));
      const foreign = encodeStatement(new Uint8Array(32).fill(0x12), statement);
      const later = encodeStatement(net, { ...statement, epoch: 2 });
      assert.notEqual(bytesToHex(foreign), bytes, `${statement.kind} in another network`);
      assert.notEqual(bytesToHex(later), bytes, `${statement.kind} in another epoch`);
    }
  });

  it("depends on every field of the statement", () => {
    const other = `0x${"01".repeat(32)}` as const;
    for (const statement of STATEMENTS) {
      const bytes = bytesToHex(encodeStatement(net, statement));
      for (const [name, value] of Object.entries(statement)) {
        if (name === "kind") continue;
        const changed = { ...statement, [name]: changedValue(name, value, other) };
        const text = `${statement.kind}.${name}`;
        assert.notEqual(bytesToHex(encodeStatement(net, changed)), bytes, text);
      }
    }
  });

  it("is what the signer of the ports is asked to sign", () => {
    const asked: Uint8Array[] = [];
    const signer = {
      sign(bytes: Uint8Array) {
        asked.push(bytes);
        return new Uint8Array(64);
      },
    };
    const ports = createPorts({ net, signer });
    const vote = { kind: "vote", epoch: 1, sender: 3, view: 2, height: 3, blockHash } as const;
    const rejoin = { kind: "rejoin", member: 3, epoch: 1, nonce: blockHash } as const;
    ports.sign(vote);
    ports.signRejoin(rejoin);
    assert.deepEqual(asked, [encodeStatement(net, vote), encodeStatement(net, rejoin)]);
  });
});

describe("the names of blocks", () => {
  const header = plainHeader({ height: 1, timestampMs: 5 });
  const signer = { sign: () => new Uint8Array(64) };

  it("depend on the network and on every field of the header", () => {
    const { hashHeader } = createPorts({ net, signer });
    const hash = hashHeader(header);
    const foreign = createPorts({ net: new Uint8Array(32), signer });
    assert.notEqual(foreign.hashHeader(header), hash);
    for (const [name, value] of Object.entries(header)) {
      const other = `0x${"01".repeat(32)}` as const;
      const changed = { ...header, [name]: changedValue(name, value, other) };
      assert.notEqual(hashHeader(changed), hash, name);
    }
  });

  it("bodies: depend on gas, bytes, order, boundaries and the rejoin", () => {
    const { hashBody } = createPorts({ net, signer });
    const transaction = (gas: number, ...bytes: number[]) => ({
      id: ZERO_HASH_TEXT,
      gas,
      bytes: Uint8Array.from(bytes),
    });
    const rejoin = {
      kind: "rejoin",
      member: 0,
      epoch: 0,
      nonce: ZERO_HASH_TEXT,
      signature: new Uint8Array(64),
    } as const;
    const bodies = [
      { transactions: [transaction(1, 1, 2), transaction(1, 3)], rejoin: undefined },
      { transactions: [transaction(1, 1), transaction(1, 2, 3)], rejoin: undefined },
      { transactions: [transaction(1, 3), transaction(1, 1, 2)], rejoin: undefined },
      { transactions: [transaction(2, 1, 2), transaction(1, 3)], rejoin: undefined },
      { transactions: [transaction(1, 1, 2)], rejoin: undefined },
      { transactions: [], rejoin: undefined },
      { transactions: [], rejoin },
      { transactions: [], rejoin: { ...rejoin, signature: new Uint8Array(64).fill(1) } },
    ];
    assert.equal(new Set(bodies.map(hashBody)).size, bodies.length);
  });
});

function changedValue(name: string, value: unknown, other: string): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value === "string") return name === "reason" ? "censorship" : other;
  if (name === "viewChanges") {
    return [{ ...STATEMENTS[5], sender: 0, signature: new Uint8Array(64) }];
  }
  if (name.startsWith("headers")) {
    return [
      {
        epoch: 0,
        height: 1,
        parent: other,
        payloadHash: other,
        txCount: 0,
        payloadSize: 0,
        timestampMs: 0,
        execHeight: 0,
        execResult: other,
      },
    ];
  }
  return genesisCert(other as `0x${string}`);
}
