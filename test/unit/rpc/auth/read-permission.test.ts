/**
 * What a caller without READ can learn. Two chains that differ only in the storage of one contract
 * answer every method of the table; a caller that may not read that contract must not be able to
 * tell them apart.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bytesToHex, type Hex } from "../../../../src/base/hex.ts";
import { ok } from "../../../../src/base/result.ts";
import { publicKeyToAddress } from "../../../../src/chain/address.ts";
import { signAuthorization } from "../../../../src/chain/transaction-sender.ts";
import { publicKeyOf } from "../../../../src/crypto/secp256k1.ts";
import { ACCESS_CLASSES } from "../../../../src/rpc/auth/access-class.ts";
import { createMethodCheck } from "../../../../src/rpc/auth/access-control.ts";
import { AccessRules, DEFAULT_ACCESS_OPTIONS } from "../../../../src/rpc/auth/access-rules.ts";
import type { Identity } from "../../../../src/rpc/auth/identity.ts";
import { createCalledCode } from "../../../../src/rpc/auth/read-right.ts";
import { Dispatcher } from "../../../../src/rpc/server/dispatcher.ts";
import { createMethodTable } from "../../../../src/rpc/methods/method-table.ts";
import type { MethodTable } from "../../../../src/rpc/method.ts";
import type { NetworkStatusReader } from "../../../../src/api/network-status.ts";
import { DEFAULT_RPC_LIMITS } from "../../../../src/rpc/rpc-options.ts";
import { MemoryChain } from "../../../support/memory-chain.ts";
import { assemble, RETURN_TOP } from "../../evm/bytecode.ts";
import { CHAIN_ID, GENESIS, KEYS, RICH } from "../../execution/test-chain.ts";
import { ALICE, BOB, hexOf, signedTransaction, word } from "../rpc-node.ts";

type Answer = { readonly result?: unknown; readonly error?: { readonly code: number } };

const SECRET = 0x5ec4e7n << 32n;
const PUBLIC = 0x9b11cn << 32n;
/** Returns what the secret contract returns. */
const RELAY = 0x4e1a7n << 32n;
const TO_SECRET = { to: hexOf(SECRET) };
const TO_PUBLIC = { to: hexOf(PUBLIC) };
/** READ at PUBLIC and at its own account, and nowhere else. */
const NARROW: Identity = { subject: "narrow", account: BOB, roles: [] };
const STRANGER: Identity = { subject: "stranger", account: ALICE, roles: [] };

/** Writes the secret to memory at 0. */
const ASK_SECRET = `PUSH 32 PUSH 0 PUSH 0 PUSH 0 PUSH ${SECRET} PUSH 100000 STATICCALL`;
/** Reads the secret, logs it, and pays as many wei of what it was given back to the sender. */
const PROBE = assemble(
  `${ASK_SECRET} PUSH 32 PUSH 0 LOG0
   PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0 MLOAD CALLER PUSH 100000 CALL STOP`,
);

class Twin {
  readonly chain: MemoryChain;
  readonly methods: MethodTable;
  readonly #dispatcher: Dispatcher;
  readonly #rules: AccessRules;

  constructor(secret: bigint) {
    const reader = assemble(`PUSH 0 SLOAD ${RETURN_TOP}`);
    this.chain = new MemoryChain(GENESIS, {
      contracts: [
        { address: SECRET, code: reader, storage: [[0n, secret]] },
        { address: PUBLIC, code: reader, storage: [[0n, 7n]] },
        { address: RELAY, code: assemble(`${ASK_SECRET} PUSH 32 PUSH 0 RETURN`), storage: [] },
      ],
    });
    this.methods = createMethodTable(this.chain, this.chain, networkOf(this.chain));
    this.#dispatcher = new Dispatcher(DEFAULT_RPC_LIMITS, { methods: this.methods });
    this.#rules = new AccessRules(
      { ...DEFAULT_ACCESS_OPTIONS, isReadPermissioned: true },
      {
        mayRead: (account, target) => account === BOB && [PUBLIC, BOB].includes(target),
        calledCode: createCalledCode(this.chain),
      },
    );
  }

  async ask(caller: Identity | undefined, method: string, params: unknown[]): Promise<Answer> {
    const authenticator = { identify: () => Promise.resolve(ok(caller)) };
    const control = { rules: this.#rules, authenticator, signIn: undefined };
    const nothing = { authorization: undefined, certificate: undefined };
    const check = createMethodCheck(control, nothing);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const { text = "{}" } = await this.#dispatcher.answer(Buffer.from(body), "standard", { check });
    return JSON.parse(text) as Answer;
  }
}

