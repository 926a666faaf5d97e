import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { bytesToHex, type Hex } from "../../../src/base/hex.ts";
import { verifyProof } from "../../../src/state/trie/trie-proof.ts";
import { addressHash, wordHash } from "../../../src/chain/word-hash.ts";
import { hexToBytes } from "../../../src/base/hex.ts";
import { assemble, RETURN_TOP } from "../evm/bytecode.ts";
import { ALICE, BOB, CAROL, CONTRACTS, hexOf, RpcNode, topic, word } from "./rpc-node.ts";

type Json = Readonly<Record<string, unknown>>;
type Block = Json & { readonly calls: readonly Json[] };

const COUNTER = 0x77n << 40n;
/** Adds 1 to slot 0 and returns it. */
const COUNT = bytesToHex(assemble(`PUSH 0 SLOAD PUSH 1 ADD DUP1 PUSH 0 SSTORE ${RETURN_TOP}`));

describe("eth_simulateV1", () => {
  let node: RpcNode;

  const simulate = async (payload: object, block: unknown = "latest"): Promise<readonly Block[]> =>
    (await node.standard("eth_simulateV1", payload, block)) as readonly Block[];
  const code = async (payload: object): Promise<number> =>
    (await node.request("/standard", "eth_simulateV1", [payload])).error!.code;
  const from = hexOf(ALICE);

  before(async () => {
    node = await RpcNode.open();
    await node.fill();
  });
  after(() => node.close());

  it("makes the very block that the chain would make", async () => {
    const pending = [
      { to: BOB, value: 5n, gasLimit: 30_000n },
      { to: CONTRACTS.logger, data: topic(3n), gasLimit: 60_000n },
      { to: undefined, data: assemble("PUSH 7 PUSH 1 SSTORE STOP"), gasLimit: 100_000n },
    ];
    const base = node.chain.latestBlock();
    const calls = pending.map(({ to, value = 0n, data = new Uint8Array(0), gasLimit }) => ({
      from,
      ...(to !== undefined && { to: hexOf(to) }),
      value: `0x${value.toString(16)}`,
      input: bytesToHex(data),
      gas: `0x${gasLimit.toString(16)}`,
      maxFeePerGas: "0x0",
      maxPriorityFeePerGas: "0x0",
    }));
    const [block] = await simulate({ blockStateCalls: [{ calls }], validation: true });
    const nonce = BigInt((await node.standard("eth_getTransactionCount", from, "latest")) as Hex);
    for (const [index, one] of pending.entries()) {
      await node.send(0, { nonce: nonce + BigInt(index), ...one });
    }
    const real = (await node.standard(
      "eth_getBlockByHash",
      bytesToHex(node.chain.seal().hash),
      false,
    )) as Json;
    for (const name of ["number", "parentHash", "stateRoot", "receiptsRoot", "gasUsed"]) {
      assert.equal(block![name], real[name], name);
    }
    assert.equal(block!["logsBloom"], real["logsBloom"]);
    assert.deepEqual(
      block!.calls.map(({ status }) => status),
      ["0x1", "0x1", "0x1"],
    );
    assert.notEqual(bytesToHex(base.hash), block!["hash"]);
  });

  it("carries state from block to block, with what is overridden in between", async () => {
    const call = { from, to: hexOf(COUNTER) };
    const override = { [hexOf(COUNTER)]: { code: COUNT } };
    const blocks = await simulate({
      blockStateCalls: [
        { stateOverrides: override, calls: [call, call] },
        { calls: [call] },
        {
          stateOverrides: { [hexOf(COUNTER)]: { state: { [word(0n)]: word(40n) } } },
          calls: [call],
        },
      ],
    });
    const values = blocks.map(({ calls }) => calls.map(({ returnData }) => returnData));
    assert.deepEqual(values, [[word(1n), word(2n)], [word(3n)], [word(41n)]]);
    const again = await simulate({
      blockStateCalls: [{ stateOverrides: override, calls: [call] }],
    });
    assert.equal(again[0]!.calls[0]!["returnData"], word(1n), "nothing is kept");
    const roots = new Set(blocks.map(({ stateRoot }) => stateRoot));
    assert.equal(roots.size, 3);
    assert.equal(blocks[1]!["parentHash"], blocks[0]!["hash"]);
  });

  it("fills the numbers that are skipped, and applies the overrides of each block", async () => {
    const latest = node.chain.latestBlock().header;
    const number = latest.number + 3n;
    const target = bytesToHex(assemble(`NUMBER TIMESTAMP ADD COINBASE ADD ${RETURN_TOP}`));
    const blocks = await simulate({
      blockStateCalls: [
        {
          blockOverrides: {
            number: `0x${number.toString(16)}`,
            time: `0x${(latest.timestamp + 100n).toString(16)}`,
            feeRecipient: hexOf(CAROL),
          },
          stateOverrides: { [hexOf(COUNTER)]: { code: target } },
          calls: [{ from, to: hexOf(COUNTER) }],
        },
      ],
    });
    assert.equal(blocks.length, 3);
    assert.deepEqual(
      blocks.map(({ calls }) => calls.length),
      [0, 0, 1],
    );
    const expected = number + latest.timestamp + 100n + CAROL;
    assert.equal(blocks[2]!.calls[0]!["returnData"], word(expected));
    assert.equal(blocks[2]!["miner"], hexOf(CAROL));
  });

  it("shows reverts, failures and transfers", async () => {
    const [block] = await simulate({
      blockStateCalls: [
        {
          calls: [
            { from, to: hexOf(CONTRACTS.reverter) },
            { from, to: hexOf(CONTRACTS.thrower), gas: "0x10000" },
            { from, to: hexOf(BOB), value: "0x9" },
          ],
        },
      ],
      traceTransfers: true,
      returnFullTransactions: true,
    });
    const [reverted, thrown, paid] = block!.calls;
    assert.equal((reverted!["error"] as Json)["code"], 3);
    assert.match((reverted!["error"] as Json)["message"] as string, /user error/);
    assert.equal((thrown!["error"] as Json)["code"], -32015);
    const [transfer] = paid!["logs"] as readonly Json[];
    assert.equal(transfer!["address"], `0x${"ee".repeat(20)}`);
    assert.deepEqual((transfer!["topics"] as readonly Hex[]).slice(1), [word(ALICE), word(BOB)]);
    assert.equal(transfer!["data"], word(9n));
    assert.equal((block!["transactions"] as readonly Json[])[2]!["from"], from);
  });

  it("refuses what no chain could have, with the codes of the specification", async () => {
    const call = { from, to: hexOf(BOB) };
    const rich = `0x${(2n ** 200n).toString(16)}`;
    const cases: readonly (readonly [number, object])[] = [
      [-38014, { blockStateCalls: [{ calls: [{ ...call, value: rich }] }] }],
      [-38010, { blockStateCalls: [{ calls: [{ ...call, nonce: "0x0" }] }], validation: true }],
      [-38011, { blockStateCalls: [{ calls: [{ ...call, nonce: "0x999" }] }], validation: true }],
      [-38013, { blockStateCalls: [{ calls: [{ ...call, gas: "0x1" }] }] }],
      [-38020, { blockStateCalls: [{ blockOverrides: { number: "0x1" } }] }],
      [-38021, { blockStateCalls: [{ blockOverrides: { time: "0x1" } }] }],
      [-38026, { blockStateCalls: [{ blockOverrides: { number: "0x9999" } }] }],
      [-38015, { blockStateCalls: [{ calls: [{ ...call, gas: "0x9999999" }] }] }],
      [-32602, { blockStateCalls: {} }],
      [-32602, { blockStateCalls: [], extra: 1 }],
    ];
    for (const [expected, payload] of cases) {
      assert.equal(await code(payload), expected, JSON.stringify(payload));
    }
  });
});

