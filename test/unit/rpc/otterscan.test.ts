/** ots_* and debug_traceBlock on a chain in memory. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Hex } from "../../../src/base/hex.ts";
import { createdAddress } from "../../../src/chain/address.ts";
import { assemble } from "../evm/bytecode.ts";
import {
  ALICE,
  BOB,
  CAROL,
  CONTRACTS,
  type FilledChain,
  hexOf,
  REVERT_DATA,
  RpcNode,
  word,
} from "./rpc-node.ts";

type Json = Readonly<Record<string, unknown>>;

/** Init code that pays 3 of what it was given to Bob and creates an empty contract. */
const PAYER = assemble(
  `PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 3 PUSH ${BOB} PUSH 0 CALL POP
   PUSH 0 PUSH 0 PUSH 1 CREATE POP STOP`,
);

describe("the ots module", () => {
  let node: RpcNode;
  let filled: FilledChain;
  let paid: Hex;

  const ask = (method: string, ...params: readonly unknown[]): Promise<unknown> =>
    node.standard(method, ...params);

  before(async () => {
    node = await RpcNode.open();
    filled = await node.fill();
    paid = await node.send(0, { nonce: 5n, to: undefined, value: 10n, data: PAYER });
    node.chain.seal();
  });
  after(() => node.close());

  it("tells its version and whether there is code", async () => {
    assert.equal(await ask("ots_getApiLevel"), 8);
    assert.equal(await ask("ots_hasCode", hexOf(CONTRACTS.reader), "latest"), true);
    assert.equal(await ask("ots_hasCode", hexOf(ALICE), "latest"), false);
  });

  it("shows what a transaction did inside", async () => {
    const contract = hexOf(createdAddress(ALICE, 5n));
    const inner = hexOf(createdAddress(BigInt(contract), 1n));
    assert.deepEqual(await ask("ots_getInternalOperations", paid), [
      { type: 0, from: contract, to: hexOf(BOB), value: "0x3" },
      { type: 2, from: contract, to: inner, value: "0x1" },
    ]);
    const calls = (await ask("ots_traceTransaction", paid)) as readonly Json[];
    assert.deepEqual(
      calls.map(({ type, depth }) => [type, depth]),
      [
        ["CREATE", 0],
        ["CALL", 1],
        ["CREATE", 1],
      ],
    );
    assert.deepEqual(await ask("ots_getInternalOperations", filled.reverted), []);
    assert.equal(await ask("ots_getTransactionError", filled.reverted), REVERT_DATA);
    assert.equal(await ask("ots_getTransactionError", filled.logged), "0x");
    assert.equal(await ask("ots_getTransactionError", word(1n)), "0x");
  });

  it("shows blocks and pages of their transactions", async () => {
    const details = (await ask("ots_getBlockDetails", 3)) as Json;
    const block = details["block"] as Json;
    assert.equal(block["transactionCount"], 3);
    assert.equal(block["logsBloom"], null);
    assert.equal("transactions" in block, false);
    assert.equal(details["totalFees"], "0x0");
    assert.deepEqual(await ask("ots_getBlockDetailsByHash", block["hash"]), details);
    assert.equal(await ask("ots_getBlockDetails", 99), null);
    const full = (await ask("eth_getBlockByNumber", "0x3", false)) as Json;
    const hashes = full["transactions"] as readonly Hex[];
    const page = async (number: number): Promise<readonly unknown[]> => {
      const { fullblock, receipts } = (await ask("ots_getBlockTransactions", 3, number, 2)) as {
        readonly fullblock: { readonly transactions: readonly Json[] };
        readonly receipts: readonly Json[];
      };
      const shown = fullblock.transactions.map(({ hash }) => hash);
      assert.deepEqual(
        receipts.map(({ transactionHash }) => transactionHash),
        shown,
      );
      return shown;
    };
    assert.deepEqual(await page(0), hashes.slice(1));
    assert.deepEqual(await page(1), hashes.slice(0, 1));
    assert.deepEqual(await page(2), []);
    const { error } = await node.request("/standard", "ots_getBlockTransactions", [3, 0, 101]);
    assert.equal(error?.code, -32602, "a page has a limit");
  });

  it("finds a transaction by sender and nonce, and who created a contract", async () => {
    const find = (nonce: number): Promise<unknown> =>
      ask("ots_getTransactionBySenderAndNonce", hexOf(ALICE), nonce);
    assert.deepEqual(await Promise.all([0, 2, 4, 5, 6].map(find)), [
      ...[filled.legacy, filled.created, filled.loggedAgain, paid],
      null,
    ]);
    const creator = { hash: filled.created, creator: hexOf(ALICE) };
    const created = hexOf(createdAddress(ALICE, 2n));
    assert.deepEqual(await ask("ots_getContractCreator", created), creator);
    assert.equal(await ask("ots_getContractCreator", hexOf(CONTRACTS.reader)), null, "genesis");
    assert.equal(await ask("ots_getContractCreator", hexOf(CAROL)), null, "a delegation");
    assert.equal(await ask("ots_getContractCreator", hexOf(ALICE)), null);
  });
});

describe("debug_traceBlock", () => {
  it("traces a block that is given as RLP if it is one of the chain", async () => {
    const node = await RpcNode.open();
    try {
      await node.fill();
      const encoded = await node.standard("debug_getRawBlock", "0x3");
      const config = { tracer: "callTracer" };
      const traced = await node.standard("debug_traceBlock", encoded, config);
      assert.deepEqual(traced, await node.standard("debug_traceBlockByNumber", "0x3", config));
      const genesis = await node.standard("debug_getRawBlock", "0x0");
      const codes = { "0x00": -32602, [String(genesis)]: -32000 };
      for (const [given, code] of Object.entries(codes)) {
        const { error } = await node.request("/standard", "debug_traceBlock", [given]);
        assert.equal(error?.code, code, given.slice(0, 10));
      }
    } finally {
      await node.close();
    }
  });
});
