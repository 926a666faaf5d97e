/** JSON-RPC 2.0 itself: what is a request, what is answered, and in which form. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { bytesToHex } from "../../../../src/base/hex.ts";
import type { BoundMethod, MethodTable } from "../../../../src/rpc/method.ts";
import { RpcError } from "../../../../src/rpc/rpc-error.ts";
import { RpcNode, type RpcResponse, signedTransaction } from "../rpc-node.ts";

const CALL = '"jsonrpc":"2.0","method":"eth_chainId","params":[]';

/** Bodies that are no request: body, code, HTTP status, id of the answer. */
const MALFORMED: readonly (readonly [string, number, number, unknown])[] = [
  ["", -32700, 400, null],
  ["{", -32700, 400, null],
  [`{${CALL},"id":1}}`, -32700, 400, null],
  [`{${CALL},"id":01}`, -32700, 400, null],
  ["{'id':1}", -32700, 400, null],
  ["[".repeat(200_000), -32700, 400, null],
  [`${"[".repeat(100_000)}${"]".repeat(100_000)}`, -32600, 200, null],
  ["null", -32600, 400, null],
  ["1", -32600, 400, null],
  ['"eth_chainId"', -32600, 400, null],
  ["{}", -32600, 400, null],
  ["[]", -32600, 400, null],
  ['{"id":1,"method":"eth_chainId"}', -32600, 400, 1],
  ['{"jsonrpc":"1.0","id":2,"method":"eth_chainId"}', -32600, 400, 2],
  ['{"jsonrpc":2.0,"id":3,"method":"eth_chainId"}', -32600, 400, 3],
  ['{"jsonrpc":"2.0","id":4}', -32600, 400, 4],
  ['{"jsonrpc":"2.0","id":5,"method":7}', -32600, 400, 5],
  ['{"jsonrpc":"2.0","id":"six","method":"eth_chainId","params":"x"}', -32600, 400, "six"],
  ['{"jsonrpc":"2.0","id":8,"method":"eth_chainId","params":{"a":1}}', -32602, 400, 8],
  [`{${CALL},"id":{}}`, -32600, 400, null],
  [`{${CALL},"id":[1]}`, -32600, 400, null],
  [`{${CALL},"id":true}`, -32600, 400, null],
  ['{"jsonrpc":"2.0","id":9,"method":"eth_nothing"}', -32601, 200, 9],
  ['{"jsonrpc":"2.0","id":9,"method":"__proto__"}', -32601, 200, 9],
  ['{"jsonrpc":"2.0","id":9,"method":"constructor"}', -32601, 200, 9],
];

