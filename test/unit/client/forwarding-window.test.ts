/** Which executable transactions the replicas are given first when there are too many. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { Prng } from "../../../src/base/prng.ts";
import { ForwardingWindow } from "../../../src/client/transactions/forwarding-window.ts";
import type { Hash } from "../../../src/consensus/block.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { bytesToHash } from "../../../src/wire/hash-text.ts";
import { until } from "../../support/following-client.ts";
import { transfer } from "../../support/replica-network.ts";
import { openClient, temporaryDirectory } from "./client-nodes.ts";
import { FinalChain } from "./final-chain.ts";
import { ServingNetwork } from "./serving-replicas.ts";

const FLOOD = 5_000;
const NO_BYTES = new Uint8Array(0);

describe("ForwardingWindow", () => {
  let nowMs: number;
  let forwarded: Hash[];
  let window: ForwardingWindow;

  beforeEach(() => {
    nowMs = 0;
    forwarded = [];
    window = new ForwardingWindow({ forward: (id) => forwarded.push(id), now: () => nowMs });
  });

  const add = (source: string, sender: number, nonce: number, gasLimit = 21_000n): Hash => {
    const id: Hash = `0x${source}/${sender}/${nonce}`;
    const account = { sender: BigInt(sender), nonce: BigInt(nonce) };
    window.add({ id, encoded: NO_BYTES, source, ...account, gasLimit });
    return id;
  };
  /** The oldest of those in flight become final. */
  const finish = (count: number, from = 0): void => {
    for (const id of forwarded.slice(from, from + count)) window.onFinal(id);
    window.forwardNext();
  };

  it("forwards at once while little is in flight", () => {
    const ids = [0, 1, 2].map((nonce) => add("a", 1, nonce));
    assert.deepEqual(forwarded, ids);
  });

  it("bounds what is in flight, and forwards the rest as transactions become final", () => {
    for (let nonce = 0; nonce < FLOOD; nonce++) add("a", nonce, 0);
    const first = forwarded.length;
    assert.ok(first < FLOOD / 2, `${first} are in flight`);
    for (let done = 0; done < FLOOD; done += 500) {
      nowMs += 100;
      finish(500, done);
    }
    assert.equal(new Set(forwarded).size, FLOOD);
    assert.equal(window.inFlightCount + window.waitingCount, 0);
  });

  it("forwards the first of another caller at once, and further ones in turn", () => {
    for (let nonce = 0; nonce < FLOOD; nonce++) add("a", nonce, 0);
    const first = add("b", 9_000, 0);
    assert.equal(forwarded.at(-1), first);
    const second = add("b", 9_000, 1);
    assert.notEqual(forwarded.at(-1), second);
    const before = forwarded.length;
    nowMs += 100;
    finish(10);
    assert.ok(forwarded.slice(before, before + 2).includes(second), "it is one of the next two");
  });

  it("lets the accounts of one caller take turns", () => {
    for (let nonce = 0; nonce < FLOOD; nonce++) add("a", 1, nonce);
    const other = add("a", 2, 0);
    const before = forwarded.length;
    nowMs += 100;
    finish(10);
    assert.ok(forwarded.slice(before, before + 2).includes(other), "it is one of the next two");
  });

  it("keeps the nonces of an account in order, also when one is replaced", () => {
    for (let nonce = 0; nonce < FLOOD; nonce++) add("a", 1, nonce);
    window.remove(`0xa/1/${FLOOD - 2}`);
    add("a", 1, FLOOD - 2);
    for (let done = 0; done < FLOOD; done += 500) finish(500, done);
    const nonces = forwarded.map((id) => Number(id.split("/")[2]));
    assert.deepEqual(
      nonces,
      nonces.toSorted((left, right) => left - right),
    );
  });

  it("shrinks while the replicas are slow, and grows while they are quick", () => {
    for (let nonce = 0; nonce < 4 * FLOOD; nonce++) add("a", nonce, 0);
    const start = window.inFlightCount;
    nowMs += 2_000;
    finish(start);
    const slow = window.inFlightCount;
    assert.ok(slow <= start / 2, `${start} became ${slow}`);
    for (let round = 0; round < 4; round++) {
      const before = forwarded.length - window.inFlightCount;
      nowMs += 50;
      finish(window.inFlightCount, before);
    }
    assert.ok(window.inFlightCount > 2 * slow, `${slow} became ${window.inFlightCount}`);
  });

  it("weighs what asks for much gas", () => {
    for (let nonce = 0; nonce < 100; nonce++) add("a", nonce, 0, 16_000_000n);
    assert.ok(forwarded.length < 10, `${forwarded.length} are in flight`);
    assert.ok(forwarded.length > 0);
  });

  it("does not wait for ever for those that never become final", () => {
    for (let nonce = 0; nonce < FLOOD; nonce++) add("a", nonce, 0);
    const before = forwarded.length;
    nowMs += 6_000;
    window.forwardNext();
    assert.ok(forwarded.length > before);
  });

  it("loses and repeats nothing, whatever comes and goes", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const prng = new Prng(seed);
      forwarded = [];
      window = new ForwardingWindow({ forward: (id) => forwarded.push(id), now: () => nowMs });
      const added = new Set<Hash>();
      const removed = new Set<Hash>();
      const nonces = new Map<string, number>();
      for (let step = 0; step < 6_000; step++) {
        nowMs += prng.below(3);
        const sender = prng.below(50);
        const nonce = nonces.get(String(sender)) ?? 0;
        const choice = prng.below(10);
        if (choice < 8) {
          nonces.set(String(sender), nonce + 1);
          added.add(add(`caller ${sender % 7}`, sender, nonce, BigInt(prng.below(200_000))));
        } else if (choice === 8) {
          const id = [...added][prng.below(Math.max(1, added.size))];
          if (id !== undefined && !forwarded.includes(id)) {
            window.remove(id);
            removed.add(id);
          }
        } else {
          const from = forwarded.length - window.inFlightCount;
          finish(prng.below(100), Math.max(0, from));
        }
      }
      for (let round = 0; round < 10_000 && window.waitingCount > 0; round++) {
        nowMs += 6_000;
        window.forwardNext();
      }
      assert.equal(new Set(forwarded).size, forwarded.length, `SEED=${seed} forwarded twice`);
      const wanted = [...added].filter((id) => !removed.has(id)).sort();
      assert.deepEqual(forwarded.toSorted(), wanted, `SEED=${seed} lost`);
    }
  });
});

describe("a client node that one caller floods with executable transactions", () => {
  it("gives the replicas that of another caller before the rest of the flood", async () => {
    const directory = temporaryDirectory();
    const network = await ServingNetwork.open(new FinalChain());
    const { node } = await openClient(directory.path, network);
    try {
      await node.whenReady();
      const flood = Array.from({ length: 2_000 }, (_, index) =>
        transfer(index % 20, Math.floor(index / 20)),
      );
      const sent = await Promise.all(
        flood.map((bytes) => node.pending.submitRaw(bytes, "address 10.0.0.1")),
      );
      assert.ok(sent.every(({ ok }) => ok));
      const honest = transfer(39, 0);
      assert.ok((await node.pending.submitRaw(honest, "address 10.0.0.2")).ok);
      const isThere = (bytes: Uint8Array): boolean =>
        network.replicas[0]?.submitted.has(bytesToHash(keccak256(bytes))) === true;
      await until(() => isThere(honest), "it is sent");
      assert.ok(!flood.every(isThere), "the flood is not");
      await until(() => {
        network.orderSubmitted();
        return node.status().openTransactions === 0;
      }, "all of them are final in the end");
    } finally {
      await node.close();
      await network.close();
      directory.remove();
    }
  });
});
