/** How much one client may ask for in a second, and who counts as one client (SPEC E9). */
import assert from "node:assert/strict";
import { once } from "node:events";
import { afterEach, describe, it } from "node:test";
import { WebSocket } from "ws";
import { ok } from "../../../../src/base/result.ts";
import type { AccessControl } from "../../../../src/rpc/auth/access-control.ts";
import { AccessRules, DEFAULT_ACCESS_OPTIONS } from "../../../../src/rpc/auth/access-rules.ts";
import { DEFAULT_SIGN_IN_OPTIONS, SignIn } from "../../../../src/rpc/auth/sign-in.ts";
import { clientOfAddress, clientOfIdentity } from "../../../../src/rpc/server/client-name.ts";
import type { BoundMethod } from "../../../../src/rpc/method.ts";
import { createRateLimit, RateLimit } from "../../../../src/rpc/server/rate-limit.ts";
import {
  DEFAULT_RPC_LIMITS,
  DEFAULT_RPC_OPTIONS,
  type RpcLimits,
} from "../../../../src/rpc/rpc-options.ts";
import { RpcServer } from "../../../../src/rpc/server/rpc-server.ts";
import type { RpcResponse } from "../rpc-node.ts";

const NO_CODE = () => ({ blockHash: "0x", isDelegated: false }) as const;

/** So slow that no test run earns one more: what passes does not depend on the machine's speed. */
const HOUR_MS = 3_600_000;

describe("the rate of a client", () => {
  it("is a second's worth at once, and then what is earned", () => {
    let nowMs = 0;
    const rate = new RateLimit({ clientRateMax: 2, ratedClientsMax: 10 }, () => nowMs);
    assert.equal(rate.admit("a", 1), undefined);
    assert.equal(rate.admit("a", 1), undefined);
    const exceeded = rate.admit("a", 1);
    assert.equal(exceeded?.retryAfterMs, 500);
    assert.equal(exceeded.error.code, -32005);
    assert.deepEqual(exceeded.error.data, { retryAfterMs: 500 });
    assert.match(exceeded.error.message, /at most 2 per second .* try again in 500 ms/);
    assert.equal(rate.admit("b", 1), undefined, "another client has its own");
    for (let count = 0; count < 100; count++) rate.admit("a", 1);
    nowMs += 500;
    assert.equal(rate.admit("a", 1), undefined, "what is refused is not charged");
    assert.equal(rate.admit("a", 1)?.retryAfterMs, 500);
  });

  it("lets a batch pass that is larger than what is left, and has it paid for", () => {
    let nowMs = 0;
    const rate = new RateLimit({ clientRateMax: 10, ratedClientsMax: 10 }, () => nowMs);
    assert.equal(rate.admit("a", 30), undefined);
    assert.equal(rate.admit("a", 1)?.retryAfterMs, 2_100);
    nowMs += 2_100;
    assert.equal(rate.admit("a", 1), undefined);
  });

  it("forgets the client that was silent for longest when there are too many", () => {
    const rate = new RateLimit({ clientRateMax: 1, ratedClientsMax: 2 }, () => 0);
    for (const client of ["a", "b"]) assert.equal(rate.admit(client, 1), undefined, client);
    assert.notEqual(rate.admit("a", 1), undefined);
    assert.equal(rate.admit("c", 1), undefined);
    assert.equal(rate.clientCount, 2);
    assert.notEqual(rate.admit("a", 1), undefined, "it was heard of lately");
    assert.equal(rate.admit("b", 1), undefined, "it was forgotten");
  });

  it("is not counted at all by default", () => {
    assert.equal(createRateLimit(DEFAULT_RPC_LIMITS), undefined);
    assert.notEqual(createRateLimit({ ...DEFAULT_RPC_LIMITS, clientRateMax: 1 }), undefined);
  });
});

describe("one client", () => {
  it("is an IPv4 address, or the /64 of an IPv6 address", () => {
    for (const [address, client] of [
      ["192.0.2.7", "address 192.0.2.7"],
      ["::ffff:192.0.2.7", "address 192.0.2.7"],
      ["2001:db8:1:2:3:4:5:6", "address 2001:db8:1:2"],
      ["2001:db8:1:2::9", "address 2001:db8:1:2"],
      ["2001:db8::1", "address 2001:db8:0:0"],
      ["::1", "address 0:0:0:0"],
      ["fe80::1%eth0", "address fe80:0:0:0"],
      [undefined, "address unknown"],
    ] as const) {
      assert.equal(clientOfAddress(address), client);
    }
  });

  it("is never mixed up with an identity of the same name", () => {
    const identity = { subject: "192.0.2.7", account: undefined, roles: [] };
    assert.notEqual(clientOfIdentity(identity), clientOfAddress("192.0.2.7"));
  });
});

