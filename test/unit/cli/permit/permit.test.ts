/** `quorate permit` against a real ethrpc over a chain in memory. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { CodedError } from "../../../../src/base/coded-error.ts";
import { bytesToHex } from "../../../../src/base/hex.ts";
import type { Result } from "../../../../src/base/result.ts";
import { addressToChecksumHex, addressToHex } from "../../../../src/chain/address.ts";
import type { GenesisConfig } from "../../../../src/chain/genesis.ts";
import { parseArguments } from "../../../../src/cli/command.ts";
import { permit } from "../../../../src/cli/commands/permit.ts";
import { createSignedInCaller } from "../../../../src/cli/permit/signed-in-caller.ts";
import { createAuthenticator } from "../../../../src/rpc/auth/authenticator.ts";
import { answerSignIn, isSignInPath } from "../../../../src/rpc/auth/sign-in-endpoints.ts";
import { DEFAULT_SIGN_IN_OPTIONS, SignIn } from "../../../../src/rpc/auth/sign-in.ts";
import { signInIssuer } from "../../../../src/rpc/auth/token-issuer.ts";
import { createMethodTable } from "../../../../src/rpc/methods/method-table.ts";
import { DEFAULT_RPC_OPTIONS } from "../../../../src/rpc/rpc-options.ts";
import { RpcServer } from "../../../../src/rpc/server/rpc-server.ts";
import { MemoryChain } from "../../../support/memory-chain.ts";
import { ALICE, BOB, PERMISSIONED_GENESIS } from "../../execution/permissioned-chain.ts";
import { KEYS } from "../../execution/test-chain.ts";

const TARGET = `0x${"7a".repeat(20)}`;
const [ALICE_KEY = new Uint8Array(32), BOB_KEY = new Uint8Array(32)] = KEYS;
const directory = mkdtempSync(path.join(tmpdir(), "quorate-permit-"));
const keyFile = path.join(directory, "admin.key");

/** Each transaction is final at once. */
class SealingChain extends MemoryChain {
  override submitRaw(encoded: Uint8Array): Result<Uint8Array, { readonly code: string }> {
    const submitted = super.submitRaw(encoded);
    if (submitted.ok) this.seal();
    return submitted;
  }
}

let server: RpcServer;

async function open(genesis: GenesisConfig): Promise<RpcServer> {
  const chain = new SealingChain(genesis);
  const methods = createMethodTable(chain, chain);
  return RpcServer.open({ ...DEFAULT_RPC_OPTIONS, port: 0 }, { methods });
}

before(() => writeFileSync(keyFile, `${bytesToHex(ALICE_KEY)}\n`));
beforeEach(async () => {
  server = await open(PERMISSIONED_GENESIS);
});
afterEach(() => server.close());
after(() => rmSync(directory, { recursive: true, force: true }));

/** The lines that the command prints, or the code of its error. */
async function run(
  args: readonly string[],
  environment: Record<string, string> = { QUORATE_ADMIN_KEY: bytesToHex(ALICE_KEY) },
): Promise<string> {
  const lines: string[] = [];
  const terminal = {
    isInteractive: false,
    hasColour: false,
    result: (line: string) => void lines.push(line),
    note: () => undefined,
  };
  const url = `http://127.0.0.1:${server.port}`;
  try {
    const given = parseArguments(permit, ["--data", directory, "--url", url, ...args]);
    assert.equal(await permit.run(given, { terminal, environment }), 0);
  } catch (error) {
    if (error instanceof CodedError) return error.code;
    throw error;
  }
  return lines.join("\n");
}

describe("quorate permit", () => {
  const alice = addressToChecksumHex(ALICE);
  const bob = addressToChecksumHex(BOB);

  it("grants, lists and revokes", async () => {
    assert.equal(
      await run(["grant", bob, "write", "--at", TARGET]),
      `${bob} at ${checksum(TARGET)}: nothing -> write`,
    );
    assert.equal(
      await run(["grant", bob, "read,write", "--at", TARGET]),
      `${bob} at ${checksum(TARGET)}: write -> read,write`,
    );
    assert.equal(await run(["grant", "any", "read"]), "any at any: nothing -> read");
    const listed = JSON.parse(await run(["list", "--json"], {})) as unknown;
    assert.deepEqual(listed, [
      { account: alice, at: "any", actions: "read,write,deploy,admin" },
      { account: bob, at: checksum(TARGET), actions: "read,write" },
      { account: "any", at: "any", actions: "read" },
    ]);
    assert.equal(
      await run(["revoke", bob, "all", "--at", TARGET]),
      `${bob} at ${checksum(TARGET)}: read,write -> nothing`,
    );
    assert.equal(
      await run(["revoke", bob, "all", "--at", TARGET]),
      `nothing changed for ${bob} at ${checksum(TARGET)}`,
    );
    const lines = (await run(["list"], {})).split("\n");
    assert.match(lines[0] ?? "", /^ACCOUNT +AT +MAY$/);
    assert.equal(lines.length, 3);
  });

  it("takes the key from a file", async () => {
    assert.equal(
      await run(["grant", "any", "read", "--key", keyFile], {}),
      "any at any: nothing -> read",
    );
    writeFileSync(path.join(directory, "bad.key"), "hello");
    assert.equal(
      await run(["grant", "any", "read", "--key", path.join(directory, "bad.key")], {}),
      "KEY_UNREADABLE",
    );
  });

  it("says why a change cannot be", async () => {
    assert.equal(await run(["grant", bob, "write"], {}), "PERMIT_KEY_MISSING");
    const asBob = { QUORATE_ADMIN_KEY: bytesToHex(BOB_KEY) };
    assert.equal(await run(["grant", bob, "write"], asBob), "PERMIT_NOT_ADMIN");
    assert.equal(await run(["revoke", alice, "admin"]), "PERMIT_LAST_ADMIN");
    assert.equal(await run(["grant", bob, "deploy", "--at", TARGET]), "PERMIT_NOT_GRANTABLE");
    for (const args of [
      [],
      ["give"],
      ["list", "x"],
      ["grant", "bob", "read"],
      ["grant", bob, "x"],
      ["grant", bob],
    ]) {
      assert.equal(await run(args), "USAGE_WRONG", args.join(" "));
    }
    assert.equal(await run(["grant", bob, "read", "--at", "x"]), "USAGE_WRONG");
    await server.close();
    assert.equal(await run(["list"]), "NETWORK_UNREACHABLE");
  });

  it("lists more than a page, as one block has them", async () => {
    await server.close();
    const alloc = Array.from({ length: 401 }, (_, index) => ({
      address: BigInt(index + 1),
      balance: 1n,
    }));
    server = await open({ ...PERMISSIONED_GENESIS, alloc });
    const listed = JSON.parse(await run(["list", "--json"], {})) as { account: string }[];
    assert.equal(new Set(listed.map(({ account }) => account)).size, 401);
  });
});

