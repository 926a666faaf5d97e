/** Errors that clients act on, by code and by the beginning of the text: both are geth's. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { bytesToHex } from "../../../src/base/hex.ts";
import { ALICE, CONTRACTS, hexOf, RpcNode, signedTransaction, word } from "./rpc-node.ts";

const A = hexOf(ALICE);
const CALL = { to: A };
const OLD = bytesToHex(signedTransaction(0, { type: 0, nonce: 0n, value: 8n }));
const HELD = bytesToHex(signedTransaction(2, { type: 0, nonce: 5n, value: 8n }));
const OTHER = bytesToHex(signedTransaction(2, { type: 0, nonce: 5n, value: 9n }));
const FOREIGN = bytesToHex(signedTransaction(0, { type: 2, chainId: 1n, nonce: 9n }));

const CASES: readonly [string, readonly unknown[], number, string][] = [
  ["eth_getFilterChanges", ["0x1"], -32000, "filter not found"],
  ["eth_getFilterLogs", ["0x1"], -32000, "filter not found"],
  ["eth_sendRawTransaction", [OLD], -32000, "nonce too low: next nonce 5"],
  ["eth_sendRawTransaction", [OTHER], -32000, "replacement transaction underpriced"],
  ["eth_sendRawTransaction", [FOREIGN], -32000, "invalid chain id for signer"],
  ["eth_call", [{ to: hexOf(CONTRACTS.reverter) }], 3, "execution reverted: user error"],
  ["eth_call", [CALL, "0x999"], -32000, "header not found"],
  ["eth_call", [{ ...CALL, chainId: "0x1" }], -32000, "chainId does not match node's (have=1, "],
  ["eth_estimateGas", [{ ...CALL, chainId: "0x1" }], -32000, "chainId does not match node's"],
  ["eth_getBalance", [A, "0x999"], -32000, "header not found"],
  ["eth_getProof", [A, [], word(9n)], -32000, "header not found"],
  ["eth_getLogs", [{ blockHash: word(9n) }], -32000, "unknown block"],
  ["eth_feeHistory", ["0x1", "0x999", []], -32000, "request beyond head block"],
  ["debug_traceBlockByNumber", ["0x999"], -32000, "block 0x999 not found"],
  ["debug_traceBlockByHash", [word(9n)], -32000, `block ${word(9n)} not found`],
  ["debug_traceTransaction", [word(9n)], -32000, "transaction not found"],
  ["debug_traceBlockByNumber", ["0x0"], -32000, "genesis is not traceable"],
  ["eth_simulateV1", [{ blockStateCalls: [] }], -32602, "empty input"],
  ["eth_simulateV1", [{ blockStateCalls: Array(257).fill({}) }], -38026, "too many blocks"],
  ["no_such", [], -32601, "the method no_such does not exist/is not available"],
];

describe("errors that clients act on", () => {
  let node: RpcNode;

  before(async () => {
    node = await RpcNode.open();
    await node.fill();
    await node.standard("eth_sendRawTransaction", HELD);
  });

  after(() => node.close());

  it("have the codes and the beginnings of the texts of geth", async () => {
    for (const [method, params, code, text] of CASES) {
      const { error } = await node.request("/standard", method, params);
      const what = `${method} ${JSON.stringify(params).slice(0, 80)}`;
      assert.equal(error?.code, code, `${what}: ${error?.message}`);
      assert.ok(error.message.startsWith(text), `${what}: ${error.message}`);
    }
  });

  it("do not come of params that are null, or of the right chain id", async () => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":null}';
    assert.match((await node.post(body, "/standard")).text, /"result":"0x1388"/);
    assert.equal(await node.standard("eth_call", { ...CALL, chainId: "0x1388" }), "0x");
  });

  it("do not come of a transaction that is known already: it gives its hash again", async () => {
    const first = await node.standard("eth_sendRawTransaction", HELD);
    assert.equal(await node.standard("eth_sendRawTransaction", HELD), first);
  });
});
