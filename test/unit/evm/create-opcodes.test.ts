import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { bytesToHex, hexToBytes } from "../../../src/base/hex.ts";
import { create2Address, createAddress } from "../../../src/evm/create-address.ts";
import type { ExecutionResult } from "../../../src/evm/message.ts";
import { bytesToWord } from "../../../src/evm/word.ts";
import { assemble, RETURN_TOP } from "./bytecode.ts";
import { chainOf, CONTRACT, GAS, gasUsed, SENDER, type TestChain } from "./test-chain.ts";

/** Init code that stores what it returns with RETURN size 0.. of memory. */
const NEW_ADDRESS = createAddress(CONTRACT, 1n);

/** Puts up to 32 bytes of init code at the end of word 0 and creates with it. */
function create(initCode: string, kind: "CREATE" | "CREATE2" = "CREATE", value = 0n): string {
  const bytes = assemble(initCode);
  const word = BigInt(bytesToHex(bytes));
  const salt = kind === "CREATE2" ? "PUSH 0x5a17" : "";
  return `PUSH ${word} PUSH 0 MSTORE
    ${salt} PUSH ${bytes.length} PUSH ${32 - bytes.length} PUSH ${value} ${kind}`;
}

function createFromOutside(chain: TestChain, initCode: string, gas = GAS): ExecutionResult {
  const data = assemble(initCode);
  return chain.execute({ kind: "create", caller: SENDER, value: 0n, data, gas, nonce: 0n });
}

