/** SPEC A6: a peer without a pinned key gets nothing, in either direction. */
import assert from "node:assert/strict";
import { once } from "node:events";
import {
  connect as connectTcp,
  createServer as createTcpServer,
  type AddressInfo,
  type Socket,
} from "node:net";
import { afterEach, describe, it } from "node:test";
import { connect, createServer, type ConnectionOptions, type TLSSocket } from "node:tls";
import { createTlsIdentity } from "../../../src/crypto/certificate.ts";
import { BEAT, CONTROL_BIT, GREETING } from "../../../src/transport/frame.ts";
import type { LinkReason } from "../../../src/transport/link-reason.ts";
import { REPLICA_LIMITS } from "../../../src/transport/transport-options.ts";
import {
  endAfterwards,
  endLeftovers,
  HOST,
  identityOf,
  openNode,
  until,
  type Node,
  type NodeOptions,
} from "./nodes.ts";

const UNKNOWN_SEED = new Uint8Array(32).fill(0xee);
const UNKNOWN = createTlsIdentity(UNKNOWN_SEED);
const IMPOSTOR = createTlsIdentity(UNKNOWN_SEED, "node-2");

/** A TLS client with any options, which records what it is given. */
function connectRaw(node: Node, options: ConnectionOptions): { socket: TLSSocket; bytes: number } {
  const socket = connect({
    host: HOST,
    port: node.transport.port,
    rejectUnauthorized: false,
    ALPNProtocols: ["quorate/1"],
    ...options,
  });
  endAfterwards(() => socket.destroy());
  const raw = { socket, bytes: 0 };
  socket.on("data", (chunk) => (raw.bytes += chunk.length));
  socket.on("error", () => undefined);
  // A peer that is accepted by mistake must be noticed: the unknown one greets as a peer would.
  socket.once("secureConnect", () => socket.write(words(GREETING, 5)));
  return raw;
}

function credentials(identity = identityOf(2)): { cert: string; key: string } {
  return { cert: identity.certificatePem, key: identity.privateKeyPem };
}

function words(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * values.length);
  values.forEach((value, index) => new DataView(bytes.buffer).setUint32(4 * index, value));
  return bytes;
}

async function closed(socket: Socket): Promise<void> {
  socket.resume();
  await until(() => socket.closed, "the connection is closed");
}

/** Principal 2 by hand: its TLS is in order, what it says on the link is up to the test. */
async function openByHand(node: Node, greeting = words(GREETING)): Promise<TLSSocket> {
  const socket = connect({
    host: HOST,
    port: node.transport.port,
    rejectUnauthorized: false,
    ALPNProtocols: ["quorate/1"],
    ...credentials(),
  });
  socket.on("error", () => undefined);
  endAfterwards(() => socket.destroy());
  await once(socket, "secureConnect");
  socket.write(greeting);
  return socket;
}

