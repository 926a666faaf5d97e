import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { afterEach, describe, it } from "node:test";
import { Prng } from "../../../src/base/prng.ts";
import { CLIENT_LIMITS, REPLICA_LIMITS } from "../../../src/transport/transport-options.ts";
import {
  closeAll,
  endLeftovers,
  HOST,
  introduce,
  isMeshed,
  openMesh,
  openNode,
  until,
} from "./nodes.ts";

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const bytesOf = (content: string): Uint8Array => Uint8Array.from(Buffer.from(content));

describe("transport", () => {
  afterEach(endLeftovers);

  it("four replicas and a client mesh up, one link per pair, and everyone hears everyone", async () => {
    const nodes = await openMesh([0, 1, 2, 3, 8]);
    for (const node of nodes) {
      for (const { peer } of node.transport.status()) {
        assert.ok(node.transport.send(peer, bytesOf(`${node.principal} to ${peer}`)));
      }
    }
    await until(() => nodes.every(({ frames }) => frames.length === 4), "all frames arrived");
    for (const node of nodes) {
      const heard = node.frames.map(({ peer, bytes }) => `${peer}: ${text(bytes)}`).sort();
      const others = nodes.filter((other) => other !== node).map(({ principal }) => principal);
      const said = others.map((peer) => `${peer}: ${peer} to ${node.principal}`);
      assert.deepEqual(heard, said.sort(), `node ${node.principal}`);
      assert.deepEqual(node.ups.sort(), others.sort(), "each peer came up once");
      assert.deepEqual(node.downs, []);
    }
    await closeAll(nodes);
  });

  it("both sides may start at once: the lower only knocks, and one link stands", async () => {
    const nodes = await Promise.all([openNode(0, [0, 1]), openNode(1, [0, 1])]);
    introduce(nodes);
    await until(() => nodes.every(isMeshed), "the link is up");
    const [low, high] = nodes;
    await until(() => high.transport.counters.accepted > 0, "the knock arrived");
    low.transport.send(1, bytesOf("still here"));
    await until(() => high.frames.length === 1, "the frame arrived");
    assert.deepEqual([low.ups, high.ups], [[1], [0]]);
    assert.deepEqual([low.downs, high.downs], [[], []]);
    assert.equal(low.transport.status()[0]?.counters.dials, 0, "the lower never dials");
    await closeAll(nodes);
  });

  it("a barred peer loses its link and has no other before its time, whichever side dials", async () => {
    const nodes = await openMesh([0, 1, 8]);
    const [replica] = nodes;
    assert.ok(replica !== undefined);
    for (const peer of [1, 8]) {
      const barredMs = performance.now();
      replica.transport.bar(peer, 600);
      assert.equal(replica.transport.isUp(peer), false);
      await until(() => replica.transport.isUp(peer), "the link is up again");
      const pauseMs = performance.now() - barredMs;
      assert.ok(pauseMs >= 600, `peer ${peer} was back after ${pauseMs} ms`);
    }
    assert.deepEqual(
      replica.downs.map(({ reason }) => reason),
      ["LINK_BARRED", "LINK_BARRED"],
    );
    await closeAll(nodes);
  });

  it("frames of every size arrive whole and in order, given whole or in parts", async () => {
    const prng = new Prng(7);
    const edges = [0, 1, 3, 4, 5, 16_380, 16_384, 65_531, 65_532, 65_536, 65_537, 3_000_000];
    const sizes = prng.shuffle([...edges, ...edges, REPLICA_LIMITS.frameSizeMax, 0, 0]);
    const digests: string[] = [];
    const [low, high] = await openMesh([0, 1], {
      onFrame: (_node, peer, frame) => {
        if (peer === 0) digests.push(digestOf(frame));
      },
    });
    assert.ok(low !== undefined && high !== undefined);
    const expected: string[] = [];
    for (const size of sizes) {
      const frame = new Uint8Array(size).fill(prng.below(256));
      const cuts = [0, prng.below(size + 1), prng.below(size + 1), size].sort((a, b) => a - b);
      const parts = [0, 1, 2].map((index) => frame.subarray(cuts[index], cuts[index + 1]));
      expected.push(digestOf(frame));
      assert.ok(low.transport.send(1, prng.chance(0.5) ? frame : parts), `size ${size}`);
    }
    await until(() => digests.length === sizes.length, "all frames arrived");
    assert.deepEqual(digests, expected);
    await closeAll([low, high]);
  });

  it("fifty thousand small frames keep their order in both directions", async () => {
    const count = 50_000;
    const next = [0, 0];
    const [low, high] = await openMesh([0, 1], {
      onFrame: (_node, peer, frame) => {
        const number = new DataView(frame.buffer, frame.byteOffset).getUint32(0);
        assert.equal(number, next[peer], "no frame is lost, doubled or overtaken");
        next[peer] = number + 1;
      },
    });
    assert.ok(low !== undefined && high !== undefined);
    for (let number = 0; number < count; number++) {
      const frame = new Uint8Array(20 + (number % 200));
      new DataView(frame.buffer).setUint32(0, number);
      assert.ok(low.transport.send(1, frame));
      assert.ok(high.transport.send(0, frame));
    }
    await until(() => next[0] === count && next[1] === count, "all frames arrived");
    const [out, into] = [low.transport.status()[0], high.transport.status()[0]];
    assert.equal(out?.counters.framesOut, count);
    assert.equal(into?.counters.framesIn, count);
    await closeAll([low, high]);
  });

  it("a peer that was killed and came back on its port is linked again, every time", async () => {
    let victim = await openNode(0, [0, 1, 2, 3, 8]);
    const { port } = victim.transport;
    const nodes = await Promise.all(
      [1, 2, 3, 8].map((principal) => openNode(principal, [0, 1, 2, 3, 8])),
    );
    introduce([...nodes, victim]);
    const isLinked = (): boolean => nodes.every(({ transport }) => transport.isUp(0));
    await until(isLinked, "linked at first");
    for (let round = 0; round < 5; round++) {
      await victim.transport.close(0);
      await until(() => nodes.every(({ transport }) => !transport.isUp(0)), "the loss is seen");
      victim = await openNode(0, [0, 1, 2, 3, 8], { listen: { host: HOST, port } });
      for (const { principal, transport } of nodes) {
        victim.transport.setEndpoint(principal, { host: HOST, port: transport.port });
      }
      await until(isLinked, "linked again");
    }
    await closeAll([...nodes, victim]);
  });

  it("a peer that starts later than everyone else need not wait for their back-off", async () => {
    const timing = { reconnectMinMs: 60_000, reconnectMaxMs: 60_000 };
    const high = await openNode(1, [0, 1], { timing });
    const probe = await openNode(0, [0, 1]);
    const { port } = probe.transport;
    await probe.transport.close();
    high.transport.setEndpoint(0, { host: HOST, port });
    await until(() => high.refusals.length === 1, "no node was there");
    const low = await openNode(0, [0, 1], { listen: { host: HOST, port } });
    introduce([low]);
    low.transport.setEndpoint(1, { host: HOST, port: high.transport.port });
    await until(() => low.transport.isUp(1) && high.transport.isUp(0), "the knock was heard");
    await closeAll([low, high]);
  });

  it("a stalled reader costs a bounded queue, then the sender is notified, then all goes on", async () => {
    const queueBytesMax = 4 * 1024 * 1024;
    const limits = { ...REPLICA_LIMITS, queueBytesMax };
    let received = 0;
    const [low, high] = await openMesh([0, 1], {
      replicaLimits: limits,
      onFrame: (_node, _peer, frame) => {
        received += frame.length;
      },
    });
    assert.ok(low !== undefined && high !== undefined);
    high.transport.hold(0, true);
    const frame = new Uint8Array(100_000);
    let sent = 0;
    let refused = 0;
    await until(() => {
      for (let count = 0; count < 10; count++) {
        if (low.transport.send(1, frame)) sent += frame.length;
        else refused++;
      }
      const queued = low.transport.status()[0]?.queuedBytes ?? 0;
      assert.ok(queued <= queueBytesMax, `${queued} bytes wait`);
      return refused > 100;
    }, "the queue fills");
    assert.ok(received < 1024 * 1024, `${received} bytes came through while held`);
    assert.equal(low.transport.status()[0]?.counters.framesRefused, refused);
    high.transport.hold(0, false);
    await until(() => received === sent, "every frame that was taken arrives");
    await until(() => low.drains.length > 0, "the sender hears of the room");
    assert.deepEqual([low.downs, high.downs], [[], []]);
    await closeAll([low, high]);
  });

  it("reading stops above the peer's rate, and nothing is lost by it", async () => {
    const limits = { ...CLIENT_LIMITS, framesPerSecond: 2_000 };
    const nodes = await openMesh([0, 8], { clientLimits: limits });
    const [replica, client] = nodes;
    assert.ok(replica !== undefined && client !== undefined);
    const startedMs = performance.now();
    for (let count = 0; count < 3_000; count++) client.transport.send(0, new Uint8Array(100));
    await until(() => replica.frames.length === 3_000, "all frames arrived");
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs > 300, `2,000 at once, 1,000 more in half a second; took ${tookMs} ms`);
    assert.ok((replica.transport.status()[0]?.counters.pauses ?? 0) > 0);
    await closeAll(nodes);
  });

  it("closing sends what waits, tells the peers and leaves no handle behind", async () => {
    const before = handles();
    const nodes = await openMesh([0, 1, 2, 3]);
    const [first, ...others] = nodes;
    assert.ok(first !== undefined);
    for (const peer of [1, 2, 3]) {
      for (let count = 0; count < 100; count++) {
        first.transport.send(peer, new Uint8Array(10_000));
      }
    }
    await first.transport.close();
    await until(() => others.every(({ downs }) => downs.length > 0), "all hear the goodbye");
    for (const { downs, frames } of others) {
      assert.deepEqual(downs, [{ peer: 0, reason: "LINK_ENDED" }]);
      assert.equal(frames.length, 100, "what was queued before the close arrived");
    }
    assert.deepEqual(
      first.downs.map(({ reason }) => reason),
      ["LINK_CLOSED", "LINK_CLOSED", "LINK_CLOSED"],
    );
    assert.equal(first.transport.send(1, new Uint8Array(1)), false);
    await closeAll(others);
    await until(() => handles() <= before, "every socket, server and timer is gone");
  });

  it("closing has a deadline, however stuck the peer is", async () => {
    const [low, high] = await openMesh([0, 1]);
    assert.ok(low !== undefined && high !== undefined);
    high.transport.hold(0, true);
    while (low.transport.send(1, new Uint8Array(1_000_000)));
    const startedMs = performance.now();
    await low.transport.close(50);
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs < 3_000, `took ${tookMs} ms`);
    high.transport.hold(0, false);
    await high.transport.close();
  });

  it("a port that is taken is a coded error that names it", async () => {
    const node = await openNode(0, [0, 1]);
    const { port } = node.transport;
    await assert.rejects(openNode(1, [0, 1], { listen: { host: HOST, port } }), {
      code: "TRANSPORT_LISTEN_FAILED",
    });
    await node.transport.close();
  });
});

function digestOf(bytes: Uint8Array): string {
  return createHash("sha1").update(bytes).digest("hex");
}

function handles(): number {
  const kinds = /^(TCP|TLS|Timeout|Immediate|GetAddrInfo)/;
  return process.getActiveResourcesInfo().filter((name) => kinds.test(name)).length;
}
