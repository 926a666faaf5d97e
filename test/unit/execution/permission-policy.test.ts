/** Write permission in execution: what every replica lets through and what it drops. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { addressToHex } from "../../../src/chain/address.ts";
import {
  ADMIN,
  ANYONE,
  DEPLOY,
  isPermitted,
  PERMISSION_ADDRESS,
  READ,
  WRITE,
} from "../../../src/chain/permissions.ts";
import {
  signAuthorization,
  type RecoveredTransaction,
} from "../../../src/chain/transaction-sender.ts";
import { isRetryable } from "../../../src/execution/drop-reason.ts";
import { permissionPolicyOf } from "../../../src/execution/permission-policy.ts";
import {
  ALICE,
  ALICE_KEY,
  ask,
  BOB,
  BOB_KEY,
  CAROL,
  CAROL_KEY,
  change,
  openPermissionedChain,
} from "./permissioned-chain.ts";
import { CHAIN_ID, GENESIS, KEYS, recovered, type TestChain, transactionOf } from "./test-chain.ts";

const TARGET = 0x7a46e7n;
const OTHER = 0x07e4n;
const DENIED = "TX_PERMISSION_DENIED";
/** Returns empty code: a contract without code is made. */
const CREATION = Uint8Array.of(0x5f, 0x5f, 0xf3);

/** For each transaction, in order: its status, or why it was dropped. */
function outcomes(chain: TestChain, ...transactions: RecoveredTransaction[]): string[] {
  const { included, dropped } = chain.execute(...transactions);
  return transactions.map((transaction) => {
    const drop = dropped.find((entry) => entry.transaction === transaction);
    const kept = included.find((entry) => entry.transaction === transaction);
    return drop?.reason.code ?? kept?.execution.status ?? "lost";
  });
}

function create(keyIndex: number, nonce: bigint): RecoveredTransaction {
  return transactionOf(keyIndex, { to: undefined, nonce, data: CREATION });
}

/** A transaction of type 4 to TARGET with one authorization of each of the keys. */
function delegating(
  keyIndex: number,
  nonce: bigint,
  authorities: readonly { key: number; nonce?: bigint; chainId?: bigint }[],
): RecoveredTransaction {
  const authorizationList = authorities.map(
    ({ key, nonce: accountNonce = 0n, chainId = CHAIN_ID }) =>
      signAuthorization({ chainId, address: OTHER, nonce: accountNonce }, KEYS[key]!),
  );
  return recovered(
    {
      type: 4,
      chainId: CHAIN_ID,
      nonce,
      gasLimit: 200_000n,
      to: TARGET,
      value: 0n,
      data: new Uint8Array(0),
      maxFeePerGas: 0n,
      maxPriorityFeePerGas: 0n,
      accessList: [],
      authorizationList,
    },
    keyIndex,
  );
}