describe("a caller with a key", () => {
  it("signs in when the network asks for it, once", async () => {
    const signIn = new SignIn({ ...DEFAULT_SIGN_IN_OPTIONS, chainId: 5000n });
    const authenticator = createAuthenticator({ certificates: [] }, [signInIssuer(signIn)]);
    let signIns = 0;
    const guarded = await listen(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method = "", url = "", headers } = request;
      if (isSignInPath(url)) {
        signIns += method === "POST" ? 1 : 0;
        const { host, origin } = headers;
        const body = Buffer.concat(chunks);
        const answer = await answerSignIn(signIn, { method, url, host, origin, body }, Date.now());
        response.writeHead(answer.status, answer.headers).end(JSON.stringify(answer.body));
        return;
      }
      const { authorization } = headers;
      if (Buffer.concat(chunks).includes('"eth_chainId"')) {
        response.end(JSON.stringify({ id: 1, jsonrpc: "2.0", result: "0x1388" }));
        return;
      }
      const identity = await authenticator.identify({ authorization, certificate: undefined });
      const account = identity.ok ? identity.value?.account : undefined;
      const error = { code: -32602, message: "Request not signed" };
      const answer = account === undefined ? { error } : { result: addressToHex(account) };
      response.end(JSON.stringify({ id: 1, jsonrpc: "2.0", ...answer }));
    });
    try {
      const url = `http://127.0.0.1:${(guarded.address() as AddressInfo).port}`;
      const call = createSignedInCaller(url, ALICE_KEY);
      assert.equal(await call("eth_blockNumber", []), addressToHex(ALICE));
      assert.equal(await call("eth_blockNumber", []), addressToHex(ALICE));
      assert.equal(signIns, 1);
      const bare = createSignedInCaller(url, undefined);
      await assert.rejects(bare("eth_blockNumber", []), { code: "NETWORK_CALL_FAILED" });
    } finally {
      guarded.close();
      guarded.closeAllConnections();
    }
  });

  it("signs no text of the node: its own names the node as the user did", async () => {
    const other = new SignIn({
      ...DEFAULT_SIGN_IN_OPTIONS,
      domains: ["bank.example"],
      chainId: 5000n,
    });
    const passedOn = other.createMessage(ALICE, "bank.example", Date.now());
    const nonce = other.createNonce(Date.now());
    let challenge: object = { message: passedOn, nonce };
    const signed: { readonly message: string; readonly signature: string }[] = [];
    const hostile = await listen(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      const { url = "" } = request;
      if (url.startsWith("/auth/challenge")) response.end(JSON.stringify(challenge));
      else if (url.startsWith("/auth/token")) {
        signed.push(JSON.parse(body) as { message: string; signature: string });
        response.end(JSON.stringify({ token: "t" }));
      } else if (body.includes('"eth_chainId"')) {
        response.end(JSON.stringify({ id: 1, jsonrpc: "2.0", result: "0x1388" }));
      } else {
        const error = { code: -32602, message: "Request not signed" };
        response.end(JSON.stringify({ id: 1, jsonrpc: "2.0", error }));
      }
    });
    try {
      const host = `127.0.0.1:${(hostile.address() as AddressInfo).port}`;
      const ask = (): Promise<unknown> =>
        createSignedInCaller(`http://${host}`, ALICE_KEY)("eth_blockNumber", []);
      await assert.rejects(ask(), { code: "NETWORK_CALL_FAILED" });
      const [{ message, signature } = { message: "", signature: "" }] = signed;
      assert.ok(message.startsWith(`${host} wants you to sign in`), message);
      const redeemed = await other.redeem(message, signature, Date.now());
      assert.deepEqual(redeemed.ok ? "a token" : redeemed.error.code, "SIWE_DOMAIN_WRONG");
      for (const bad of [`${nonce}\nResources:`, "short", 7, undefined]) {
        challenge = { message: passedOn, nonce: bad };
        await assert.rejects(ask(), { code: "SIGN_IN_FAILED" }, String(bad));
      }
      assert.equal(signed.length, 1, "nothing more was signed");
    } finally {
      hostile.close();
      hostile.closeAllConnections();
    }
  });
});

function checksum(address: string): string {
  return addressToChecksumHex(BigInt(address));
}

async function listen(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Server> {
  const guarded = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => guarded.listen(0, "127.0.0.1", () => resolve()));
  return guarded;
}
