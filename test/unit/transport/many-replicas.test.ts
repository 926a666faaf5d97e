/** Networks of more than four replicas: no node takes a replica for a client node. */
import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { clientPrincipalMin } from "../../../src/base/client-principal.ts";
import { endLeftovers, HOST, openNode, until, type Node } from "./nodes.ts";

const COUNTS = [4, 7, 10, 13];

describe("principals", () => {
  afterEach(endLeftovers);

  it("client nodes count from 8 as long as replicas leave room below", () => {
    assert.deepEqual(COUNTS.map(clientPrincipalMin), [8, 14, 20, 26]);
  });

  for (const count of COUNTS) {
    it(`the last of ${count} replicas reaches all others, and so does a client node`, async () => {
      const clientMin = clientPrincipalMin(count);
      const replicas = Array.from({ length: count }, (_, index) => index);
      const nodes = new Map<number, Node>();
      const options = { clientPrincipalMin: clientMin };
      for (const principal of [...replicas, clientMin]) {
        const peers = principal === clientMin ? replicas : [...replicas, clientMin];
        nodes.set(principal, await openNode(principal, peers, options));
      }
      for (const { transport } of [nodes.get(count - 1)!, nodes.get(clientMin)!]) {
        for (const peer of replicas) {
          const { port } = nodes.get(peer)!.transport;
          if (transport !== nodes.get(peer)!.transport)
            transport.setEndpoint(peer, { host: HOST, port });
        }
      }
      const upsOf = (principal: number): number => new Set(nodes.get(principal)!.ups).size;
      await until(() => upsOf(count - 1) === count, "the last replica is linked with everybody");
      await until(() => upsOf(clientMin) === count, "the client node is linked with all replicas");
    });
  }
});