describe("a network with write permissioning", () => {
  it("lets admins write and deploy, and drops everyone else for good", () => {
    const chain = openPermissionedChain();
    assert.deepEqual(
      outcomes(
        chain,
        transactionOf(ALICE_KEY, { nonce: 0n, to: TARGET }),
        create(ALICE_KEY, 1n),
        transactionOf(BOB_KEY, { to: TARGET }),
        create(BOB_KEY, 0n),
      ),
      ["success", "success", DENIED, DENIED],
    );
    assert.equal(isRetryable(DENIED), false);
    assert.equal(chain.database.account(BOB), undefined, "a dropped one leaves no trace");
  });

  it("holds a grant from the next transaction in order, not before", () => {
    assert.deepEqual(
      outcomes(
        openPermissionedChain(),
        transactionOf(BOB_KEY, { to: TARGET, value: 0n }),
        change(ALICE_KEY, 0n, "grantPermissions", [BOB, ANYONE, WRITE]),
        transactionOf(BOB_KEY, { to: TARGET, nonce: 0n, gasLimit: 50_000n }),
      ),
      [DENIED, "success", "success"],
    );
  });

  it("holds a revocation from the next transaction in order", () => {
    const chain = openPermissionedChain();
    chain.execute(change(ALICE_KEY, 0n, "grantPermissions", [BOB, ANYONE, WRITE]));
    assert.deepEqual(
      outcomes(
        chain,
        transactionOf(BOB_KEY, { to: TARGET, nonce: 0n }),
        change(ALICE_KEY, 1n, "revokePermissions", [BOB, ANYONE, WRITE]),
        transactionOf(BOB_KEY, { to: TARGET, nonce: 1n }),
      ),
      ["success", "success", DENIED],
    );
  });

  it("holds no grant of a change that reverted", () => {
    const chain = openPermissionedChain();
    chain.execute(change(ALICE_KEY, 0n, "grantPermissions", [BOB, ANYONE, WRITE]));
    assert.deepEqual(
      outcomes(
        chain,
        change(BOB_KEY, 0n, "grantPermissions", [CAROL, ANYONE, WRITE]),
        transactionOf(CAROL_KEY, { to: TARGET }),
      ),
      ["revert", DENIED],
    );
  });

  it("tells deploying from writing", () => {
    const chain = openPermissionedChain();
    chain.execute(
      change(ALICE_KEY, 0n, "updatePermissions", [BOB, ANYONE, WRITE]),
      change(ALICE_KEY, 1n, "updatePermissions", [CAROL, ANYONE, DEPLOY]),
    );
    assert.deepEqual(
      outcomes(
        chain,
        create(BOB_KEY, 0n),
        transactionOf(BOB_KEY, { nonce: 0n, to: TARGET }),
        create(CAROL_KEY, 0n),
        transactionOf(CAROL_KEY, { nonce: 1n, to: TARGET }),
      ),
      [DENIED, "success", "success", DENIED],
    );
  });

  it("takes READ for nothing else", () => {
    const chain = openPermissionedChain();
    chain.execute(change(ALICE_KEY, 0n, "updatePermissions", [BOB, ANYONE, READ]));
    const transactions = [transactionOf(BOB_KEY, { to: TARGET }), create(BOB_KEY, 0n)];
    assert.deepEqual(outcomes(chain, ...transactions), [DENIED, DENIED]);
  });

  it("knows rights of a pair, of a target and of everyone", () => {
    const chain = openPermissionedChain();
    const send = (key: number, to: bigint): string => {
      const nonce = chain.database.account(key === BOB_KEY ? BOB : CAROL)?.nonce ?? 0n;
      return outcomes(chain, transactionOf(key, { to, nonce }))[0]!;
    };
    const set = (nonce: bigint, from: bigint, to: bigint, action: number): unknown =>
      chain.execute(change(ALICE_KEY, nonce, "updatePermissions", [from, to, action]));
    set(0n, BOB, TARGET, WRITE);
    assert.equal(send(BOB_KEY, TARGET), "success");
    assert.equal(send(BOB_KEY, OTHER), DENIED);
    assert.equal(send(CAROL_KEY, TARGET), DENIED);
    set(1n, ANYONE, OTHER, WRITE);
    assert.equal(send(BOB_KEY, OTHER), "success");
    assert.equal(send(CAROL_KEY, OTHER), "success");
    assert.equal(send(CAROL_KEY, TARGET), DENIED);
    assert.equal(send(CAROL_KEY, 0n), DENIED, "the zero address is a target like any other");
    set(2n, ANYONE, ANYONE, WRITE);
    assert.equal(send(CAROL_KEY, TARGET), "success");
  });

  it("asks WRITE at any target of every account that an EIP-7702 transaction delegates", () => {
    const chain = openPermissionedChain();
    const delegate = (...keys: { key: number; nonce?: bigint; chainId?: bigint }[]): string => {
      const nonce = chain.database.account(ALICE)?.nonce ?? 0n;
      return outcomes(chain, delegating(ALICE_KEY, nonce, keys))[0]!;
    };
    const set = (from: bigint, to: bigint, action: number): unknown => {
      const nonce = chain.database.account(ALICE)?.nonce ?? 0n;
      return chain.execute(change(ALICE_KEY, nonce, "updatePermissions", [from, to, action]));
    };
    assert.equal(delegate({ key: BOB_KEY }), DENIED);
    assert.equal(delegate({ key: BOB_KEY, nonce: 7n }), DENIED, "even one that would be skipped");
    assert.equal(delegate({ key: BOB_KEY, chainId: 1n }), "success", "of another chain: skipped");
    set(BOB, TARGET, WRITE);
    assert.equal(delegate({ key: BOB_KEY }), DENIED, "its code could act anywhere");
    set(BOB, ANYONE, WRITE);
    assert.equal(delegate({ key: BOB_KEY }, { key: CAROL_KEY }), DENIED, "each of them is asked");
    assert.equal(chain.database.account(BOB), undefined);
    assert.equal(delegate({ key: BOB_KEY }), "success");
    assert.equal(chain.database.account(BOB)?.nonce, 1n);
  });

  it("asks the sender of an EIP-7702 transaction as well", () => {
    const chain = openPermissionedChain();
    const transaction = delegating(BOB_KEY, 0n, [{ key: ALICE_KEY }]);
    assert.deepEqual(outcomes(chain, transaction), [DENIED]);
  });

  it("gives every replica the same result", () => {
    const run = (): string => {
      const { resultHash } = openPermissionedChain().execute(
        transactionOf(BOB_KEY, {}),
        change(ALICE_KEY, 0n, "grantPermissions", [BOB, ANYONE, WRITE]),
        transactionOf(BOB_KEY, {}),
      );
      return Buffer.from(resultHash).toString("hex");
    };
    assert.equal(run(), run());
  });
});

