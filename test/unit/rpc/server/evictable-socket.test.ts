import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { evictable, type HeldSocket } from "../../../../src/rpc/server/evictable-socket.ts";

const SHARE = 4;

function held(
  ...sockets: readonly (readonly [client: string, usedMs: number, isIdle: boolean])[]
): Map<HeldSocket, string> {
  return new Map(sockets.map(([client, usedMs, isIdle]) => [{ usedMs, isIdle }, client]));
}

describe("the WebSocket that makes room for another", () => {
  it("is the most silent idle one of the address with the most", () => {
    const sockets = held(["a", 1, true], ["b", 9, true], ["b", 5, true], ["b", 2, false]);
    assert.equal(evictable(sockets, "c", SHARE)?.usedMs, 5);
  });

  it("is an idle one of an address with few, where those of the others are busy", () => {
    const sockets = held(["b", 1, false], ["b", 2, false], ["a", 7, true]);
    assert.equal(evictable(sockets, "c", SHARE)?.usedMs, 7);
  });

  it("is a busy one only of another address that has more than its share", () => {
    const busy = Array.from({ length: 5 }, (_, index) => ["b", 10 + index, false] as const);
    assert.equal(evictable(held(["a", 1, false], ...busy), "c", SHARE)?.usedMs, 10);
    assert.equal(evictable(held(["a", 1, false], ...busy), "b", SHARE), undefined);
    assert.equal(evictable(held(...busy.slice(0, 4)), "c", SHARE), undefined);
  });
});
