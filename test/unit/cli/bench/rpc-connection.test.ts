import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { RpcConnection } from "../../../../src/cli/bench/rpc-connection.ts";

const LONG = "0".repeat(70_000);

/** A node behind a proxy: a path of its own, a token, answers with a length and in pieces. */
describe("a connection of the benchmark", () => {
  let server: Server;
  let url = "";
  const seen: string[] = [];

  before(async () => {
    server = createServer((request, response) => {
      seen.push(
        `${request.method ?? ""} ${request.url ?? ""} ${request.headers.authorization ?? "-"}`,
      );
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text));
      request.on("end", () => {
        const { method } = JSON.parse(body) as { readonly method: string };
        const answer = JSON.stringify({
          id: 1,
          ...(method === "bad" ? { error: { message: "no" } } : { result: LONG }),
        });
        if (method === "whole") {
          response.setHeader("content-length", answer.length);
          response.end(answer);
          return;
        }
        for (let at = 0; at < answer.length; at += 9_000)
          response.write(answer.slice(at, at + 9_000));
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ledger/rpc?key=1`;
  });

  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it("asks at the path of the URL, and reads answers with a length and in pieces", async () => {
    const connection = await RpcConnection.open({ url, authorization: "Bearer abc" });
    for (const method of ["whole", "pieces", "whole", "pieces"]) {
      assert.equal(await connection.call(method, []), LONG, method);
    }
    assert.deepEqual(new Set(seen), new Set(["POST /ledger/rpc?key=1 Bearer abc"]));
    await assert.rejects(connection.call("bad", []), /^Error: no, to /);
    connection.close();
  });

  it("says that it was closed", async () => {
    const connection = await RpcConnection.open({ url });
    await connection.call("whole", []);
    server.closeAllConnections();
    await assert.rejects(connection.call("whole", []), /closed|ECONNRESET/);
    assert.equal(connection.isClosed, true);
  });
});