describe("a listener and connections of unknown peers", () => {
  afterEach(endLeftovers);

  const cases: readonly (readonly [string, ConnectionOptions, string])[] = [
    ["the certificate of a key that is not pinned", credentials(UNKNOWN), "PEER_KEY_UNKNOWN"],
    ["a member's name on an unknown key", credentials(IMPOSTOR), "PEER_KEY_UNKNOWN"],
    ["the key of a node of another table", credentials(identityOf(5)), "PEER_KEY_UNKNOWN"],
    ["this node's own key", credentials(identityOf(0)), "PEER_KEY_UNKNOWN"],
    ["no certificate", {}, "PEER_KEY_UNKNOWN"],
    ["another protocol", { ...credentials(), ALPNProtocols: ["h2"] }, "PEER_HANDSHAKE_FAILED"],
    [
      "TLS 1.2",
      { ...credentials(), minVersion: "TLSv1.2", maxVersion: "TLSv1.2" },
      "PEER_HANDSHAKE_FAILED",
    ],
  ];

  for (const [what, options, code] of cases) {
    it(`${what}: not a byte, and the link does not come up`, async () => {
      const node = await openNode(0, [0, 1, 2]);
      const raw = connectRaw(node, options);
      await closed(raw.socket);
      await until(() => node.refusals.length > 0, "the refusal is reported");
      assert.equal(raw.bytes, 0);
      assert.equal(node.refusals[0]?.code, code);
      assert.equal(node.transport.counters.refused, 1);
      assert.deepEqual([node.ups, node.frames], [[], []]);
      await node.transport.close();
    });
  }

  it("a member without the name of the protocol is refused after the handshake", async () => {
    const node = await openNode(0, [0, 1, 2]);
    const socket = connect({
      host: HOST,
      port: node.transport.port,
      rejectUnauthorized: false,
      ...credentials(),
    });
    let bytes = 0;
    socket.on("data", (chunk) => (bytes += chunk.length));
    socket.on("error", () => undefined);
    await closed(socket);
    assert.equal(bytes, 0);
    assert.equal(node.refusals[0]?.code, "PEER_PROTOCOL_UNKNOWN");
    await node.transport.close();
  });

  it("plain TCP garbage is cut off, and someone who says nothing is too", async () => {
    const node = await openNode(0, [0, 1, 2], { timing: { handshakeMs: 150 } });
    const noisy = connectTcp(node.transport.port, HOST);
    endAfterwards(() => noisy.destroy());
    noisy.on("error", () => undefined);
    noisy.write("GET / HTTP/1.1\r\n\r\n".repeat(100));
    const quiet = connectTcp(node.transport.port, HOST);
    endAfterwards(() => quiet.destroy());
    quiet.on("error", () => undefined);
    await Promise.all([closed(noisy), closed(quiet)]);
    await until(() => node.refusals.length === 2, "both are reported");
    assert.deepEqual(
      node.refusals.map(({ code }) => code),
      ["PEER_HANDSHAKE_FAILED", "PEER_HANDSHAKE_FAILED"],
    );
    await node.transport.close();
  });

  it("a crowd that never speaks cannot keep a peer out", async () => {
    const node = await openNode(0, [0, 1, 2]);
    const crowd = Array.from({ length: 200 }, () => connectTcp(node.transport.port, HOST));
    for (const socket of crowd) socket.on("error", () => undefined);
    endAfterwards(() => crowd.forEach((socket) => socket.destroy()));
    await until(() => node.transport.counters.accepted === 200, "the crowd is there");
    const peer = await openNode(2, [0, 1, 2]);
    peer.transport.setEndpoint(0, { host: HOST, port: node.transport.port });
    await until(() => node.transport.isUp(2), "the peer is let in");
    const crowded = node.refusals.filter(({ code }) => code === "PEER_HANDSHAKE_CROWDED");
    assert.ok(crowded.length >= 136, `${crowded.length} had to go`);
    await Promise.all([node.transport.close(), peer.transport.close()]);
  });
});

describe("a dialler and an unknown node at a peer's address", () => {
  afterEach(endLeftovers);

  for (const [what, identity, code] of [
    ["an unknown key", UNKNOWN, "PEER_KEY_UNKNOWN"],
    ["another member's key", identityOf(1), "PEER_KEY_UNEXPECTED"],
  ] as const) {
    it(`${what}: the dialler leaves without a byte, and tries again`, async () => {
      let bytes = 0;
      const server = createServer({
        ...credentials(identity),
        ALPNProtocols: ["quorate/1"],
        requestCert: true,
        rejectUnauthorized: false,
      });
      server.on("secureConnection", (socket) => {
        socket.on("error", () => undefined);
        socket.on("data", (chunk: Uint8Array) => (bytes += chunk.length));
        socket.write(words(GREETING));
      });
      server.on("tlsClientError", () => undefined);
      server.listen(0, HOST);
      endAfterwards(() => server.close());
      endAfterwards(() => server.close());
      await once(server, "listening");
      const node = await openNode(2, [0, 1, 2]);
      const { port } = server.address() as AddressInfo;
      node.transport.setEndpoint(0, { host: HOST, port });
      await until(() => node.refusals.length >= 3, "it tried again");
      await node.transport.close();
      server.close();
      assert.equal(bytes, 0);
      assert.deepEqual(new Set(node.refusals.map((refusal) => refusal.code)), new Set([code]));
      assert.deepEqual(node.ups, []);
    });
  }

  it("a peer that does not know this node hangs up, and the dialler says so", async () => {
    const other = await openNode(0, [0, 1]);
    const node = await openNode(2, [0, 1, 2]);
    node.transport.setEndpoint(0, { host: HOST, port: other.transport.port });
    await until(() => node.refusals.length > 0, "the dialler notices");
    assert.equal(node.refusals[0]?.code, "PEER_HUNG_UP");
    assert.deepEqual(node.ups, [], "TLS alone is not a link");
    await Promise.all([node.transport.close(), other.transport.close()]);
  });

  it("a server that accepts TCP and nothing more does not hold up the dialler", async () => {
    const server = createTcpServer((socket) => socket.on("error", () => undefined));
    server.listen(0, HOST);
    endAfterwards(() => server.close());
    await once(server, "listening");
    const node = await openNode(2, [0, 1, 2], { timing: { handshakeMs: 60 } });
    node.transport.setEndpoint(0, { host: HOST, port: (server.address() as AddressInfo).port });
    await until(() => node.refusals.length >= 2, "it gave up and tried again");
    assert.equal(node.refusals[0]?.detail, "timeout");
    await node.transport.close();
    server.close();
  });
});

