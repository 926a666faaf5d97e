import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addressToHex } from "../../../../src/chain/address.ts";
import {
  type AccessOptions,
  AccessRules,
  DEFAULT_ACCESS_OPTIONS,
  toRpcError,
} from "../../../../src/rpc/auth/access-rules.ts";
import type { Identity } from "../../../../src/rpc/auth/identity.ts";
import { accountTarget } from "../../../../src/rpc/auth/access-class.ts";

const READER = 0xaaaan;
const STRANGER = 0xbbbbn;
const TARGET = `0x${"7a".repeat(20)}`;
const DELEGATED = `0x${"7c".repeat(20)}`;
const BLOCK = `0x${"b1".repeat(32)}` as const;
const OTHER = `0x${"7b".repeat(20)}`;

function identity(account: bigint | undefined, ...roles: readonly string[]): Identity {
  return { subject: "x", account, roles };
}

/** READER may read everywhere, STRANGER at TARGET and at an account with delegated code. */
function rules(options: Partial<AccessOptions>): AccessRules {
  return new AccessRules(
    { ...DEFAULT_ACCESS_OPTIONS, ...options },
    {
      mayRead: (account, target) =>
        account === READER ||
        (account === STRANGER && [TARGET, DELEGATED].includes(addressToHex(target))),
      calledCode: (target) => ({ blockHash: BLOCK, isDelegated: target === BigInt(DELEGATED) }),
    },
  );
}

async function outcome(
  access: AccessRules,
  caller: Identity | undefined,
  method: string,
  ...params: readonly unknown[]
): Promise<string> {
  const checked = await access.check(caller, method, params);
  return checked.ok ? "allowed" : checked.error.code;
}

describe("access without any setting", () => {
  it("is open to everyone and says so", async () => {
    const access = rules({});
    assert.ok(access.isOpen);
    assert.equal(await outcome(access, undefined, "eth_blockNumber"), "allowed");
    assert.ok(!rules({ isReadPermissioned: true }).isOpen);
    assert.ok(!rules({ isIdentityRequired: true }).isOpen);
    assert.ok(!rules({ methods: ["eth_*"] }).isOpen);
  });
});

describe("read permission", () => {
  const access = rules({
    isReadPermissioned: true,
    roles: new Map([
      ["auditor", { methods: ["*"], mayRead: true }],
      ["app", { methods: ["*"], mayRead: false }],
    ]),
  });

  it("asks everyone for an identity and the identity for READ", async () => {
    assert.equal(await outcome(access, undefined, "eth_blockNumber"), "AUTH_MISSING");
    assert.equal(await outcome(access, identity(READER), "eth_blockNumber"), "allowed");
    assert.equal(await outcome(access, identity(STRANGER), "eth_blockNumber"), "AUTH_READ_DENIED");
    assert.equal(await outcome(access, identity(undefined), "eth_call"), "AUTH_READ_DENIED");
  });

  it("knows what a request is about", async () => {
    const stranger = identity(STRANGER);
    const cases: readonly [string, readonly unknown[], string][] = [
      ["eth_getBalance", [TARGET, "latest"], "allowed"],
      ["eth_getBalance", [OTHER, "latest"], "AUTH_READ_DENIED"],
      ["eth_call", [{ to: TARGET }, "latest"], "allowed"],
      ["eth_call", [{ to: OTHER }, "latest"], "AUTH_READ_DENIED"],
      ["eth_call", [{ data: "0x" }], "AUTH_READ_DENIED"],
      ["eth_call", [{ to: TARGET }, "latest", {}], "AUTH_READ_DENIED"],
      ["eth_call", [{ to: TARGET, authorizationList: [] }], "AUTH_READ_DENIED"],
      ["eth_call", [TARGET], "AUTH_READ_DENIED"],
      ["eth_getBalance", [DELEGATED, "latest"], "allowed"],
      ["eth_call", [{ to: DELEGATED }, "latest"], "AUTH_READ_DENIED"],
      ["eth_getProof", [TARGET, [], "latest"], "AUTH_READ_DENIED"],
      ["eth_createAccessList", [{ to: TARGET }, "latest"], "AUTH_READ_DENIED"],
      ["eth_getLogs", [{ address: TARGET }], "AUTH_READ_DENIED"],
      ["debug_traceCall", [{ to: TARGET }, "latest"], "AUTH_READ_DENIED"],
    ];
    for (const [method, params, expected] of cases) {
      const what = `${method} ${JSON.stringify(params)}`;
      assert.equal(await outcome(access, stranger, method, ...params), expected, what);
    }
    assert.equal(accountTarget([]), 0n);
    assert.equal(accountTarget([7]), 0n);
  });

  it("lets writes through, which need a right of their signer, and what wallets ask first", async () => {
    for (const method of ["eth_sendRawTransaction", "eth_chainId"]) {
      assert.equal(await outcome(access, undefined, method, "0x"), "allowed", method);
    }
    const sync = "eth_sendRawTransactionSync";
    assert.equal(await outcome(access, undefined, sync, "0x"), "AUTH_MISSING", "it has a receipt");
    assert.equal(await outcome(access, identity(STRANGER), sync, "0x"), "AUTH_READ_DENIED");
    assert.equal(await outcome(access, identity(READER), sync, "0x"), "allowed");
  });

  it("lets a caller with READ at one target speak only as itself", async () => {
    for (const method of ["eth_call", "eth_estimateGas"]) {
      const as = (account: bigint, from: unknown): Promise<string> =>
        outcome(access, identity(account), method, { to: TARGET, from }, "latest");
      assert.equal(await as(STRANGER, addressToHex(STRANGER)), "allowed", method);
      assert.equal(await as(STRANGER, undefined), "allowed", method);
      assert.equal(await as(STRANGER, addressToHex(READER)), "AUTH_FROM_DENIED", method);
      assert.equal(await as(STRANGER, 7), "AUTH_FROM_DENIED", method);
      assert.equal(await as(READER, addressToHex(STRANGER)), "allowed", method);
    }
  });

  it("holds the call of such a caller to the block whose code was looked at", async () => {
    const call = { to: TARGET };
    const params = [call, "latest"];
    const narrow = await access.check(identity(STRANGER), "eth_call", params);
    assert.deepEqual(narrow.ok && narrow.value, [call, { blockHash: BLOCK }]);
    const wide = await access.check(identity(READER), "eth_call", params);
    assert.deepEqual(wide.ok && wide.value, params);
  });

  it("takes the operator's word for a role", async () => {
    assert.equal(await outcome(access, identity(undefined, "auditor"), "eth_getLogs"), "allowed");
    assert.equal(
      await outcome(access, identity(undefined, "app"), "eth_getLogs"),
      "AUTH_READ_DENIED",
    );
  });
});

