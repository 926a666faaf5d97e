import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { bytesToHex, hexToBytes } from "../../../src/base/hex.ts";
import type { UnsignedTransaction } from "../../../src/chain/transaction.ts";
import { type CallEnvironment, runCall } from "../../../src/execution/calls/call.ts";
import { createAccessList } from "../../../src/execution/calls/create-access-list.ts";
import { estimateGas } from "../../../src/execution/calls/estimate-gas.ts";
import { ADDRESSES, CHAIN_ID, RICH, TestChain, transactionOf } from "./test-chain.ts";

const [ALICE = 0n, BOB = 0n] = ADDRESSES;
const POOR = 0x9004n;
const GAS_MAX = 16_777_216n;

const CONTRACTS = {
  /** Returns slot 0. */
  reader: { address: 0x10n << 32n, code: "0x5f545f5260205ff3", storage: [[0n, 42n]] },
  /** Writes the first word of its data to slot 0. */
  writer: { address: 0x11n << 32n, code: "0x5f355f5500", storage: [] },
  /** Reverts with one word, 0x2a. */
  reverter: { address: 0x12n << 32n, code: "0x602a5f5260205ffd", storage: [] },
  spinner: { address: 0x13n << 32n, code: "0x5b5f56", storage: [] },
  /** Calls the writer with all gas but a 64th and reverts if that failed. */
  outer: {
    address: 0x14n << 32n,
    code: `0x60075f525f5f60205f5f64${(0x11n << 32n).toString(16).padStart(10, "0")}5af16018575f5ffd5b00`,
    storage: [],
  },
  /** Clears slot 0: needs more gas than it pays for in the end. */
  clearer: { address: 0x15n << 32n, code: "0x5f5f5500", storage: [[0n, 1n]] },
} as const;

function openChain(): TestChain {
  const contracts = Object.values(CONTRACTS).map(({ address, code, storage }) => ({
    address,
    code: hexToBytes(code),
    storage,
  }));
  return new TestChain(contracts);
}

function environmentOf(chain: TestChain): CallEnvironment {
  return { state: chain.database, block: chain.blockContext(), rules: chain.rules };
}

function callTo(
  to: bigint | undefined,
  fields: Partial<Extract<UnsignedTransaction, { type: 0 }>> = {},
): { transaction: UnsignedTransaction; sender: bigint } {
  const transaction: UnsignedTransaction = {
    type: 0,
    chainId: CHAIN_ID,
    nonce: 0n,
    gasLimit: 1_000_000n,
    to,
    value: 0n,
    data: new Uint8Array(0),
    gasPrice: 0n,
    ...fields,
  };
  return { transaction, sender: ALICE };
}

describe("runCall", () => {
  it("returns what the contract returns and changes nothing", () => {
    const chain = openChain();
    const root = bytesToHex(chain.database.stateRoot);
    const read = runCall(environmentOf(chain), callTo(CONTRACTS.reader.address));
    assert.equal(BigInt(bytesToHex(read.ok ? read.value.output : new Uint8Array(0))), 42n);
    const data = new Uint8Array(32).fill(1);
    const written = runCall(environmentOf(chain), callTo(CONTRACTS.writer.address, { data }));
    assert.equal(written.ok && written.value.status, "success");
    assert.equal(bytesToHex(chain.database.stateRoot), root);
    assert.equal(chain.database.storage(CONTRACTS.writer.address, 0n), 0n);
  });

  it("sees the state of any retained block", () => {
    const chain = openChain();
    const word = (value: number): Uint8Array => new Uint8Array(32).fill(value, 31);
    const { address } = CONTRACTS.writer;
    chain.execute(transactionOf(0, { to: address, data: word(1) }));
    chain.execute(transactionOf(0, { nonce: 1n, to: address, data: word(2) }));
    for (const block of [0n, 1n, 2n]) {
      const state = chain.database.at(block) ?? assert.fail("not retained");
      assert.equal(state.storage(address, 0n), block, `slot after block ${block}`);
      const result = runCall(
        { ...environmentOf(chain), state },
        callTo(address, { data: word(3) }),
      );
      const gas = result.ok ? result.value.gasUsed : 0n;
      const isFirstWrite = block === 0n;
      assert.equal(gas > 40_000n, isFirstWrite, `gas ${gas} at block ${block}`);
    }
  });

  it("gives the data of a revert", () => {
    const result = runCall(environmentOf(openChain()), callTo(CONTRACTS.reverter.address));
    assert.equal(result.ok && result.value.status, "revert");
    assert.equal(BigInt(bytesToHex(result.ok ? result.value.output : new Uint8Array(0))), 42n);
  });

  it("stops when the flag is up, without a trace", () => {
    let polls = 0;
    const engine = { shouldStop: () => ++polls > 3 };
    const environment = { ...environmentOf(openChain()), engine };
    const result = runCall(environment, callTo(CONTRACTS.spinner.address, { gasLimit: 1n << 50n }));
    assert.equal(result.ok && result.value.status, "stopped");
  });

  it("needs no balance unless it names a price or a value", () => {
    const environment = environmentOf(openChain());
    const free = runCall(environment, { ...callTo(BOB), sender: POOR });
    assert.ok(free.ok);
    for (const fields of [{ value: 1n }, { gasPrice: 1n }]) {
      const result = runCall(environment, { ...callTo(BOB, fields), sender: POOR });
      assert.equal(!result.ok && result.error.code, "TX_INSUFFICIENT_BALANCE");
    }
  });

  it("takes changes that are to hold before it", () => {
    const environment: CallEnvironment = {
      ...environmentOf(openChain()),
      prepare: (journal) => journal.setStorage(CONTRACTS.reader.address, 0n, 7n),
    };
    const result = runCall(environment, callTo(CONTRACTS.reader.address));
    assert.equal(BigInt(bytesToHex(result.ok ? result.value.output : new Uint8Array(0))), 7n);
  });
});

