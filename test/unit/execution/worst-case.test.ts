import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { precompilesOf } from "../../../src/evm/precompiles/registry.ts";
import { AttackChain, FULL_BLOCK } from "../../support/attack-chain.ts";
import { ATTACK_PROGRAMS, MIXED_PROGRAM, SLOW_PROGRAMS } from "../../support/attack-programs.ts";

const GAS = 4_000_000n;
/**
 * Ten times what a block of 60,000,000 gas in a second allows: a busy machine passes, a cost that
 * does not follow the gas fails. `npm run bench -- worst-case` prints the true figures.
 */
const NANOSECONDS_PER_GAS_MAX = 170;

describe("adversarial programs", () => {
  for (const { name, code } of ATTACK_PROGRAMS) {
    it(`stay within a time that follows their gas: ${name}`, () => {
      const chain = new AttackChain(code, 2000);
      const start = process.cpuUsage();
      const { included, block } = chain.attack([GAS]);
      const { user, system } = process.cpuUsage(start);
      assert.equal(included.length, 1);
      const gasUsed = Number(block?.block.header.gasUsed ?? 0n);
      assert.ok(gasUsed > 0.9 * Number(GAS), `${gasUsed} gas used: the attack ended early`);
      const nanoseconds = ((user + system) * 1000) / Number(GAS);
      assert.ok(nanoseconds < NANOSECONDS_PER_GAS_MAX, `${nanoseconds.toFixed(0)} ns per gas`);
    });
  }

  for (const { name, code } of SLOW_PROGRAMS) {
    it(`end at the block's share of slow work: ${name}`, () => {
      const chain = new AttackChain(code, 10);
      const start = process.cpuUsage();
      const { included, dropped } = chain.attack(FULL_BLOCK);
      const { user, system } = process.cpuUsage(start);
      assert.deepEqual(included, []);
      const codes = dropped.map(({ reason }) => reason.code);
      const waiting = FULL_BLOCK.slice(1).map(() => "TX_BLOCK_SLOW_WORK_EXHAUSTED");
      assert.deepEqual(codes, ["TX_SLOW_WORK_EXCEEDED", ...waiting]);
      assert.ok((user + system) / 1e6 < 10, `${(user + system) / 1e6} s`);
    });
  }

  it("take what fits of the slowest precompile and fill the block with hashes", () => {
    const { included, dropped, block } = new AttackChain(MIXED_PROGRAM.code, 10).attack(FULL_BLOCK);
    assert.deepEqual(dropped, []);
    assert.equal(included.length, FULL_BLOCK.length);
    assert.ok((block?.block.header.gasUsed ?? 0n) > 55_000_000n, "the block is nearly full");
  });

  it("are bounded for 24 KiB of each opcode", () => {
    const start = process.cpuUsage();
    for (let opcode = 0; opcode < 256; opcode++) {
      const chain = new AttackChain(new Uint8Array(24_576).fill(opcode), 10);
      const { included } = chain.attack([500_000n]);
      assert.equal(included.length, 1, `opcode ${opcode.toString(16)}`);
    }
    const { user, system } = process.cpuUsage(start);
    assert.ok((user + system) / 1e6 < 30, `${(user + system) / 1e6} s`);
  });

  it("cannot make modexp work on lengths that no gas pays for", () => {
    const modexp = precompilesOf("prague").get(5n) ?? assert.fail("no modexp");
    const input = new Uint8Array(96).fill(0xff);
    assert.ok(modexp.gasCost(input) > 1e15);
    input.fill(0, 0, 96);
    input[28] = 1; // a base of 16 MiB
    input[95] = 1;
    assert.ok(modexp.gasCost(input) > 60_000_000);
  });
});
