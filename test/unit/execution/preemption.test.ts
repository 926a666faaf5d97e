/** Calls are cut off by the work that they do, whatever their code looks like. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type CallEnvironment, runCall } from "../../../src/execution/calls/call.ts";
import { estimateGas } from "../../../src/execution/calls/estimate-gas.ts";
import { assemble } from "../evm/bytecode.ts";
import type { TransactionRequest } from "../../../src/execution/transaction-request.ts";
import { ADDRESSES, CHAIN_ID, TestChain } from "./test-chain.ts";

const MEGABYTE = 1 << 20;
/** Hashes, copies, powers and calls, with no jump among them. */
const STRAIGHT = {
  keccak: `PUSH ${MEGABYTE} PUSH 0 KECCAK256 POP`,
  copy: `PUSH ${MEGABYTE} PUSH 0 PUSH 0 MCOPY`,
  power: `PUSH ${2n ** 256n - 1n} DUP1 EXP POP`,
  product: `PUSH ${2n ** 256n - 1n} ${"DUP1 DUP1 DUP1 MULMOD POP ".repeat(500)} POP`,
  sha256: `PUSH 0 PUSH 0 PUSH ${MEGABYTE} PUSH 0 PUSH 2 GAS STATICCALL POP`,
  storage: Array.from({ length: 20 }, (_, slot) => `PUSH ${slot} SLOAD POP`).join(" "),
} as const;
const INIT_CODE_BYTES = 49_152;
const ROUNDS_MAX = 60;

function openEnvironment(engine: CallEnvironment["engine"]): CallEnvironment {
  const chain = new TestChain();
  return { state: chain.database, block: chain.blockContext(), rules: chain.rules, engine };
}

/** The code is that of a constructor. */
function createCall(code: Uint8Array): TransactionRequest {
  const shared = { type: 0, chainId: CHAIN_ID, nonce: 0n, gasPrice: 0n, value: 0n } as const;
  const transaction = { ...shared, gasLimit: 10n ** 12n, to: undefined, data: code };
  return { sender: ADDRESSES[0] ?? 0n, transaction };
}

describe("preemption of calls", () => {
  for (const [name, piece] of Object.entries(STRAIGHT)) {
    it(`straight-line code (${name}) is looked at again and again`, () => {
      const rounds = Math.min(ROUNDS_MAX, Math.floor(INIT_CODE_BYTES / assemble(piece).length));
      const code = assemble(`${piece} `.repeat(rounds));
      let looks = 0;
      const environment = openEnvironment({ shouldStop: () => ++looks > 3 });
      const result = runCall(environment, createCall(code));
      assert.equal(result.ok && result.value.status, "stopped");
      assert.equal(looks, 4, "nothing runs on after the flag is up");
    });
  }

  it("a hash that is longer than allowed does not begin", () => {
    for (const piece of [STRAIGHT.keccak, STRAIGHT.sha256]) {
      const environment = openEnvironment({ shouldStop: () => false, bulkBytesMax: 65_536 });
      const cut = runCall(environment, createCall(assemble(piece)));
      assert.equal(cut.ok && cut.value.status, "stopped", piece);
      const short = piece.replace(String(MEGABYTE), "65536");
      const whole = runCall(environment, createCall(assemble(short)));
      assert.equal(whole.ok && whole.value.status, "success", short);
    }
  });

  it("a long run of cheap opcodes, at none of which the flag is looked at, does not begin", () => {
    for (const op of ["DIV", "MUL", "ADD", "ADDMOD", "MLOAD", "SDIV", "PUSH 0 JUMPI"]) {
      const inputs = op === "MLOAD" ? "PUSH 0" : "DUP1 DUP1 DUP1";
      const piece = `PUSH 7 ${`${inputs} ${op} `.repeat(2)}`;
      const code = (rounds: number): Uint8Array => assemble(`${piece} `.repeat(rounds));
      const environment = openEnvironment({ shouldStop: () => false, runMax: 2_048 });
      const cut = runCall(environment, createCall(code(1_000)));
      assert.equal(cut.ok && cut.value.status, "stopped", op);
      const short = runCall(environment, createCall(code(100)));
      assert.notEqual(short.ok && short.value.status, "stopped", op);
      const unbounded = openEnvironment({ shouldStop: () => false });
      const whole = runCall(unbounded, createCall(code(1_000)));
      assert.notEqual(whole.ok && whole.value.status, "stopped", op);
    }
  });

  it("an estimate ends between its runs", () => {
    let looks = 0;
    const environment = openEnvironment({ shouldStop: () => ++looks > 3 });
    // It needs far more gas than it uses, and every run is short.
    const code = assemble("PUSH 900000 GAS GT PUSH 12 JUMPI PUSH 0 PUSH 0 REVERT JUMPDEST STOP");
    const result = estimateGas(environment, createCall(code), 30_000_000n);
    assert.deepEqual(result, { ok: false, error: { kind: "stopped" } });
  });
});