describe("roles", () => {
  const access = rules({
    methods: ["eth_blockNumber"],
    roles: new Map([
      ["reader", { methods: ["eth_get*", "net_version"], mayRead: false }],
      ["tracer", { methods: ["debug_*"], mayRead: false }],
    ]),
  });

  it("allow the methods of any of them, and no others", async () => {
    const both = identity(undefined, "reader", "tracer");
    assert.equal(await outcome(access, both, "eth_getLogs"), "allowed");
    assert.equal(await outcome(access, both, "debug_traceCall"), "allowed");
    assert.equal(await outcome(access, both, "eth_call"), "AUTH_METHOD_DENIED");
    assert.equal(await outcome(access, both, "net_versionX"), "AUTH_METHOD_DENIED");
  });

  it("leave callers without one to the general list, and give nothing when not configured", async () => {
    assert.equal(await outcome(access, undefined, "eth_blockNumber"), "allowed");
    assert.equal(await outcome(access, identity(READER), "eth_blockNumber"), "allowed");
    assert.equal(await outcome(access, identity(READER), "eth_getLogs"), "AUTH_METHOD_DENIED");
    const unknown = identity(READER, "admin");
    assert.equal(await outcome(access, unknown, "eth_blockNumber"), "AUTH_METHOD_DENIED");
  });

  it("need an identity where one is required", async () => {
    const strict = rules({ isIdentityRequired: true });
    assert.equal(await outcome(strict, undefined, "eth_sendRawTransaction"), "AUTH_MISSING");
    assert.equal(await outcome(strict, identity(undefined), "eth_sendRawTransaction"), "allowed");
  });
});

describe("what a caller gets to hear", () => {
  it("is that the request is not signed, or that permission is denied", () => {
    const unsigned = toRpcError({ code: "AUTH_MISSING" });
    assert.deepEqual([unsigned.code, unsigned.message], [-32602, "Request not signed"]);
    const denied = toRpcError({ code: "AUTH_READ_DENIED" });
    assert.deepEqual([denied.code, denied.message], [-32060, "Permission denied"]);
    assert.deepEqual(toRpcError({ code: "AUTH_TOKEN_EXPIRED" }).data, {
      code: "AUTH_TOKEN_EXPIRED",
    });
  });
});