describe("creation", () => {
  it("addresses are those of the published examples", () => {
    const creator = 0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0n;
    assert.equal(createAddress(creator, 0n), 0xcd234a471b72ba2f1ccf0a70fcaba648a5eecd8dn);
    assert.equal(createAddress(creator, 1n), 0x343c43a37d37dff08ae8c4a11544c718abb4fcf8n);
    // EIP-1014.
    assert.equal(
      create2Address(0n, 0n, Uint8Array.of(0)),
      0x4d1a2e2bb4f88f0250f26ffff098b0b30b26bf38n,
    );
    assert.equal(
      create2Address(0xdeadbeefn, 0xcafebaben, hexToBytes("0xdeadbeef")),
      0x60f3f640a8508fc6a86d45df051962668e1e8ac7n,
    );
  });

  it("nonces from 128 on take more bytes in the address", () => {
    const addresses = [0x7fn, 0x80n, 0xffn, 0x100n, (1n << 64n) - 2n].map((nonce) =>
      createAddress(SENDER, nonce),
    );
    assert.equal(new Set(addresses).size, 5);
  });

  it("stores the returned code, with nonce 1 and the value, and raises the creator's nonce", () => {
    const init = "PUSH 0xfe PUSH 0 MSTORE8 PUSH 1 PUSH 0 RETURN";
    for (const kind of ["CREATE", "CREATE2"] as const) {
      const chain = chainOf(`${create(init, kind, 3n)} ${RETURN_TOP}`);
      const result = chain.call({ value: 5n });
      const address = bytesToWord(result.output);
      const expected =
        kind === "CREATE" ? NEW_ADDRESS : create2Address(CONTRACT, 0x5a17n, assemble(init));
      assert.equal(address, expected, kind);
      const { journal } = chain;
      assert.deepEqual([...journal.code(address).bytes], [0xfe], kind);
      assert.deepEqual([journal.nonce(address), journal.balance(address)], [1n, 3n], kind);
      assert.deepEqual([journal.nonce(CONTRACT), journal.balance(CONTRACT)], [2n, 2n], kind);
      assert.equal(journal.isAddressWarm(address), true);
      assert.equal(journal.isCreated(address), true);
    }
  });

  it("costs 32000, 2 a word of init code, 6 more a word for CREATE2, 200 a byte of code", () => {
    const size = (kind: string): string =>
      `${kind === "CREATE2" ? "PUSH 1" : ""} PUSH 64 PUSH 0 PUSH 0 ${kind}`;
    const base = 3 + 2 + 2 + 32_000 + 2 * 2 + 2 * 3;
    assert.equal(gasUsed(chainOf(size("CREATE")).call()), base);
    assert.equal(gasUsed(chainOf(size("CREATE2")).call()), base + 3 + 2 * 6);
    const result = createFromOutside(chainOf(""), "PUSH 10 PUSH 0 RETURN");
    assert.equal(gasUsed(result), 3 + 2 + 3 + 2000);
    assert.equal(result.createdAddress, createAddress(SENDER, 0n));
    assert.equal(result.output.length, 10);
  });

  it("fails at the limits of code: size, first byte, deposit", () => {
    const cases = [
      ["PUSH 24576 PUSH 0 RETURN", "success", undefined, 6_000_000],
      ["PUSH 24577 PUSH 0 RETURN", "failure", "CODE_TOO_LARGE", 6_000_000],
      ["PUSH 0xef PUSH 0 MSTORE8 PUSH 1 PUSH 0 RETURN", "failure", "CODE_STARTS_WITH_EF", GAS],
      ["PUSH 0xef PUSH 1 MSTORE8 PUSH 2 PUSH 0 RETURN", "success", undefined, GAS],
      ["PUSH 100 PUSH 0 RETURN", "failure", "OUT_OF_GAS", 20_000],
      ["INVALID", "failure", "INVALID_OPCODE", GAS],
      ["PUSH 1 PUSH 0 REVERT", "revert", undefined, GAS],
    ] as const;
    for (const [init, status, reason, gas] of cases) {
      const chain = chainOf("");
      const result = createFromOutside(chain, init, gas);
      assert.equal(result.status, status, init);
      assert.equal(result.reason, reason, init);
      if (status === "failure") assert.equal(result.gasLeft, 0, init);
      const nonce = chain.journal.nonce(createAddress(SENDER, 0n));
      assert.equal(nonce, status === "success" ? 1n : 0n, init);
    }
  });

  it("init code of 49152 bytes is the largest", () => {
    const result = chainOf("PUSH 49152 PUSH 0 PUSH 0 CREATE").call();
    assert.equal(result.status, "success");
    const tooLarge = chainOf("PUSH 49153 PUSH 0 PUSH 0 CREATE").call();
    assert.equal(tooLarge.reason, "INIT_CODE_TOO_LARGE");
  });

  it("an address with code, nonce or storage is taken: the gas is lost, the nonce used", () => {
    for (const account of [{ code: "STOP" }, { nonce: 1n }, { storage: { 3: 1n } }]) {
      const chain = chainOf(`${create("STOP")} ${RETURN_TOP}`, [[NEW_ADDRESS, account]]);
      const result = chain.call();
      assert.equal(bytesToWord(result.output), 0n);
      assert.ok(gasUsed(result) > (GAS * 62) / 64);
      assert.equal(chain.journal.nonce(CONTRACT), 2n);
      const outside = chainOf("", [[createAddress(SENDER, 0n), account]]);
      assert.equal(createFromOutside(outside, "STOP").reason, "CREATE_COLLISION");
    }
    const funded = chainOf(`${create("STOP")} ${RETURN_TOP}`, [[NEW_ADDRESS, { balance: 4n }]]);
    assert.equal(bytesToWord(funded.call().output), NEW_ADDRESS, "a balance takes no address");
    assert.equal(funded.journal.balance(NEW_ADDRESS), 4n);
  });

  it("refused before it begins, it costs no gas and no nonce: balance, nonce", () => {
    const poor = chainOf(`${create("STOP", "CREATE", 1n)} ${RETURN_TOP}`);
    const result = poor.call();
    assert.equal(bytesToWord(result.output), 0n);
    assert.ok(gasUsed(result) < 32_100);
    assert.equal(poor.journal.nonce(CONTRACT), 1n);
    const code = `${create("STOP")} ${RETURN_TOP}`;
    const nonce = (1n << 64n) - 1n;
    const worn = chainOf(code, [[CONTRACT, { code, nonce }]]);
    assert.equal(bytesToWord(worn.call().output), 0n);
    assert.equal(worn.journal.nonce(CONTRACT), nonce);
  });

  it("leaves return data only if it reverted", () => {
    const size = (init: string): bigint =>
      bytesToWord(chainOf(`${create(init)} POP RETURNDATASIZE ${RETURN_TOP}`).call().output);
    assert.equal(size("PUSH 9 PUSH 0 RETURN"), 0n);
    assert.equal(size("PUSH 9 PUSH 0 REVERT"), 9n);
    assert.equal(size("INVALID"), 0n);
  });

  it("init code sees no calldata and its own code", () => {
    const init = "CODESIZE CALLDATASIZE ADD PUSH 0 MSTORE8 PUSH 1 PUSH 0 RETURN";
    const chain = chainOf(`${create(init)} ${RETURN_TOP}`);
    chain.call({ data: new Uint8Array(99) });
    assert.deepEqual([...chain.journal.code(NEW_ADDRESS).bytes], [assemble(init).length]);
  });

  it("recursive creation stops 1024 frames deep", () => {
    // Copies its own code and creates itself with it.
    const code = "CODESIZE PUSH 0 PUSH 0 CODECOPY CODESIZE PUSH 0 PUSH 0 CREATE";
    const chain = chainOf(code);
    assert.equal(chain.call({ gas: 8e15 }).status, "success");
    let [depth, address] = [0, CONTRACT];
    while (chain.journal.nonce(createAddress(address, 1n)) > 0n) {
      address = createAddress(address, 1n);
      depth++;
    }
    assert.equal(depth, 1024);
  });
});