describe("members that misbehave", () => {
  afterEach(endLeftovers);

  const limits = { ...REPLICA_LIMITS, frameSizeMax: 1_000 };
  const options: NodeOptions = { replicaLimits: limits };
  const cases: readonly (readonly [string, Uint8Array, LinkReason])[] = [
    ["a frame above the limit", words(1_001), "LINK_FRAME_TOO_LARGE"],
    ["the largest header", words(CONTROL_BIT - 1), "LINK_FRAME_TOO_LARGE"],
    ["a second greeting", words(GREETING), "LINK_PROTOCOL_VIOLATED"],
    ["an unknown control word", words(0xffff_ffff), "LINK_PROTOCOL_VIOLATED"],
  ];

  for (const [what, bytes, reason] of cases) {
    it(`${what} cuts the link with ${reason}`, async () => {
      const node = await openNode(0, [0, 1, 2], options);
      const socket = await openByHand(node);
      await until(() => node.ups.length === 1, "up");
      socket.write(Buffer.concat([words(4), words(7), bytes, words(4), words(8)]));
      await closed(socket);
      assert.deepEqual(node.downs, [{ peer: 2, reason }]);
      assert.deepEqual(
        node.frames.map((frame) => frame.bytes),
        [words(7)],
        "what came before counts, what comes after does not",
      );
      await node.transport.close();
    });
  }

  it("a frame or a beat before the greeting is refused, and so is no greeting at all", async () => {
    const node = await openNode(0, [0, 1, 2], { timing: { handshakeMs: 200 } });
    for (const first of [words(4, 7), words(BEAT), new Uint8Array(0)]) {
      const socket = await openByHand(node, first);
      await closed(socket);
    }
    assert.deepEqual([node.ups, node.frames, node.downs], [[], [], []]);
    await node.transport.close();
  });

  it("a member that falls silent is cut off; one that only beats is not", async () => {
    const timing = { sweepMs: 40, silentSweepsMax: 4 };
    const node = await openNode(0, [0, 1, 2], { timing });
    const peer = await openNode(1, [0, 1], { timing });
    peer.transport.setEndpoint(0, { host: HOST, port: node.transport.port });
    const silent = await openByHand(node);
    await until(() => node.ups.length === 2, "both are up");
    await closed(silent);
    assert.deepEqual(node.downs, [{ peer: 2, reason: "LINK_SILENT" }]);
    const { bytesIn } = node.transport.status()[0]?.counters ?? { bytesIn: 0 };
    await until(() => (node.transport.status()[0]?.counters.bytesIn ?? 0) > bytesIn + 24, "beats");
    assert.ok(node.transport.isUp(1) && peer.transport.isUp(0), "an idle link stays");
    await Promise.all([node.transport.close(), peer.transport.close()]);
  });

  it("a member that takes nothing is cut off once its queue has stood still", async () => {
    const timing = { sweepMs: 40, silentSweepsMax: 4 };
    const node = await openNode(0, [0, 1, 2], { timing });
    const stuck = await openByHand(node);
    stuck.pause();
    const beats = setInterval(() => stuck.write(words(BEAT)), 20);
    endAfterwards(() => clearInterval(beats));
    await until(() => node.ups.length === 1, "up");
    while (node.transport.send(2, new Uint8Array(1_000_000)));
    await until(() => node.downs.length === 1, "cut");
    assert.deepEqual(node.downs, [{ peer: 2, reason: "LINK_STALLED" }]);
    assert.equal(node.transport.status()[1]?.queuedBytes, 0, "its queue is gone with it");
    await node.transport.close();
  });

  it("a new connection of the same member takes the place of the old one", async () => {
    const node = await openNode(0, [0, 1, 2]);
    const first = await openByHand(node);
    await until(() => node.ups.length === 1, "up");
    const second = await openByHand(node);
    await closed(first);
    await until(() => node.ups.length === 2, "up again");
    assert.deepEqual(node.downs, [{ peer: 2, reason: "LINK_REPLACED" }]);
    second.write(words(4, 9));
    await until(() => node.frames.length === 1, "the new one is in use");
    second.destroy();
    await node.transport.close();
  });
});
