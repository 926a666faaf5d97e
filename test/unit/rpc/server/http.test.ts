/** What a client may do to the port, and what becomes of one that does too much or too little. */
import assert from "node:assert/strict";
import { Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { after, before, describe, it } from "node:test";

import { CodedError } from "../../../../src/base/coded-error.ts";
import type { MethodTable } from "../../../../src/rpc/method.ts";
import { DEFAULT_RPC_OPTIONS } from "../../../../src/rpc/rpc-options.ts";
import { RpcServer } from "../../../../src/rpc/server/rpc-server.ts";
import { RpcNode, type RpcResponse } from "../rpc-node.ts";

const JSON_TYPE = { "content-type": "application/json" };
const BODY = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';

describe("the port", () => {
  let node: RpcNode;

  before(async () => {
    node = await RpcNode.open({
      allowedOrigins: ["https://dapp.example"],
      limits: { bodyBytesMax: 1_000 },
    });
  });
  after(() => node.close());

  it("serves / and /standard, and no other path", async () => {
    for (const [path, status] of [
      ["/", 200],
      ["/standard", 200],
      ["/standard/", 200],
      ["/?key=1", 200],
      ["/other", 404],
      ["/standardx", 404],
    ] as const) {
      assert.equal((await node.post(BODY, path)).status, status, path);
    }
  });

  it("greets GET, answers OPTIONS and refuses other methods", async () => {
    const get = await fetch(node.url());
    assert.equal(get.status, 200);
    assert.match(await get.text(), /POST/);
    assert.equal((await fetch(node.url(), { method: "OPTIONS" })).status, 204);
    for (const method of ["PUT", "DELETE", "PATCH"]) {
      const response = await fetch(node.url(), { method });
      assert.equal(response.status, 405, method);
      assert.equal(response.headers.get("allow"), "POST, GET, HEAD, OPTIONS", method);
      await response.text();
    }
  });

  it("takes JSON alone, and not compressed", async () => {
    for (const [headers, status] of [
      [{ "content-type": "application/json; charset=utf-8" }, 200],
      [{ "content-type": "Application/JSON" }, 200],
      [{ "content-type": "text/plain" }, 415],
      [{ "content-type": "application/x-www-form-urlencoded" }, 415],
      [{ ...JSON_TYPE, "content-encoding": "gzip" }, 415],
    ] as const) {
      assert.equal((await node.post(BODY, "/", headers)).status, status, JSON.stringify(headers));
    }
  });

  it("lets pages of this machine and configured ones read answers, and no others", async () => {
    const allowed = [
      "http://localhost:3000",
      "https://localhost",
      "http://127.0.0.1:8080",
      "http://[::1]:80",
      "https://dapp.example",
    ];
    const refused = ["https://evil.example", "http://localhost.evil.example", "null", "file://x"];
    for (const origin of [...allowed, ...refused]) {
      const isAllowed = allowed.includes(origin);
      const preflight = await fetch(node.url(), {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST" },
      });
      assert.equal(preflight.status, isAllowed ? 204 : 403, origin);
      const { headers } = await node.post(BODY, "/", { ...JSON_TYPE, origin });
      const expected = isAllowed ? origin : null;
      assert.equal(preflight.headers.get("access-control-allow-origin"), expected, origin);
      assert.equal(headers.get("access-control-allow-origin"), expected, origin);
      assert.equal(headers.get("vary"), "Origin", origin);
    }
  });

  it("refuses names that it does not know as its own", async () => {
    const port = node.server.port;
    for (const [host, status] of [
      ["localhost", 200],
      ["LOCALHOST:1", 200],
      [`127.0.0.1:${port}`, 200],
      ["10.1.2.3:80", 200],
      ["[::1]:8545", 200],
      ["evil.example", 403],
      ["localhost.evil.example:80", 403],
      ["localhost:80:90", 403],
    ] as const) {
      assert.equal(await statusWithHost(node, host), status, host);
    }
    const open = await RpcNode.open({ allowedHosts: ["*"] });
    const named = await RpcNode.open({ allowedHosts: ["client-0-ethrpc"] });
    try {
      assert.equal(await statusWithHost(open, "any.example"), 200);
      assert.equal(await statusWithHost(named, "client-0-ethrpc:8545"), 200);
      assert.equal(await statusWithHost(named, "localhost"), 403);
    } finally {
      await Promise.all([open.close(), named.close()]);
    }
  });

  it("bounds the body, whether its length is announced or not", async () => {
    const exact = BODY.padEnd(1_000, " ");
    assert.equal((await node.post(exact)).status, 200);
    const { status, text } = await node.post(`${exact} `);
    assert.equal(status, 413);
    assert.match((JSON.parse(text) as RpcResponse).error?.message ?? "", /at most 1000 bytes/);
    const chunked = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const answer = await raw(node, `${chunked}3e9\r\n${" ".repeat(1_001)}\r\n`);
    assert.match(answer, /^HTTP\/1\.1 413 /);
  });

  it("keeps a connection open for the next request", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (let round = 0; round < 3; round++) {
      await new Promise<void>((resolve, reject) => {
        const options = { agent, method: "POST", headers: JSON_TYPE };
        const sent = httpRequest(node.url(), options, (response) => {
          ports.add(response.socket.localPort);
          response.resume().on("end", resolve);
        });
        sent.on("error", reject).end(BODY);
      });
    }
    agent.destroy();
    assert.equal(ports.size, 1);
  });

  it("cuts clients off that are too slow with their request", { timeout: 20_000 }, async () => {
    const own = await RpcNode.open({ limits: { headersTimeoutMs: 300, requestTimeoutMs: 600 } });
    try {
      const head = "POST / HTTP/1.1\r\nHost: localhost\r\n";
      const slowHeaders = await raw(own, head);
      assert.match(slowHeaders, /^HTTP\/1\.1 408 /);
      const slowBody = await raw(
        own,
        `${head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
      );
      assert.match(slowBody, /^HTTP\/1\.1 408 /);
      assert.equal((await own.post(BODY)).status, 200);
    } finally {
      await own.close();
    }
  });

  it("answers so many at a time and sends the rest away with a reason", async () => {
    const { methods, release, started } = waitingMethod(2);
    const own = await RpcNode.open({ methods, limits: { concurrentRequestsMax: 2 } });
    try {
      const body = '{"jsonrpc":"2.0","id":1,"method":"wait"}';
      const waiting = [own.post(body), own.post(body)];
      await started;
      const refused = await own.post(body);
      assert.equal(refused.status, 429);
      assert.equal(refused.headers.get("retry-after"), "1");
      assert.equal((JSON.parse(refused.text) as RpcResponse).error?.code, -32005);
      release();
      for (const reply of await Promise.all(waiting)) assert.equal(reply.status, 200);
      assert.equal((await own.post(body)).status, 200, "there is room again");
    } finally {
      await own.close();
    }
  });

  it("holds no more bytes than it may", async () => {
    const own = await RpcNode.open({ limits: { bufferedBytesMax: 500 } });
    try {
      assert.equal((await own.post(BODY)).status, 200);
      assert.equal((await own.post(BODY.padEnd(501))).status, 429);
      assert.equal((await own.post(BODY)).status, 200, "what was refused holds nothing");
    } finally {
      await own.close();
    }
  });

  it("gives room back when an answer was read, whatever was said in it", async () => {
    const own = await RpcNode.open({ limits: { bufferedBytesMax: 1_000 } });
    try {
      // Answers of 100 bytes and more, of which the second is no ASCII.
      for (let round = 0; round < 20; round++) {
        for (const method of ["x".repeat(40), "é日😀".repeat(10)]) {
          const { status, headers, text } = await own.post(
            JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] }),
          );
          assert.equal(status, 200, `round ${round}`);
          assert.equal(headers.get("content-length"), String(Buffer.byteLength(text)));
          assert.ok(text.includes(method), text);
        }
      }
    } finally {
      await own.close();
    }
  });

  it("bounds headers and connections that are in use", async () => {
    const { methods, release, started } = waitingMethod(2);
    const own = await RpcNode.open({
      ...{ methods, limits: { headerBytesMax: 1_000, connectionsMax: 2 } },
    });
    try {
      const long = `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(2_000)}\r\n\r\n`;
      assert.match(await raw(own, long), /^HTTP\/1\.1 431 /);
      const wait = '{"jsonrpc":"2.0","id":1,"method":"wait"}';
      const waiting = [own.post(wait), own.post(wait)];
      await started;
      assert.equal(await raw(own, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "");
      release();
      for (const { status } of await Promise.all(waiting)) assert.equal(status, 200);
    } finally {
      await own.close();
    }
  });

  it("connections that are only held open lock no caller out", async () => {
    const own = await RpcNode.open({ limits: { connectionsMax: 4 } });
    const idle = Array.from({ length: 4 }, () => connect(own.server.port, "127.0.0.1"));
    try {
      await Promise.all(idle.map((one) => new Promise((resolve) => one.once("connect", resolve))));
      const dropped = new Promise((resolve) => idle[0]?.once("close", resolve));
      const get = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
      assert.match(await raw(own, get), /^HTTP\/1\.1 200 /);
      await dropped;
    } finally {
      for (const one of idle) one.destroy();
      await own.close();
    }
  });

  it("finishes requests under way when it closes", async () => {
    const { methods, release, started } = waitingMethod(1);
    const own = await RpcNode.open({ methods });
    const waiting = own.post('{"jsonrpc":"2.0","id":1,"method":"wait"}');
    await started;
    const closed = own.close();
    release();
    assert.equal((await waiting).status, 200);
    await closed;
    await own.close();
    await assert.rejects(own.post(BODY));
  });

  it("says which port it cannot have", async () => {
    const options = { ...DEFAULT_RPC_OPTIONS, port: node.server.port };
    await assert.rejects(RpcServer.open(options, { methods: new Map() }), (error: unknown) => {
      assert.ok(error instanceof CodedError);
      assert.equal(error.code, "RPC_LISTEN_FAILED");
      assert.equal(error.data["port"], node.server.port);
      return true;
    });
  });
});

/** A method that answers when the test releases it; `started` resolves when so many wait in it. */
function waitingMethod(count: number): {
  readonly methods: MethodTable;
  readonly release: () => void;
  readonly started: Promise<void>;
} {
  const gate = Promise.withResolvers<undefined>();
  const started = Promise.withResolvers<undefined>();
  let waiting = 0;
  const run = async (): Promise<string> => {
    waiting += 1;
    if (waiting === count) started.resolve(undefined);
    await gate.promise;
    return "done";
  };
  return {
    methods: new Map([["wait", { name: "wait", run }]]),
    release: () => gate.resolve(undefined),
    started: started.promise,
  };
}

/** What comes back on a connection until the server ends it or has answered. */
function raw(node: RpcNode, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(node.server.port, "127.0.0.1", () => socket.write(text));
    let received = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => (received += chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(received));
  });
}

function statusWithHost(node: RpcNode, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { ...JSON_TYPE, host };
    const sent = httpRequest(node.url(), { method: "POST", headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
    });
    sent.on("error", reject).end(BODY);
  });
}
