/** The mempool counts transactions by the caller: its name goes along from the connection. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { afterEach, describe, it } from "node:test";
import { WebSocket } from "ws";
import { ok } from "../../../../src/base/result.ts";
import { bindMethod, type BoundMethod } from "../../../../src/rpc/method.ts";
import type { AccessControl } from "../../../../src/rpc/auth/access-control.ts";
import { AccessRules, DEFAULT_ACCESS_OPTIONS } from "../../../../src/rpc/auth/access-rules.ts";
import { ethSendRawTransaction } from "../../../../src/rpc/methods/eth/transaction/eth-send-raw-transaction.ts";
import { DEFAULT_RPC_OPTIONS } from "../../../../src/rpc/rpc-options.ts";
import { RpcServer } from "../../../../src/rpc/server/rpc-server.ts";

const REQUEST = JSON.stringify({
  ...{ jsonrpc: "2.0", id: 1, method: "eth_sendRawTransaction", params: ["0x01"] },
});
const NO_CODE = () => ({ blockHash: "0x", isDelegated: false }) as const;
/** Tokens that start with `wallet` are of accounts that anyone can make. */
const ACCESS: AccessControl = {
  rules: new AccessRules(DEFAULT_ACCESS_OPTIONS, { mayRead: () => false, calledCode: NO_CODE }),
  authenticator: {
    identify: ({ authorization }) => {
      if (authorization === undefined) return Promise.resolve(ok(undefined));
      const isSelfMade = authorization.includes("wallet");
      const identity = { subject: authorization, account: undefined, roles: [], isSelfMade };
      return Promise.resolve(ok(identity));
    },
  },
  signIn: undefined,
};

describe("the source of a transaction", () => {
  let server: RpcServer;
  const sources: (string | undefined)[] = [];

  const open = async (access?: AccessControl): Promise<string> => {
    sources.length = 0;
    const pool = {
      submitRaw: (_: Uint8Array, source: string | undefined) => {
        sources.push(source);
        return ok(new Uint8Array(32));
      },
    };
    const method: BoundMethod = bindMethod(ethSendRawTransaction, pool);
    server = await RpcServer.open(
      { ...DEFAULT_RPC_OPTIONS, port: 0 },
      { methods: new Map([[method.name, method]]), access },
    );
    return `127.0.0.1:${server.port}`;
  };
  const post = async (place: string, more: Record<string, string> = {}): Promise<void> => {
    const headers = { "content-type": "application/json", ...more };
    const response = await fetch(`http://${place}/`, { method: "POST", headers, body: REQUEST });
    assert.equal(response.status, 200);
    await response.text();
  };

  afterEach(() => server.close());

  it("is the address of the caller, by HTTP and by WebSocket", async () => {
    const place = await open();
    await post(place);
    const socket = new WebSocket(`ws://${place}/`);
    await once(socket, "open");
    socket.send(REQUEST);
    await once(socket, "message");
    socket.close();
    assert.deepEqual(sources, ["address 127.0.0.1", "address 127.0.0.1"]);
  });

  it("is the identity of a caller that the operator knows, and no wallet made for the day", async () => {
    const place = await open(ACCESS);
    await post(place, { authorization: "Bearer service" });
    await post(place, { authorization: "Bearer wallet-7" });
    await post(place);
    assert.deepEqual(sources, [
      "identity Bearer service",
      "address 127.0.0.1",
      "address 127.0.0.1",
    ]);
  });
});
