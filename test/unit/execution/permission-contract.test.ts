/** The permission contract itself, run by real transactions. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import type { Result } from "ethers";
import { compilePermissions, renderPermissions } from "../../../contracts/compile.ts";
import { bytesToHex } from "../../../src/base/hex.ts";
import { addressToChecksumHex, addressToHex } from "../../../src/chain/address.ts";
import {
  ADMIN,
  ALL_ACTIONS,
  ANYONE,
  DEPLOY,
  genesisPermissions,
  PERMISSION_ADDRESS,
  READ,
  WRITE,
} from "../../../src/chain/permissions.ts";
import type { IncludedTransaction } from "../../../src/execution/execute-batch.ts";
import {
  ALICE,
  ALICE_KEY,
  ask,
  BOB,
  BOB_KEY,
  CAROL,
  type Change,
  change,
  errorName,
  openPermissionedChain,
  parseLog,
} from "./permissioned-chain.ts";
import { ADDRESSES, GENESIS, TestChain } from "./test-chain.ts";

const ROOT = path.join(import.meta.dirname, "../../..");
const TARGET = 0x7a46e7n;

/** Executes one change by Alice, or by another, and tells how it ended. */
class Session {
  readonly chain = openPermissionedChain();
  readonly #nonces = new Map<number, bigint>();

  run(method: Change, from: bigint, to: bigint, action: number, key = ALICE_KEY): string {
    const { execution } = this.include(method, from, to, action, key);
    return execution.status === "success" ? "done" : errorName(bytesToHex(execution.output));
  }

  include(
    method: Change,
    from: bigint,
    to: bigint,
    action: number,
    key = ALICE_KEY,
  ): IncludedTransaction {
    const nonce = this.#nonces.get(key) ?? 0n;
    const { included, dropped } = this.chain.execute(
      change(key, nonce, method, [from, to, action]),
    );
    assert.deepEqual(dropped, []);
    this.#nonces.set(key, nonce + 1n);
    return included[0]!;
  }

  rights(from: bigint, to: bigint): number {
    return Number(ask(this.chain, "permissionsOf", addressToHex(from), addressToHex(to)));
  }

  may(from: bigint, to: bigint, action: number): boolean {
    const [sender, target] = [addressToHex(from), addressToHex(to)];
    return ask(this.chain, "checkUserAction", sender, target, action) as boolean;
  }

  listed(offset = 0, limit = 1000): string[] {
    const list = ask(this.chain, "listPermissions", offset, limit) as Result[];
    return list.map(([from, to, rights]) => `${String(from)} ${String(to)} ${String(rights)}`);
  }
}

describe("the build of the permission contract", () => {
  it("gives the files that are checked in, byte for byte", () => {
    const compiled = compilePermissions();
    assert.match(compiled.compiler, /^0\.8\.30\+/);
    for (const file of renderPermissions(compiled)) {
      const text = readFileSync(path.join(ROOT, file.path), "utf8");
      assert.equal(text, file.text, `${file.path} is stale: npm run contracts`);
    }
    assert.deepEqual(compiled.storage, { adminCount: 0, _entries: 1, _listed: 2 });
  });
});

describe("the permission contract at genesis", () => {
  it("has the accounts of alloc as its admins, in their order", () => {
    const chain = new TestChain();
    assert.equal(ask(chain, "adminCount"), 3n);
    assert.equal(ask(chain, "permissionCount"), 3n);
    const list = ask(chain, "listPermissions", 0, 10) as Result[];
    assert.deepEqual(
      list.map((entry): unknown => entry.toArray()),
      ADDRESSES.map((address) => [addressToChecksumHex(address), addressToHex(0n), 15n]),
    );
  });

  it("is there without an admin where alloc is empty", () => {
    const chain = new TestChain([], {}, undefined, { ...GENESIS, alloc: [] });
    assert.equal(ask(chain, "adminCount"), 0n);
    assert.deepEqual(genesisPermissions([]), []);
  });

  it("can lose and regain admins as if they had been granted by transactions", () => {
    const chain = new TestChain();
    const [, bob = 0n, carol = 0n] = ADDRESSES;
    const { included } = chain.execute(
      change(0, 0n, "revokePermissions", [bob, ANYONE, ALL_ACTIONS]),
      change(0, 1n, "updatePermissions", [carol, ANYONE, 0]),
      change(0, 2n, "updatePermissions", [bob, ANYONE, ADMIN]),
    );
    assert.ok(included.every(({ execution }) => execution.status === "success"));
    assert.equal(ask(chain, "adminCount"), 2n);
    const list = ask(chain, "listPermissions", 0, 10) as Result[];
    assert.deepEqual(
      list.map((entry): unknown => entry.toArray()),
      [
        [addressToChecksumHex(ADDRESSES[0]!), addressToHex(0n), 15n],
        [addressToChecksumHex(bob), addressToHex(0n), 8n],
      ],
    );
  });
});