function networkOf(chain: MemoryChain): NetworkStatusReader {
  return {
    networkStatus: () => ({
      isReady: true,
      problem: undefined,
      epoch: 0,
      view: 0,
      leader: 0,
      finalHeight: 0,
      publishedHeight: 0,
      blockNumber: chain.latestBlock().header.number,
      lag: 0,
      replicasUp: 4,
      replicasNeeded: 3,
      replicaCount: 4,
      pool: { executable: 0, queued: 0, isFull: false },
      stalledMs: 0,
      openTransactions: 0,
      isDiskFull: false,
    }),
    replicaStatuses: () => [],
  };
}

const probe = (nonce: bigint): Hex =>
  bytesToHex(signedTransaction(1, { nonce, to: undefined, value: 1_000n, data: PROBE }));
const tooDear = bytesToHex(signedTransaction(1, { nonce: 2n, value: 2n * RICH }));
const reused = bytesToHex(signedTransaction(1, { nonce: 0n, value: 5n }));
/** Bob chooses what code his account runs, and may read his account. */
const delegation = bytesToHex(
  signedTransaction(0, {
    type: 4,
    to: PUBLIC,
    authorizationList: [
      signAuthorization({ chainId: CHAIN_ID, address: RELAY, nonce: 1n }, KEYS[1]!),
    ],
  }),
);

/** Parameters with which a method would tell the most. Of methods without an entry: none. */
function questionsOf(hash: Hex): ReadonlyMap<string, readonly (readonly unknown[])[]> {
  const one = (...params: readonly unknown[]): readonly (readonly unknown[])[] => [params];
  const calls = [
    [TO_SECRET, "latest"],
    [TO_PUBLIC, "latest"],
    [{ ...TO_PUBLIC, from: hexOf(ALICE) }, "latest"],
    [TO_PUBLIC, "latest", { [hexOf(PUBLIC)]: { code: bytesToHex(PROBE) } }],
    [{ data: bytesToHex(PROBE) }, "latest"],
    [{ to: hexOf(BOB) }, "latest"],
  ];
  return new Map([
    ["debug_getRawBlock", one("latest")],
    ["debug_getRawHeader", one("latest")],
    ["debug_getRawReceipts", one("latest")],
    ["debug_traceBlockByNumber", one("latest")],
    ["debug_traceCall", calls],
    ["debug_traceTransaction", one(hash)],
    ["eth_call", calls],
    ["eth_createAccessList", calls],
    ["eth_estimateGas", calls],
    ["eth_feeHistory", one("0x2", "latest", [50])],
    ["eth_fillTransaction", calls],
    ["eth_getBalance", [...one(hexOf(SECRET), "latest"), ...one(hexOf(PUBLIC), "latest")]],
    ["eth_getBlockByNumber", one("latest", true)],
    ["eth_getBlockReceipts", one("latest")],
    ["eth_getCode", [...one(hexOf(SECRET), "latest"), ...one(hexOf(PUBLIC), "latest")]],
    ["eth_getLogs", one({ fromBlock: "0x0" })],
    ["eth_getProof", [...one(hexOf(SECRET), [], "latest"), ...one(hexOf(PUBLIC), [], "latest")]],
    ["eth_getStorageAt", [hexOf(SECRET), hexOf(PUBLIC)].map((at) => [at, word(0n), "latest"])],
    ["eth_getStorageValues", one({ [hexOf(SECRET)]: [word(0n)] }, "latest")],
    ["eth_getTransactionByHash", one(hash)],
    ["eth_getTransactionCount", [...one(hexOf(SECRET), "latest"), ...one(hexOf(BOB), "latest")]],
    ["eth_getTransactionReceipt", one(hash)],
    ["eth_newFilter", one({ fromBlock: "0x0" })],
    ["eth_sendRawTransaction", [...one(tooDear), ...one(reused), ...one(probe(0n))]],
    ["eth_sendRawTransactionSync", [...one(tooDear), ...one(probe(0n))]],
    ["eth_simulateV1", one({ blockStateCalls: [{ calls: [TO_SECRET] }] }, "latest")],
    ["eth_subscribe", one("logs", {})],
    ["quorate_getCertificate", one("latest")],
    ["quorate_getTransactionStatus", one(hash)],
    ["eth_getHeaderByNumber", one("latest")],
    ["ots_getBlockDetails", one(1)],
    ["ots_getBlockTransactions", one(1, 0, 10)],
    ["ots_getContractCreator", one(hexOf(SECRET))],
    ["ots_getInternalOperations", one(hash)],
    ["ots_getTransactionBySenderAndNonce", one(hexOf(BOB), 0)],
    ["ots_getTransactionError", one(hash)],
    ["ots_hasCode", one(hexOf(SECRET), "latest")],
    ["ots_traceTransaction", one(hash)],
    ["trace_block", one("0x1")],
    ["trace_call", calls.map(([call]) => [call, ["trace", "stateDiff"], "latest"])],
    ["trace_filter", one({ fromBlock: "0x0" })],
    ["trace_replayBlockTransactions", one("0x1", ["trace", "stateDiff"])],
    ["trace_replayTransaction", one(hash, ["trace", "stateDiff"])],
    ["trace_transaction", one(hash)],
    ["txpool_contentFrom", one(hexOf(BOB))],
  ]);
}