describe("a network without write permissioning", () => {
  it("has no policy at all", () => {
    assert.equal(permissionPolicyOf(GENESIS), undefined);
    const readOnly = { ...GENESIS, isReadPermissioned: true };
    assert.equal(permissionPolicyOf(readOnly), undefined);
  });
});

describe("reading the storage of the permission contract", () => {
  const ADDRESSES = [ANYONE, ALICE, BOB, CAROL, TARGET, OTHER, PERMISSION_ADDRESS];
  const address = fc.constantFrom(...ADDRESSES);
  const entry = fc.record({
    method: fc.constantFrom("updatePermissions", "grantPermissions", "revokePermissions"),
    from: address,
    to: fc.oneof(fc.constant(ANYONE), address),
    action: fc.integer({ min: 0, max: 15 }),
  });

  it("says what checkUserAction says, after any changes, for every sender and target", () => {
    const property = fc.property(fc.array(entry, { maxLength: 12 }), (entries) => {
      const chain = openPermissionedChain();
      entries.forEach(({ method, from, to, action }) => {
        const nonce = chain.database.account(ALICE)?.nonce ?? 0n;
        chain.execute(change(ALICE_KEY, nonce, method, [from, to, action]));
      });
      const storage = (slot: bigint): bigint => chain.database.storage(PERMISSION_ADDRESS, slot);
      for (const from of ADDRESSES) {
        for (const to of ADDRESSES) {
          const names = [addressToHex(from), addressToHex(to)];
          const rights = Number(ask(chain, "effectivePermissions", ...names));
          for (const action of [0, READ, WRITE, DEPLOY, ADMIN, READ | WRITE, 15, 16, 255]) {
            const expected = action !== 0 && (action & ~rights) === 0;
            const what = `${names.join(" ")} ${action}`;
            assert.equal(isPermitted(storage, from, to, action), expected, what);
          }
          const one = ask(chain, "checkUserAction", ...names, WRITE);
          assert.equal(isPermitted(storage, from, to, WRITE), one, names.join(" "));
        }
      }
    });
    fc.assert(property, { numRuns: 20 });
  });
});
