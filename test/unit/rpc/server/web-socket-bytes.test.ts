/** What WebSockets may hold in memory. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { WebSocket } from "ws";
import { ok } from "../../../../src/base/result.ts";
import { AccessRules, DEFAULT_ACCESS_OPTIONS } from "../../../../src/rpc/auth/access-rules.ts";
import { ByteBudget } from "../../../../src/rpc/server/byte-budget.ts";
import {
  DEFAULT_RPC_LIMITS,
  DEFAULT_RPC_OPTIONS,
  type RpcLimits,
} from "../../../../src/rpc/rpc-options.ts";
import { RpcServer } from "../../../../src/rpc/server/rpc-server.ts";
import { OutgoingMessages } from "../../../../src/rpc/server/web-socket-bytes.ts";
import { RpcNode } from "../rpc-node.ts";

const BYTES_MAX = 200_000;

async function withNode(
  limits: Partial<RpcLimits>,
  use: (node: RpcNode, open: () => Promise<WebSocket>) => Promise<void>,
): Promise<void> {
  const node = await RpcNode.open({ limits });
  const open = async (): Promise<WebSocket> => {
    const socket = new WebSocket(node.url().replace("http", "ws"));
    await once(socket, "open");
    return socket;
  };
  try {
    await use(node, open);
  } finally {
    await node.close();
  }
}

describe("the budget of bytes", () => {
  it("has a total, and half of it for one client", () => {
    const budget = new ByteBudget(100);
    const one = budget.shareOf("a");
    const two = budget.shareOf("b");
    const three = budget.shareOf("c");
    assert.equal(one.reserve(51), false);
    assert.equal(one.reserve(50), true);
    assert.equal(one.reserve(1), false);
    assert.equal(two.reserve(40), true);
    assert.equal(three.reserve(11), false);
    one.release(50);
    assert.equal(three.reserve(11), true);
    assert.equal(budget.used, 51);
  });

  it("counts requests of WebSockets", async () => {
    await withNode({ bufferedBytesMax: BYTES_MAX }, async (node, open) => {
      const socket = await open();
      const closed = once(socket, "close");
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] });
      socket.send(body.padEnd(BYTES_MAX));
      assert.notEqual(((await closed) as [number])[0], 1000);
      assert.equal(await node.standard("eth_chainId"), "0x1388", "the room is free again");
    });
  });

  it("counts messages that are not whole yet", async () => {
    await withNode({ bufferedBytesMax: BYTES_MAX }, async (_, open) => {
      const socket = await open();
      const closed = once(socket, "close");
      const part = Buffer.alloc(10_000, " ");
      for (let sent = 0; sent < BYTES_MAX; sent += part.length) socket.send(part, { fin: false });
      await closed;
      const next = await open();
      next.send('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}');
      const [answer] = (await once(next, "message")) as [Buffer];
      assert.match(answer.toString(), /0x1388/, "the room is free again");
      next.close();
    });
  });

  it("does not count pings, however many", async () => {
    await withNode({ bufferedBytesMax: BYTES_MAX }, async (_, open) => {
      const socket = await open();
      for (let sent = 0; sent < 4_000; sent++) socket.ping(Buffer.alloc(100));
      socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}');
      const [answer] = (await once(socket, "message")) as [Buffer];
      assert.match(answer.toString(), /0x1388/);
      socket.close();
    });
  });
});

describe("a peer that does not read", () => {
  it("has one pong waiting, and the last ping is answered after it", () => {
    const pongs: string[] = [];
    let written: (() => void) | undefined;
    const socket = {
      OPEN: 1,
      readyState: 1,
      pong: (data: Buffer, _mask: boolean, done: () => void) => {
        pongs.push(data.toString());
        written = done;
      },
    } as unknown as WebSocket;
    const outgoing = new OutgoingMessages(socket, new ByteBudget(1_000).shareOf("a"), 30_000);
    for (let index = 0; index < 1_000; index++) outgoing.pong(Buffer.from(String(index)));
    assert.deepEqual(pongs, ["0"]);
    written?.();
    assert.deepEqual(pongs, ["0", "999"]);
    written?.();
    assert.deepEqual(pongs, ["0", "999"]);
  });

  it("gives everything back when its connection is over", () => {
    const budget = new ByteBudget(1_000);
    const socket = { send: () => undefined } as unknown as WebSocket;
    const outgoing = new OutgoingMessages(socket, budget.shareOf("a"), 30_000);
    assert.equal(outgoing.send("x".repeat(300)), true);
    assert.equal(outgoing.send("x".repeat(300)), false);
    assert.equal(budget.used, 300);
    outgoing.clear();
    assert.equal(budget.used, 0);
  });
});

describe("where an identity is required", () => {
  it("a WebSocket is refused before the upgrade", async () => {
    const rules = new AccessRules(
      { ...DEFAULT_ACCESS_OPTIONS, isIdentityRequired: true },
      { mayRead: () => true, calledCode: () => ({ blockHash: "0x", isDelegated: false }) },
    );
    const known = { subject: "known", account: undefined, roles: [] };
    const server = await RpcServer.open(
      { ...DEFAULT_RPC_OPTIONS, port: 0, limits: DEFAULT_RPC_LIMITS },
      {
        methods: new Map(),
        access: {
          rules,
          authenticator: {
            identify: ({ authorization }) =>
              Promise.resolve(ok(authorization === undefined ? undefined : known)),
          },
          signIn: undefined,
        },
      },
    );
    try {
      const url = `ws://127.0.0.1:${server.port}`;
      const stranger = new WebSocket(url);
      stranger.on("error", () => undefined);
      const [, response] = (await once(stranger, "unexpected-response")) as [
        unknown,
        { readonly statusCode: number },
      ];
      assert.equal(response.statusCode, 401);
      const member = new WebSocket(url, { headers: { authorization: "Bearer x" } });
      await once(member, "open");
      assert.equal(server.socketCount, 1);
      member.close();
    } finally {
      await server.close();
    }
  });
});