describe("eth_getProof", () => {
  it("proves accounts and slots of every block against its state root", async () => {
    const node = await RpcNode.open();
    try {
      await node.fill();
      for (const number of ["0x0", "0x1", "0x3"]) {
        const { stateRoot } = (await node.standard("eth_getBlockByNumber", number, false)) as Json;
        for (const [address, keys] of [
          [CONTRACTS.reader, ["0x0", word(1n)]],
          [ALICE, []],
          [0x999n, ["0x0"]],
        ] as const) {
          const proof = (await node.standard("eth_getProof", hexOf(address), keys, number)) as Json;
          const nodes = (proof["accountProof"] as readonly Hex[]).map(hexToBytes);
          const found = verifyProof(hexToBytes(stateRoot as Hex), addressHash(address), nodes);
          assert.ok(found.ok);
          assert.equal(found.value === undefined, address === 0x999n);
          const storage = proof["storageProof"] as readonly Json[];
          assert.deepEqual(
            storage.map(({ key }) => key),
            [...keys],
          );
          for (const { key, value, proof: slotNodes } of storage) {
            const slotProof = verifyProof(
              hexToBytes(proof["storageHash"] as Hex),
              wordHash(BigInt(key as Hex)),
              (slotNodes as readonly Hex[]).map(hexToBytes),
            );
            assert.ok(slotProof.ok);
            assert.equal(slotProof.value === undefined, value === "0x0");
          }
        }
      }
    } finally {
      await node.close();
    }
  });
});
