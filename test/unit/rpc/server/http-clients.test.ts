/** What HTTP clients send that is allowed and unusual. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { until } from "../../../support/following-client.ts";
import { RpcNode } from "../rpc-node.ts";

const BODY = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
const ENDING = `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n`;

async function exchange(node: RpcNode, sent: string): Promise<string> {
  const socket = connect(node.server.port, "127.0.0.1");
  socket.write(sent);
  return text(socket);
}

describe("ethrpc over HTTP", () => {
  it("ignores an offer of HTTP/2 and takes a target that names the server", async () => {
    const node = await RpcNode.open();
    try {
      const upgrade = "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";
      for (const head of [
        `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, HTTP2-Settings, close\r\n${upgrade}`,
        "POST http://127.0.0.1/standard HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n",
      ]) {
        const answer = await exchange(node, `${head}${ENDING}\r\n${BODY}`);
        assert.match(answer, /^HTTP\/1\.1 200 /, head);
        assert.match(answer, /"result":"0x1388"/, head);
      }
    } finally {
      await node.close();
    }
  });

  it("gives its refusals of slow and broken requests a length", async () => {
    const node = await RpcNode.open({ limits: { headersTimeoutMs: 100, requestTimeoutMs: 100 } });
    try {
      assert.match(await exchange(node, ""), /^HTTP\/1\.1 408 .*\r\nContent-Length: 0\r\n/s);
      assert.match(await exchange(node, "NO\r\n\r\n"), /^HTTP\/1\.1 400 .*\r\nContent-Length: 0/s);
    } finally {
      await node.close();
    }
  });

  it("ends a connection that does not read its answers, long before it is idle", async () => {
    const node = await RpcNode.open({ limits: { answerReadMs: 200 } });
    const socket = connect(node.server.port, "127.0.0.1");
    const call = '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x0",false]}';
    const batch = `[${new Array<string>(1_000).fill(call).join(",")}]`;
    const state = { isClosed: false };
    socket.on("error", () => undefined);
    socket.on("close", () => (state.isClosed = true));
    try {
      const head =
        "POST /standard HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
      const request = `${head}Content-Length: ${batch.length}\r\n\r\n${batch}`;
      // It is not read: no listener for data. More than the system's buffers hold is answered.
      socket.write(request.repeat(10));
      await until(() => {
        // A connection that is gone shows when something is written to it.
        if (!state.isClosed) socket.write("POST");
        return state.isClosed;
      }, "it is closed");
    } finally {
      socket.destroy();
      await node.close();
    }
  });
});