describe("the permission contract", () => {
  it("sets, adds and takes rights of one entry", () => {
    const session = new Session();
    assert.equal(session.run("updatePermissions", BOB, TARGET, WRITE), "done");
    assert.equal(session.run("grantPermissions", BOB, TARGET, READ), "done");
    assert.equal(session.rights(BOB, TARGET), READ | WRITE);
    assert.equal(session.run("revokePermissions", BOB, TARGET, WRITE | DEPLOY), "done");
    assert.equal(session.rights(BOB, TARGET), READ);
    assert.equal(session.run("updatePermissions", BOB, TARGET, 0), "done");
    assert.equal(session.rights(BOB, TARGET), 0);
    assert.equal(session.rights(BOB, ANYONE), 0);
  });

  it("unites the entries of sender, target, pair and everyone", () => {
    const session = new Session();
    session.run("updatePermissions", BOB, ANYONE, READ);
    session.run("updatePermissions", ANYONE, TARGET, WRITE);
    assert.ok(session.may(BOB, TARGET, READ | WRITE), "one right from each of two entries");
    assert.ok(session.may(CAROL, TARGET, WRITE), "anyone's at this target");
    assert.ok(!session.may(CAROL, TARGET, READ | WRITE), "all actions that are asked for");
    assert.ok(!session.may(BOB, TARGET + 1n, WRITE));
    session.run("updatePermissions", BOB, TARGET + 1n, WRITE);
    assert.ok(session.may(BOB, TARGET + 1n, WRITE), "the pair's own");
    assert.ok(!session.may(CAROL, TARGET + 1n, WRITE));
    session.run("updatePermissions", ANYONE, ANYONE, DEPLOY);
    assert.ok(session.may(CAROL, ANYONE, DEPLOY), "everyone's anywhere");
  });

  it("lets an admin do everything everywhere, and rejects empty and unknown actions", () => {
    const session = new Session();
    session.run("updatePermissions", BOB, ANYONE, ADMIN);
    for (const action of [READ, WRITE, DEPLOY, ADMIN, ALL_ACTIONS]) {
      assert.ok(session.may(BOB, TARGET, action), `action ${action}`);
    }
    for (const action of [0, 16, 16 | READ, 255]) {
      assert.ok(!session.may(BOB, TARGET, action), `action ${action}`);
    }
  });

  it("tells of each change once, and of none where nothing changed", () => {
    const session = new Session();
    const { execution } = session.include("grantPermissions", BOB, TARGET, WRITE);
    assert.equal(execution.logs.length, 1);
    const [log] = execution.logs;
    assert.equal(log?.address, PERMISSION_ADDRESS);
    const parsed = parseLog(log);
    assert.equal(parsed?.name, "PermissionsUpdated");
    assert.deepEqual(parsed.args.toArray(), [
      ...[BOB, TARGET, ALICE].map((address) => addressToChecksumHex(address)),
      0n,
      BigInt(WRITE),
    ]);
    const again = session.include("grantPermissions", BOB, TARGET, WRITE);
    assert.equal(again.execution.status, "success");
    assert.deepEqual(again.execution.logs, []);
  });

  it("obeys admins only, new ones at once and former ones no more", () => {
    const session = new Session();
    session.run("updatePermissions", BOB, ANYONE, WRITE);
    for (const method of ["updatePermissions", "grantPermissions", "revokePermissions"] as const) {
      assert.equal(session.run(method, BOB, ANYONE, ALL_ACTIONS, BOB_KEY), "NotAdmin", method);
    }
    session.run("grantPermissions", BOB, ANYONE, ADMIN);
    assert.equal(session.run("grantPermissions", CAROL, ANYONE, READ, BOB_KEY), "done");
    session.run("revokePermissions", BOB, ANYONE, ADMIN);
    assert.equal(session.run("grantPermissions", CAROL, ANYONE, WRITE, BOB_KEY), "NotAdmin");
  });

  it("keeps its last admin", () => {
    const session = new Session();
    assert.equal(session.run("revokePermissions", ALICE, ANYONE, ADMIN), "LastAdmin");
    assert.equal(session.run("updatePermissions", ALICE, ANYONE, READ | WRITE), "LastAdmin");
    assert.equal(session.run("updatePermissions", ALICE, ANYONE, ADMIN), "done");
    session.run("grantPermissions", BOB, ANYONE, ADMIN);
    assert.equal(session.run("revokePermissions", ALICE, ANYONE, ADMIN), "done");
    assert.equal(session.run("revokePermissions", BOB, ANYONE, ADMIN, BOB_KEY), "LastAdmin");
    assert.equal(ask(session.chain, "adminCount"), 1n);
  });

  it("refuses rights that would mean nothing", () => {
    const session = new Session();
    const refused: [bigint, bigint, number][] = [
      [BOB, TARGET, DEPLOY],
      [BOB, TARGET, ADMIN],
      [ANYONE, TARGET, DEPLOY],
      [ANYONE, TARGET, ADMIN],
      [ANYONE, ANYONE, ADMIN],
      [BOB, ANYONE, 16],
      [BOB, ANYONE, 255],
    ];
    for (const [from, to, action] of refused) {
      for (const method of ["updatePermissions", "grantPermissions"] as const) {
        const outcome = session.run(method, from, to, action);
        assert.equal(outcome, "ActionNotGrantable", `${method} ${from} ${to} ${action}`);
      }
    }
    assert.equal(session.listed().length, 1);
  });

  it("lists what holds a right, page by page", () => {
    const session = new Session();
    const targets = [1n, 2n, 3n, 4n, 5n].map((index) => TARGET + index);
    for (const target of targets) session.run("updatePermissions", BOB, target, WRITE);
    session.run("updatePermissions", BOB, targets[1]!, 0);
    const line = (from: bigint, to: bigint, rights: number): string =>
      `${addressToChecksumHex(from)} ${addressToChecksumHex(to)} ${rights}`;
    const expected = [
      line(ALICE, ANYONE, 15),
      line(BOB, targets[0]!, WRITE),
      line(BOB, targets[4]!, WRITE),
      line(BOB, targets[2]!, WRITE),
      line(BOB, targets[3]!, WRITE),
    ];
    assert.deepEqual(session.listed(), expected);
    assert.deepEqual([...session.listed(0, 2), ...session.listed(2, 2)], expected.slice(0, 4));
    assert.deepEqual(session.listed(4, 100), expected.slice(4));
    assert.deepEqual(session.listed(5, 1), []);
    assert.deepEqual(session.listed(6, 1), []);
  });
});