describe("a server with a rate", () => {
  let server: RpcServer | undefined;
  let runs = 0;
  const METHOD: BoundMethod = { name: "eth_chainId", run: () => `0x${(++runs).toString(16)}` };

  afterEach(async () => {
    await server?.close();
  });

  const open = async (limits: Partial<RpcLimits>, access?: AccessControl): Promise<string> => {
    runs = 0;
    server = await RpcServer.open(
      { ...DEFAULT_RPC_OPTIONS, port: 0, limits: { ...DEFAULT_RPC_LIMITS, ...limits } },
      { methods: new Map([[METHOD.name, METHOD]]), access },
    );
    return `127.0.0.1:${server.port}`;
  };

  const request = (id: number): object => ({
    ...{ jsonrpc: "2.0", id, method: METHOD.name, params: [] },
  });
  const post = (place: string, body: unknown, headers = {}): Promise<Response> =>
    fetch(`http://${place}/standard`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });

  it("answers 429 with -32005 over HTTP, and says when to come again", async () => {
    // A batch takes all of an hour's requests: nothing is earned while the test runs.
    const place = await open({ clientRateMax: 1, batchLengthMax: HOUR_MS / 1_000 });
    const batch = Array.from({ length: HOUR_MS / 1_000 }, (_, index) => request(index));
    const first = await post(place, batch);
    assert.equal(first.status, 200);
    assert.equal(((await first.json()) as unknown[]).length, batch.length);
    const refused = await post(place, request(7));
    assert.equal(refused.status, 429);
    const seconds = Number(refused.headers.get("retry-after"));
    assert.ok(seconds > 3_000 && seconds <= 3_600, `${seconds} s`);
    const { id, error } = (await refused.json()) as RpcResponse;
    assert.equal(id, 7);
    assert.equal(error?.code, -32005);
    assert.equal((await post(place, [request(1), request(2)])).status, 429);
    const noJson = await fetch(`http://${place}/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{",
    });
    assert.equal(noJson.status, 429, "what is no request is counted, too");
    assert.equal(runs, batch.length, "what is refused is not carried out");
  });

  it("counts WebSockets of an address together with its HTTP requests", async () => {
    const place = await open({ clientRateMax: 1, batchLengthMax: HOUR_MS / 1_000 });
    const sockets = [new WebSocket(`ws://${place}/`), new WebSocket(`ws://${place}/standard`)];
    await Promise.all(sockets.map((socket) => once(socket, "open")));
    const ask = async (socket: WebSocket, body: unknown): Promise<unknown> => {
      socket.send(JSON.stringify(body));
      const [data] = (await once(socket, "message")) as [Buffer];
      return JSON.parse(data.toString());
    };
    const batch = Array.from({ length: HOUR_MS / 1_000 }, (_, index) => request(index));
    assert.equal(((await ask(sockets[0]!, batch)) as unknown[]).length, batch.length);
    for (const socket of sockets) {
      const { id, error } = (await ask(socket, request(9))) as RpcResponse;
      assert.equal(id, 9);
      assert.equal(error?.code, -32005);
    }
    assert.equal((await post(place, request(1))).status, 429);
    for (const socket of sockets) socket.close();
  });

  it("counts callers that prove who they are by that, wherever they call from", async () => {
    const access: AccessControl = {
      rules: new AccessRules(DEFAULT_ACCESS_OPTIONS, { mayRead: () => false, calledCode: NO_CODE }),
      authenticator: {
        identify: ({ authorization }) =>
          Promise.resolve(
            ok(
              authorization === undefined
                ? undefined
                : {
                    ...{ subject: authorization, account: undefined, roles: [] },
                    isSelfMade: authorization.includes("wallet"),
                  },
            ),
          ),
      },
      signIn: undefined,
    };
    const limits = { clientRateMax: 1, batchLengthMax: HOUR_MS / 1_000 };
    const place = await open(limits, access);
    const batch = Array.from({ length: HOUR_MS / 1_000 }, (_, index) => request(index));
    const as = (name: string): object => ({ authorization: `Bearer ${name}` });
    assert.equal((await post(place, batch, as("one"))).status, 200);
    assert.equal((await post(place, request(1), as("one"))).status, 429);
    assert.equal((await post(place, request(1), as("two"))).status, 200, "another has its own");
    assert.equal((await post(place, batch)).status, 200, "so has one without a name");
    const wallet = await post(place, request(1), as("a wallet"));
    assert.equal(wallet.status, 429, "a wallet, of which anyone can have many, has none");
  });

  it("counts sign-ins, which cost a signature each", async () => {
    const access: AccessControl = {
      rules: new AccessRules(
        { ...DEFAULT_ACCESS_OPTIONS, isReadPermissioned: true },
        { mayRead: () => true, calledCode: NO_CODE },
      ),
      authenticator: { identify: () => Promise.resolve(ok(undefined)) },
      signIn: new SignIn({ ...DEFAULT_SIGN_IN_OPTIONS, chainId: 5000n }),
    };
    const place = await open({ clientRateMax: 2, batchLengthMax: HOUR_MS / 1_000 }, access);
    const challenge = (): Promise<Response> => fetch(`http://${place}/auth/challenge`);
    assert.equal((await challenge()).status, 200);
    const batch = Array.from({ length: HOUR_MS / 1_000 }, (_, index) => request(index));
    assert.equal((await post(place, batch)).status, 200);
    const refused = await challenge();
    assert.equal(refused.status, 429);
    assert.notEqual(refused.headers.get("retry-after"), null);
    assert.deepEqual(await refused.json(), { error: { code: "SIWE_TOO_MANY" } });
  });
});