describe("estimateGas", () => {
  it("finds the least gas limit that succeeds", () => {
    const chain = openChain();
    const environment = environmentOf(chain);
    const data = new Uint8Array(32).fill(1);
    for (const name of ["reader", "writer", "outer", "clearer"] as const) {
      const request = callTo(CONTRACTS[name].address, { data });
      const estimate = estimateGas(environment, request, GAS_MAX);
      assert.ok(estimate.ok, name);
      const statusWith = (gasLimit: bigint): string => {
        const transaction = { ...request.transaction, gasLimit };
        const result = runCall(environment, { ...request, transaction });
        return result.ok ? result.value.status : result.error.code;
      };
      assert.equal(statusWith(estimate.value), "success", name);
      assert.notEqual(statusWith(estimate.value - 1n), "success", `${name}: less is enough`);
    }
  });

  it("asks for more than is used where a refund or the 63/64 rule makes it so", () => {
    const environment = environmentOf(openChain());
    for (const name of ["outer", "clearer"] as const) {
      const request = callTo(CONTRACTS[name].address);
      const estimate = estimateGas(environment, request, GAS_MAX);
      const run = runCall(environment, request);
      assert.ok(estimate.ok && run.ok);
      assert.ok(estimate.value > run.value.gasUsed, name);
    }
  });

  it("gives 21000 for a transfer", () => {
    const estimate = estimateGas(environmentOf(openChain()), callTo(BOB, { value: 1n }), GAS_MAX);
    assert.deepEqual(estimate, { ok: true, value: 21_000n });
  });

  it("says why nothing is enough", () => {
    const environment = environmentOf(openChain());
    const reverted = estimateGas(environment, callTo(CONTRACTS.reverter.address), GAS_MAX);
    assert.ok(!reverted.ok && reverted.error.kind === "reverted");
    assert.equal(BigInt(bytesToHex(reverted.error.output)), 42n);
    const spun = estimateGas(environment, callTo(CONTRACTS.spinner.address), 100_000n);
    assert.ok(!spun.ok && spun.error.kind === "failed");
    assert.equal(spun.error.gasLimit, 100_000n);
    const poor = estimateGas(environment, { ...callTo(BOB, { value: 1n }), sender: POOR }, GAS_MAX);
    assert.ok(!poor.ok && poor.error.kind === "refused");
    assert.equal(poor.error.reason.code, "TX_INSUFFICIENT_BALANCE");
  });

  it("never goes beyond what the sender can pay", () => {
    const gasPrice = RICH / 30_000n;
    const request = callTo(CONTRACTS.spinner.address, { gasPrice });
    const result = estimateGas(environmentOf(openChain()), request, GAS_MAX);
    assert.ok(!result.ok && result.error.kind === "failed");
    assert.equal(result.error.gasLimit, 30_000n);
  });
});

describe("createAccessList", () => {
  it("lists the slots and the other accounts that are touched, and saves their gas", () => {
    const environment = environmentOf(openChain());
    const result = createAccessList(environment, callTo(CONTRACTS.outer.address));
    assert.ok(result.ok);
    assert.deepEqual(result.value.accessList, [
      { address: CONTRACTS.writer.address, storageKeys: [0n] },
    ]);
    const direct = createAccessList(environment, callTo(CONTRACTS.reader.address));
    assert.ok(direct.ok);
    assert.deepEqual(direct.value.accessList, [
      { address: CONTRACTS.reader.address, storageKeys: [0n] },
    ]);
  });

  it("is empty for a plain transfer", () => {
    const result = createAccessList(environmentOf(openChain()), callTo(BOB, { value: 1n }));
    assert.deepEqual(result.ok && result.value.accessList, []);
  });

  it("lists no slot for a load that fails for want of an operand", () => {
    const address = 0x1fn << 32n;
    const chain = new TestChain([{ address, code: hexToBytes("0x54"), storage: [] }]);
    const result = createAccessList(environmentOf(chain), callTo(address));
    assert.ok(result.ok);
    assert.equal(result.value.execution.status, "failure");
    assert.deepEqual(result.value.accessList, []);
  });
});