describe("SELFDESTRUCT", () => {
  const BENEFICIARY = 0xbe4en;

  it("moves the balance and leaves an older account otherwise as it is", () => {
    const chain = chainOf(`PUSH ${BENEFICIARY} SELFDESTRUCT`);
    const result = chain.call({ value: 7n });
    assert.equal(gasUsed(result), 3 + 5000 + 2600 + 25_000);
    chain.journal.endTransaction();
    assert.equal(chain.journal.balance(BENEFICIARY), 7n);
    assert.equal(chain.journal.balance(CONTRACT), 0n);
    assert.equal(chain.journal.nonce(CONTRACT), 1n);
  });

  it("costs no account without a balance to move, and nothing more when it is warm", () => {
    assert.equal(gasUsed(chainOf(`PUSH ${BENEFICIARY} SELFDESTRUCT`).call()), 3 + 5000 + 2600);
    assert.equal(gasUsed(chainOf("ADDRESS SELFDESTRUCT").call()), 2 + 5000);
  });

  it("to itself it keeps its balance, unless it was created in this transaction", () => {
    const older = chainOf("ADDRESS SELFDESTRUCT");
    older.call({ value: 7n });
    older.journal.endTransaction();
    assert.equal(older.journal.balance(CONTRACT), 7n);
    const chain = chainOf(create("ADDRESS SELFDESTRUCT", "CREATE", 7n));
    chain.call({ value: 7n });
    chain.journal.endTransaction();
    assert.equal(chain.journal.exists(NEW_ADDRESS), false);
    assert.equal(chain.journal.balance(NEW_ADDRESS), 0n);
  });

  it("removes an account created in this transaction", () => {
    const chain = chainOf(create(`PUSH ${BENEFICIARY} SELFDESTRUCT`, "CREATE", 2n));
    chain.call({ value: 2n });
    assert.equal(chain.journal.nonce(NEW_ADDRESS), 1n, "until the end of the transaction");
    chain.journal.endTransaction();
    assert.equal(chain.journal.exists(NEW_ADDRESS), false);
    assert.equal(chain.journal.balance(BENEFICIARY), 2n);
  });
});
