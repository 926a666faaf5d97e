/** Real nodes on loopback: real TLS, real sockets, ports that the system chooses. */
import assert from "node:assert/strict";
import { createTlsIdentity, type TlsIdentity } from "../../../src/crypto/certificate.ts";
import { createSigner } from "../../../src/crypto/ed25519.ts";
import type { LinkReason, Refusal } from "../../../src/transport/link-reason.ts";
import type { Peer, Principal } from "../../../src/transport/principal.ts";
import {
  DEFAULT_LINK_TIMING,
  type LinkTiming,
  type TransportOptions,
} from "../../../src/transport/transport-options.ts";
import { Transport } from "../../../src/transport/transport.ts";

export const HOST = "127.0.0.1";

/** Long enough for a busy machine; a test that needs it all has failed. */
const DEADLINE_MS = 15_000;

/** A test that fails half-way must not keep the whole suite alive: what it opened is ended here. */
const leftovers: (() => unknown)[] = [];

export function endAfterwards(end: () => unknown): void {
  leftovers.push(end);
}

export async function endLeftovers(): Promise<void> {
  await Promise.all(leftovers.splice(0).map((end) => end()));
}

export type Node = {
  readonly principal: Principal;
  readonly transport: Transport;
  readonly ups: Principal[];
  readonly downs: { readonly peer: Principal; readonly reason: LinkReason }[];
  readonly frames: { readonly peer: Principal; readonly bytes: Uint8Array }[];
  readonly drains: Principal[];
  readonly refusals: Refusal[];
};

export type NodeOptions = Partial<Omit<TransportOptions, "timing">> & {
  readonly timing?: Partial<LinkTiming>;
  readonly onFrame?: (node: Node, peer: Principal, frame: Uint8Array) => void;
};

export function seedOf(principal: Principal): Uint8Array {
  return new Uint8Array(32).fill(principal + 1);
}

export function identityOf(principal: Principal): TlsIdentity {
  return createTlsIdentity(seedOf(principal), `node-${principal}`);
}

export function peerTable(principals: readonly Principal[]): Map<Principal, Peer> {
  const entries = principals.map((principal) => {
    return [principal, { publicKey: createSigner(seedOf(principal)).publicKey }] as const;
  });
  return new Map(entries);
}

export async function openNode(
  principal: Principal,
  peers: readonly Principal[],
  options: NodeOptions = {},
): Promise<Node> {
  const { onFrame, timing, ...rest } = options;
  const record = { ups: [], downs: [], frames: [], drains: [], refusals: [] };
  const node: Omit<Node, "transport"> & { transport?: Transport } = { principal, ...record };
  const complete = node as Node;
  node.transport = await Transport.open(
    {
      self: principal,
      clientPrincipalMin: 8,
      identity: identityOf(principal),
      peers: peerTable(peers.filter((peer) => peer !== principal)),
      listen: { host: HOST, port: 0 },
      ...rest,
      timing: { ...DEFAULT_LINK_TIMING, ...timing },
    },
    {
      onUp: (peer) => complete.ups.push(peer),
      onDown: (peer, reason) => complete.downs.push({ peer, reason }),
      onFrame: (peer, frame) => {
        if (onFrame === undefined) complete.frames.push({ peer, bytes: Uint8Array.from(frame) });
        else onFrame(complete, peer, frame);
      },
      onDrain: (peer) => complete.drains.push(peer),
      onRefusal: (refusal) => complete.refusals.push(refusal),
    },
  );
  const { transport } = complete;
  endAfterwards(() => transport.close(0));
  return complete;
}

/** Tells every node where every other is, as the configuration of a network would. */
export function introduce(nodes: readonly Node[]): void {
  for (const node of nodes) {
    for (const other of nodes) {
      if (other === node || other.transport.port === 0) continue;
      node.transport.setEndpoint(other.principal, { host: HOST, port: other.transport.port });
    }
  }
}

export async function openMesh(
  principals: readonly Principal[],
  options: NodeOptions = {},
): Promise<Node[]> {
  const opened = principals.map((principal) => {
    const listen = principal < 8 ? { host: HOST, port: 0 } : undefined;
    return openNode(principal, principals, { listen, ...options });
  });
  const nodes = await Promise.all(opened);
  introduce(nodes);
  await until(() => nodes.every(isMeshed), "the mesh is up");
  return nodes;
}

export async function closeAll(nodes: readonly Node[]): Promise<void> {
  await Promise.all(nodes.map(({ transport }) => transport.close()));
}

export async function until(isDone: () => boolean, what: string): Promise<void> {
  const endMs = performance.now() + DEADLINE_MS;
  while (!isDone()) {
    assert.ok(performance.now() < endMs, `not within ${DEADLINE_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

export function isMeshed(node: Node): boolean {
  return node.transport.status().every(({ isUp }) => isUp);
}
