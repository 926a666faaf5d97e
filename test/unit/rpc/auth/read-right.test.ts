import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ANYONE, READ, WRITE } from "../../../../src/chain/permissions.ts";
import { createReadRight } from "../../../../src/rpc/auth/read-right.ts";
import { MemoryChain } from "../../../support/memory-chain.ts";
import {
  ALICE,
  ALICE_KEY,
  BOB,
  CAROL,
  change,
  PERMISSIONED_GENESIS,
} from "../../execution/permissioned-chain.ts";

const TARGET = 0x7a46e7n;
const OTHER = 0x07e4n;

describe("the READ right of an account", () => {
  it("is what the contract says on the latest block", async () => {
    const chain = new MemoryChain(PERMISSIONED_GENESIS);
    const mayRead = createReadRight(chain);
    let nonce = 0n;
    const set = (from: bigint, to: bigint, rights: number): void => {
      const { encoded } = change(ALICE_KEY, nonce, "updatePermissions", [from, to, rights]);
      assert.ok(chain.submitRaw(encoded).ok);
      chain.seal();
      nonce += 1n;
    };
    const rights = (): Promise<boolean[]> =>
      Promise.all(
        [BOB, CAROL].flatMap((account) =>
          [ANYONE, TARGET, OTHER].map(async (target) => mayRead(account, target)),
        ),
      );
    assert.equal(await mayRead(ALICE, OTHER), true, "an admin reads everything");
    assert.deepEqual(await rights(), [false, false, false, false, false, false]);
    set(BOB, TARGET, READ);
    assert.deepEqual(await rights(), [false, true, false, false, false, false]);
    set(ANYONE, OTHER, READ | WRITE);
    assert.deepEqual(await rights(), [false, true, true, false, false, true]);
    set(BOB, ANYONE, READ);
    assert.deepEqual(await rights(), [true, true, true, false, false, true]);
    set(BOB, ANYONE, WRITE);
    assert.deepEqual(await rights(), [false, true, true, false, false, true]);
    set(ANYONE, ANYONE, READ);
    assert.deepEqual(await rights(), [true, true, true, true, true, true]);
  });
});
