/** A network with both permission switches on, as its users meet it (SPEC A1-A4). */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { SignJWT } from "jose";
import { createPublicClient, http, type Hex, type PrivateKeyAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { WebSocket } from "ws";
import { createTlsIdentity } from "../../src/crypto/certificate.ts";
import {
  assertOneLine,
  runCommand,
  startNetwork,
  waitFor,
  type CommandResult,
  type RunningNetwork,
} from "../support/processes/network-process.ts";

type RpcAnswer = {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
};

/** Returns nothing, ever: PUSH0 PUSH0 RETURN. */
const CREATION_CODE = "0x5f5ff3";
const TARGET = "0x00000000000000000000000000000000000a11ce";
const OTHER_TARGET = "0x00000000000000000000000000000000000b0b0b";
const GAS = 200_000n;
const SECRET = "a secret of more than thirty-two bytes";

describe("a network with permissioned writes and reads", () => {
  let adminKeyFile: string;
  let network: RunningNetwork;
  let admin: PrivateKeyAccount;
  let adminToken: string;

  before(async () => {
    network = await startNetwork({ args: ["--permission-write", "--permission-read"] });
    assert.deepEqual(network.accounts, [], "no key that everyone knows has a right");
    adminKeyFile = path.join(network.dataPath, "keys", "admin.key");
    assert.equal(statSync(adminKeyFile).mode & 0o777, 0o600);
    admin = privateKeyToAccount(readFileSync(adminKeyFile, "utf8").trim() as Hex);
    adminToken = await signIn(admin);
  });

  after(async () => {
    await network.stop();
  });

  async function call(
    token: string | undefined,
    method: string,
    params: readonly unknown[] = [],
  ): Promise<RpcAnswer> {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(network.url, {
      method: "POST",
      headers: { "content-type": "application/json", ...authorization },
      body: JSON.stringify({ id: 1, jsonrpc: "2.0", method, params }),
    });
    return (await response.json()) as RpcAnswer;
  }

  /** As a page with a wallet does it: challenge, personal_sign, token. */
  async function signIn(account: PrivateKeyAccount): Promise<string> {
    const challenge = new URL(`/auth/challenge?address=${account.address}`, network.url);
    const { message } = (await (await fetch(challenge)).json()) as { message: string };
    return redeem(message, await account.signMessage({ message }));
  }

  async function redeem(message: string, signature: Hex): Promise<string> {
    const response = await fetch(new URL("/auth/token", network.url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ message, signature }),
    });
    const { token } = (await response.json()) as { token: string };
    assert.equal(typeof token, "string");
    return token;
  }

  /** The nonce is the first by default: none of a refused transaction is used up. */
  async function send(
    account: PrivateKeyAccount,
    more: { readonly to?: Hex; readonly data?: Hex; readonly nonce?: number },
  ): Promise<RpcAnswer> {
    const { nonce = 0, ...fields } = more;
    const signed = await account.signTransaction({
      ...fields,
      nonce,
      chainId: Number(network.chainId),
      gas: GAS,
      maxFeePerGas: 0n,
      maxPriorityFeePerGas: 0n,
    });
    const sent = await call(undefined, "eth_sendRawTransaction", [signed]);
    if (sent.error !== undefined) return sent;
    // The sender may not read its receipt: an admin does.
    return call(adminToken, "eth_sendRawTransactionSync", [signed]);
  }

  function permit(...args: readonly string[]): Promise<CommandResult> {
    const where = ["--url", network.url, "--key", adminKeyFile];
    return runCommand(["permit", ...args, ...where]);
  }

  async function change(...args: readonly string[]): Promise<void> {
    const { code, stderr } = await permit(...args);
    assert.equal(code, 0, stderr);
  }

  async function blockNumber(): Promise<bigint> {
    return BigInt(String((await call(adminToken, "eth_blockNumber")).result));
  }

  const newAccount = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey());

  it("refuses reads without an identity, and reads of who lacks READ", async () => {
    const stranger = await signIn(newAccount());
    for (const [method, params] of [
      ["eth_blockNumber", []],
      ["eth_getBalance", [TARGET, "latest"]],
      ["eth_getLogs", [{}]],
      ["quorate_status", []],
      ["eth_newBlockFilter", []],
    ] as const) {
      assertNotSigned(await call(undefined, method, params));
      assertDenied(await call(stranger, method, params));
      assert.ok("result" in (await call(adminToken, method, params)), method);
    }
    assertNotSigned(await call("no.such.token", "eth_blockNumber"));
    assertNotSigned(await call(undefined, "eth_sendRawTransactionSync", ["0x"]));
    assertDenied(await call(stranger, "eth_sendRawTransactionSync", ["0x"]));
    // What a wallet asks before it can sign in.
    assert.equal((await call(undefined, "eth_chainId")).result, "0x1388");
    // Each request of a batch by itself.
    const response = await fetch(network.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(
        ["eth_chainId", "eth_blockNumber"].map((method, id) => ({ id, jsonrpc: "2.0", method })),
      ),
    });
    const [open, closed] = (await response.json()) as [RpcAnswer, RpcAnswer];
    assert.equal(open.result, "0x1388");
    assertNotSigned(closed);
  });

  it("grants READ everywhere or at one account, and revokes it with the next block", async () => {
    const reader = newAccount();
    const token = await signIn(reader);
    const balance = (of: string): Promise<RpcAnswer> =>
      call(token, "eth_getBalance", [of, "latest"]);
    await change("grant", reader.address, "read", "--at", TARGET);
    assert.equal((await balance(TARGET)).result, "0x0");
    assertDenied(await balance(OTHER_TARGET));
    assertDenied(await call(token, "eth_blockNumber"));
    await change("grant", reader.address, "read");
    assert.equal((await balance(OTHER_TARGET)).result, "0x0");
    const viem = createPublicClient({
      transport: http(network.url, {
        fetchOptions: { headers: { authorization: `Bearer ${token}` } },
      }),
    });
    assert.ok((await viem.getBlockNumber()) > 0n, "a library with the token in its headers");
    await change("revoke", reader.address, "read");
    assertDenied(await call(token, "eth_blockNumber"));
    assert.equal((await balance(TARGET)).result, "0x0", "what is left is left");
  });

  it("signs in by a message that the page wrote (EIP-4361) and refuses it a second time", async () => {
    const challenge = new URL("/auth/challenge", network.url);
    const { nonce } = (await (await fetch(challenge)).json()) as { nonce: string };
    const message = createSiweMessage({
      address: admin.address,
      chainId: Number(network.chainId),
      domain: new URL(network.url).host,
      nonce,
      uri: network.url,
      version: "1",
      statement: "Read my network.",
    });
    const signature = await admin.signMessage({ message });
    const token = await redeem(message, signature);
    assert.ok("result" in (await call(token, "eth_blockNumber")));
    const again = await fetch(new URL("/auth/token", network.url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ message, signature }),
    });
    assert.equal(again.status, 401);
    assert.deepEqual(await again.json(), { error: { code: "SIWE_NONCE_USED" } });
    const page = { origin: "https://elsewhere.example" };
    const elsewhere = await fetch(challenge, { headers: page });
    assert.equal(elsewhere.headers.get("access-control-allow-origin"), null);
  });

  it("refuses unpermitted writes at once; grant and revoke hold from the next block", async () => {
    const writer = newAccount();
    assertDenied(await send(writer, { to: TARGET }), "TX_PERMISSION_DENIED");
    const before = await blockNumber();
    await change("grant", writer.address, "write", "--at", TARGET);
    const granted = await blockNumber();
    assert.ok(granted > before);
    const receipt = (await send(writer, { to: TARGET })).result as {
      readonly status: string;
      readonly blockNumber: string;
    };
    assert.equal(receipt.status, "0x1");
    assert.equal(BigInt(receipt.blockNumber), granted + 1n, "in the very next block");
    assertDenied(await send(writer, { to: OTHER_TARGET, nonce: 1 }), "TX_PERMISSION_DENIED");
    await change("revoke", writer.address, "write", "--at", TARGET);
    assertDenied(await send(writer, { to: TARGET, nonce: 1 }), "TX_PERMISSION_DENIED");
  });

  it("tells deploying from writing", async () => {
    const deployer = newAccount();
    const writer = newAccount();
    await change("grant", deployer.address, "deploy");
    await change("grant", writer.address, "write");
    assertDenied(await send(deployer, { to: TARGET }), "TX_PERMISSION_DENIED");
    assertDenied(await send(writer, { data: CREATION_CODE }), "TX_PERMISSION_DENIED");
    const deployed = (await send(deployer, { data: CREATION_CODE })).result as {
      readonly contractAddress: string;
    };
    assert.match(deployed.contractAddress, /^0x[0-9a-f]{40}$/);
    const written = (await send(writer, { to: TARGET })).result as { readonly status: string };
    assert.equal(written.status, "0x1");
  });

  it("closes the WebSocket of a subscriber who loses READ", async () => {
    const reader = newAccount();
    await change("grant", reader.address, "read");
    const token = await signIn(reader);
    const url = network.url.replace("http", "ws");
    const socket = new WebSocket(url, ["jsonrpc", `bearer.${token}`]);
    const heads: string[] = [];
    socket.on("message", (data: Buffer) => {
      const { method } = JSON.parse(data.toString()) as { method?: string };
      if (method === "eth_subscription") heads.push(data.toString());
    });
    await once(socket, "open");
    socket.send(
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] }),
    );
    await once(socket, "message");
    await change("grant", TARGET, "read");
    await waitFor(() => heads.length === 1, "the block is announced");
    const closed = once(socket, "close");
    await change("revoke", reader.address, "read");
    const [code, reason] = (await closed) as [number, Buffer];
    assert.equal(code, 1008);
    assert.equal(reason.toString(), "Permission denied");
    assert.equal(heads.length, 1, "not even of the block that took the right");
  });

  it("keeps a last admin", async () => {
    const { stdout } = await permit("list", "--json");
    const listed = JSON.parse(stdout) as readonly { account: string; actions: string }[];
    const admins = listed.filter(({ actions }) => actions.split(",").includes("admin"));
    assert.deepEqual(
      admins.map(({ account }) => account),
      [admin.address],
      "the account whose key was made with the network",
    );
    assertOneLine(
      await runCommand(["permit", "revoke", TARGET, "read", "--url", network.url], {
        QUORATE_ADMIN_KEY: generatePrivateKey(),
      }),
      "NETWORK_CALL_FAILED",
      /Permission denied/,
    );
    assertOneLine(
      await permit("revoke", admin.address, "admin"),
      "PERMIT_LAST_ADMIN",
      /last admin/,
    );
    assert.ok("result" in (await call(adminToken, "eth_blockNumber")), "it can go on");
  });
});