describe("the table of access classes", () => {
  it("has exactly the methods of the method table", () => {
    const { methods } = new Twin(1n);
    const undeclared = [...methods.keys()].filter((name) => !ACCESS_CLASSES.has(name));
    assert.deepEqual(undeclared, [], "each method declares what it tells");
    const gone = [...ACCESS_CLASSES.keys()].filter((name) => !methods.has(name));
    assert.deepEqual(gone, []);
  });
});

describe("a caller that may not read a contract", () => {
  it("gets the same answers from two chains that differ in its storage", async () => {
    const twins = [new Twin(42n), new Twin(43n)] as const;
    const sent = await Promise.all(
      twins.map(async (twin) => {
        assert.equal(publicKeyToAddress(publicKeyOf(KEYS[1]!)), BOB);
        const { result } = await twin.ask(undefined, "eth_sendRawTransaction", [probe(0n)]);
        twin.chain.seal();
        await twin.ask(undefined, "eth_sendRawTransaction", [delegation]);
        twin.chain.seal();
        return result;
      }),
    );
    const hash = String(sent[0]) as Hex;
    assert.equal(sent[0], sent[1], "the hash is of the transaction alone");
    assert.notDeepEqual(balances(twins[0]), balances(twins[1]), "the probe carries the secret");
    const questions = questionsOf(hash);
    for (const [method, access] of ACCESS_CLASSES) {
      for (const caller of [undefined, STRANGER, NARROW]) {
        for (const params of questions.get(method) ?? [[]]) {
          const what = `${method} ${JSON.stringify(params)} by ${caller?.subject ?? "anyone"}`;
          const [left, right] = await Promise.all(
            twins.map((twin) => twin.ask(caller, method, [...params])),
          );
          assert.deepEqual(left, right, what);
          if (access === "open" || access === "submit" || caller === NARROW) continue;
          assert.ok([-32602, -32060].includes(left?.error?.code ?? 0), what);
        }
      }
    }
  });

  it("learns that a nonce is used, and not which is next", async () => {
    const twin = new Twin(42n);
    await twin.ask(undefined, "eth_sendRawTransaction", [probe(0n)]);
    twin.chain.seal();
    const { error } = await twin.ask(STRANGER, "eth_sendRawTransaction", [reused]);
    const data = { reason: "TX_NONCE_TOO_LOW" };
    assert.deepEqual(error, { code: -32000, message: "nonce too low", data });
  });

  it("still gets what it may read", async () => {
    const twin = new Twin(42n);
    const own = { ...TO_PUBLIC, from: hexOf(BOB) };
    assert.equal((await twin.ask(NARROW, "eth_call", [own, "latest"])).result, word(7n));
    assert.equal((await twin.ask(NARROW, "eth_call", [TO_PUBLIC, "0x0"])).result, word(7n));
    assert.equal((await twin.ask(NARROW, "eth_call", [TO_PUBLIC, "0x9"])).error?.code, -32000);
    const storage = await twin.ask(NARROW, "eth_getStorageAt", [hexOf(PUBLIC), "0x0", "latest"]);
    assert.equal(storage.result, word(7n));
  });
});

function balances({ chain }: Twin): unknown {
  return chain.stateAt(chain.latestBlock())?.balance(BOB);
}