describe("JSON-RPC", () => {
  let node: RpcNode;

  before(async () => {
    node = await RpcNode.open({ limits: { batchLengthMax: 20, responseLengthMax: 20_000 } });
  });
  after(() => node.close());

  const post = async (body: string, path = "/"): Promise<unknown> =>
    JSON.parse((await node.post(body, path)).text) as unknown;

  it("answers what is no request with its code, and the id where there is one", async () => {
    for (const [body, code, status, id] of MALFORMED) {
      const reply = await node.post(body);
      const text = body.slice(0, 80);
      const parsed = JSON.parse(reply.text) as RpcResponse | RpcResponse[];
      const response = Array.isArray(parsed) ? parsed[0]! : parsed;
      assert.deepEqual([response.error?.code, response.id], [code, id], text);
      assert.equal(reply.status, status, text);
      assert.equal(response.jsonrpc, "2.0", text);
      assert.equal("result" in response, false, text);
    }
    assert.deepEqual(node.internalErrors, []);
  });

  it("refuses bytes that are no UTF-8", async () => {
    const bytes = Buffer.concat([
      Buffer.from(`{${CALL},"id":"`),
      Buffer.of(0xff, 0xc0),
      Buffer.from('"}'),
    ]);
    const { status, text } = await node.post(bytes);
    assert.equal(status, 400);
    assert.equal((JSON.parse(text) as RpcResponse).error?.code, -32700);
  });

  it("gives every legal id back as it came", async () => {
    const ids = ["1", "0", "-5", '"text"', '"ü\\n"', "null", "1.5", '""'];
    const large = ["12345678901234567890", "9007199254740993", "1e400", "0.1234567890123456789"];
    for (const id of [...ids, ...large]) {
      const { text } = await node.post(`{${CALL},"id":${id}}`, "/standard");
      assert.equal(text, `{"id":${id.replace("\\n", "\\n")},"jsonrpc":"2.0","result":"0x1388"}`);
    }
    const { text } = await node.post(`[{${CALL},"id":9007199254740993}]`, "/standard");
    assert.match(text, /"id":9007199254740993,/);
  });

  it("echoes the method of a success on / alone", async () => {
    assert.deepEqual(await post(`{${CALL},"id":1}`), {
      id: 1,
      jsonrpc: "2.0",
      method: "eth_chainId",
      result: "0x1388",
    });
    const strict = { id: 1, jsonrpc: "2.0", result: "0x1388" };
    assert.deepEqual(await post(`{${CALL},"id":1}`, "/standard"), strict);
  });

  it("needs no params", async () => {
    const response = (await post('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}')) as RpcResponse;
    assert.equal(response.result, "0x1388");
  });

  it("carries notifications out and says nothing", async () => {
    const [encoded] = [bytesToHex(signedTransaction(0, {}))];
    const { status, text } = await node.post(
      `{"jsonrpc":"2.0","method":"eth_sendRawTransaction","params":["${encoded}"]}`,
    );
    assert.deepEqual([status, text], [204, ""]);
    const unknown = await node.post('{"jsonrpc":"2.0","method":"eth_nothing"}');
    assert.deepEqual([unknown.status, unknown.text], [204, ""]);
    assert.equal(node.chain.seal().transactionHashes.length, 1);
    const batch = await node.post(`[{${CALL}},{${CALL}}]`);
    assert.deepEqual([batch.status, batch.text], [204, ""]);
  });

  it("answers a batch in its order, each request for itself", async () => {
    const responses = (await post(
      `[{${CALL},"id":3},7,{${CALL}},{"jsonrpc":"2.0","id":"x","method":"eth_nothing"},
        {"jsonrpc":"2.0","id":2,"method":"eth_getBalance","params":[]},{${CALL},"id":3}]`,
    )) as RpcResponse[];
    assert.deepEqual(
      responses.map(({ id, result, error }) => [id, result ?? error?.code]),
      [
        [3, "0x1388"],
        [null, -32600],
        ["x", -32601],
        [2, -32602],
        [3, "0x1388"],
      ],
    );
  });

  it("submits the transactions of a batch in their order", async () => {
    const own = await RpcNode.open();
    try {
      const requests = Array.from({ length: 50 }, (_, index) => ({
        jsonrpc: "2.0",
        id: index,
        method: "eth_sendRawTransaction",
        params: [bytesToHex(signedTransaction(0, { nonce: BigInt(index) }))],
      }));
      const { text } = await own.post(JSON.stringify(requests));
      const responses = JSON.parse(text) as RpcResponse[];
      const block = own.chain.seal();
      const hashes = block.transactionHashes.map(bytesToHex);
      assert.deepEqual(
        responses.map(({ result }) => result),
        hashes,
      );
      assert.equal(hashes.length, 50);
    } finally {
      await own.close();
    }
  });

  it("bounds the length of a batch and of its answer", async () => {
    const batch = (count: number, call: string): string =>
      `[${new Array(count).fill(`{${call},"id":1}`).join(",")}]`;
    assert.equal((await node.post(batch(20, CALL))).status, 200);
    const refused = await node.post(batch(21, CALL));
    assert.equal(refused.status, 413);
    const { error } = JSON.parse(refused.text) as RpcResponse;
    assert.equal(error?.code, -32600);
    assert.match(error.message, /at most 20 requests, got 21/);
    const block = '"jsonrpc":"2.0","method":"eth_getBlockByNumber","params":["0x0",true]';
    const answers = (await post(batch(20, block))) as RpcResponse[];
    const tooLarge = answers.filter((answer) => answer.error?.code === -32003);
    assert.equal(answers.length, 20);
    assert.ok(tooLarge.length > 0 && tooLarge.length < 20, `${tooLarge.length}`);
  });

  it("hides everything of an inner error but that there was one", async () => {
    const secret = "secret detail";
    const methods = tableOf(
      () => {
        throw new Error(secret);
      },
      () => Promise.reject(new TypeError(secret)),
      () => {
        throw new RpcError(-32000, "said on purpose", { why: 1 });
      },
      () => ({
        toJSON: () => {
          throw new Error(secret);
        },
      }),
    );
    const own = await RpcNode.open({ methods });
    try {
      for (const name of ["m0", "m1", "m3"]) {
        const { status, text } = await own.post(`{"jsonrpc":"2.0","id":1,"method":"${name}"}`);
        assert.equal(status, 200);
        const error = { code: -32603, message: "internal error" };
        assert.deepEqual(JSON.parse(text), { id: 1, jsonrpc: "2.0", error });
      }
      const meant = await own.request("/", "m2", []);
      assert.deepEqual(meant.error, { code: -32000, message: "said on purpose", data: { why: 1 } });
      assert.equal(own.internalErrors.length, 3);
    } finally {
      await own.close();
    }
  });
});

function tableOf(...runs: readonly BoundMethod["run"][]): MethodTable {
  return new Map(runs.map((run, index) => [`m${index}`, { name: `m${index}`, run }]));
}