describe("the switches of a network", () => {
  it("are of its genesis: they cannot be asked for later", async () => {
    const directory = mkdtempSync(path.join(tmpdir(), "quorate-permissions-"));
    const network = await startNetwork({ dataPath: directory });
    try {
      assert.equal(typeof (await network.rpc("eth_blockNumber")), "string", "off by default");
      const challenge = await fetch(new URL("/auth/challenge", network.url));
      assert.equal(challenge.status, 404, "signing in is not needed");
    } finally {
      await network.stop();
    }
    for (const flag of ["--permission-write", "--permission-read"]) {
      assertOneLine(
        await runCommand(["up", "--data", directory, "--port", "0", flag]),
        "GENESIS_CHANGED",
        /cannot change/,
      );
    }
    rmSync(directory, { recursive: true, force: true });
  });
});

describe("ethrpc of a network with its own settings", () => {
  it("serves TLS and asks for tokens as config/client-0.json says", async () => {
    const directory = mkdtempSync(path.join(tmpdir(), "quorate-permissions-"));
    await (await startNetwork({ dataPath: directory })).stop();
    const { certificatePem, privateKeyPem } = createTlsIdentity(new Uint8Array(32), "localhost");
    writeFileSync(path.join(directory, "config", "server.pem"), certificatePem);
    writeFileSync(path.join(directory, "config", "server.key"), privateKeyPem);
    writeFileSync(path.join(directory, "config", "secret"), SECRET);
    const file = path.join(directory, "config", "client-0.json");
    const settings = JSON.parse(readFileSync(file, "utf8")) as object;
    const rpc = {
      batchLengthMax: 10,
      tls: { cert: "server.pem", key: "server.key" },
      auth: { required: true, issuer: "test", audience: ["here"], secretFile: "secret" },
    };
    writeFileSync(file, JSON.stringify({ ...settings, rpc }));
    const network = await startNetwork({ dataPath: directory });
    try {
      assert.match(network.url, /^https:/);
      const token = await new SignJWT({})
        .setProtectedHeader({ alg: "HS256" })
        .setIssuer("test")
        .setAudience("here")
        .setSubject("someone")
        .setExpirationTime("1h")
        .sign(new TextEncoder().encode(SECRET));
      const url = network.url.replace("https", "wss");
      const open = { headers: { authorization: `Bearer ${token}` }, ca: certificatePem };
      const ask = async (socket: WebSocket): Promise<RpcAnswer> => {
        await once(socket, "open");
        socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId" }));
        const [data] = (await once(socket, "message")) as [Buffer];
        socket.close();
        return JSON.parse(data.toString()) as RpcAnswer;
      };
      assert.equal((await ask(new WebSocket(url, open))).result, "0x1388");
      await assert.rejects(ask(new WebSocket(url, { ca: certificatePem })), /401/);
    } finally {
      await network.stop();
    }
    rmSync(directory, { recursive: true, force: true });
  });
});

function assertNotSigned({ error }: RpcAnswer): void {
  assert.equal(error?.code, -32602);
  assert.equal(error.message, "Request not signed");
}

function assertDenied({ error, result }: RpcAnswer, reason?: string): void {
  assert.equal(error?.code, -32060, JSON.stringify({ error, result }));
  assert.equal(error.message, "Permission denied");
  if (reason !== undefined) assert.deepEqual(error.data, { reason });
}
