/** TLS, certificates, tokens and roles of ethrpc over real sockets, from the settings on. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { request, type RequestOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, describe, it } from "node:test";
import { exportJWK, SignJWT } from "jose";
import { WebSocket, type ClientOptions } from "ws";
import { openAccess } from "../../../src/node/rpc-access.ts";
import { readTls } from "../../../src/node/rpc-security.ts";
import { CLIENT_SETTINGS, type ClientConfig } from "../../../src/config/node-settings.ts";
import { accessProblems } from "../../../src/config/rpc-access-settings.ts";
import { resolveSettings } from "../../../src/config/resolve-settings.ts";
import { createTlsIdentity } from "../../../src/crypto/certificate.ts";
import { AccessRules } from "../../../src/rpc/auth/access-rules.ts";
import { createAuthenticator } from "../../../src/rpc/auth/authenticator.ts";
import { openIssuer } from "../../../src/rpc/auth/token-issuer.ts";
import type { StateAtReader } from "../../../src/api/chain-reader.ts";
import type { BoundMethod } from "../../../src/rpc/method.ts";
import { DEFAULT_RPC_OPTIONS } from "../../../src/rpc/rpc-options.ts";
import { RpcServer, type RpcServerDependencies } from "../../../src/rpc/server/rpc-server.ts";
import type { SubscriberConnection } from "../../../src/rpc/logs/subscriber-connection.ts";

const NO_CODE = () => ({ blockHash: "0x", isDelegated: false }) as const;

type Answer = {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
};

const directory = mkdtempSync(path.join(tmpdir(), "quorate-security-"));
const SECRET = "a secret of more than thirty-two bytes";
const GENESIS = { chainId: 5000n, isReadPermissioned: false };
const ISSUER = "https://issuer.example";
const AUDIENCE = "quorate";
const SERVER = createTlsIdentity(new Uint8Array(32).fill(1), "localhost");
const CALLER = createTlsIdentity(new Uint8Array(32).fill(2), "app");
/** Says that it is the app, too. */
const IMPOSTOR = createTlsIdentity(new Uint8Array(32).fill(3), "app");
/** No right is asked for in these networks. */
const NO_READER = {} as StateAtReader;

function file(name: string, content: string): string {
  const place = path.join(directory, name);
  writeFileSync(place, content);
  return place;
}

const TLS = {
  cert: file("server.pem", SERVER.certificatePem),
  key: file("server.key", SERVER.privateKeyPem),
};
const CLIENT_CA = file("authorities.pem", CALLER.certificatePem);
const SECRET_FILE = file("secret", `${SECRET}\n`);
const BY_SECRET = { issuer: ISSUER, audience: [AUDIENCE], secretFile: SECRET_FILE };

/** As a file with these settings under `rpc` is read. */
function configOf(rpc: object): ClientConfig {
  const fileText = JSON.stringify({ network: "n", key: "k", data: "d", rpc });
  const resolved = resolveSettings(CLIENT_SETTINGS, {
    fileText,
    environment: {},
    flags: {},
    resolvePath: (text) => text,
  });
  assert.ok(resolved.ok, JSON.stringify(resolved));
  return resolved.value;
}

let connection: SubscriberConnection | undefined;
const METHODS: readonly BoundMethod[] = [
  { name: "eth_chainId", run: () => "0x1388" },
  { name: "eth_getBalance", run: () => "0x1" },
  { name: "debug_traceCall", run: () => "a trace" },
  {
    name: "eth_subscribe",
    run: (_params, context) => {
      ({ connection } = context);
      return "0x1";
    },
  },
];

let server: RpcServer | undefined;

async function open(
  config: ClientConfig,
  access?: RpcServerDependencies["access"],
): Promise<number> {
  assert.deepEqual(accessProblems(config), []);
  const opened = await RpcServer.open(
    { ...DEFAULT_RPC_OPTIONS, port: 0, tls: readTls(config) },
    {
      methods: new Map(METHODS.map((method) => [method.name, method])),
      access: access ?? (await openAccess(config, GENESIS, NO_READER)),
    },
  );
  server = opened;
  return opened.port;
}

function body(method: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] });
}

/** Over HTTP without TLS. */
async function call(port: number, method: string, token?: string): Promise<Answer> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = { "content-type": "application/json", ...authorization };
  const url = `http://127.0.0.1:${port}/standard`;
  const response = await fetch(url, { method: "POST", headers, body: body(method) });
  return (await response.json()) as Answer;
}

async function callTls(port: number, method: string, more: RequestOptions = {}): Promise<Answer> {
  const sent = request({
    host: "localhost",
    port,
    path: "/standard",
    method: "POST",
    headers: { "content-type": "application/json" },
    ca: SERVER.certificatePem,
    agent: false,
    ...more,
  });
  const text = await new Promise<string>((resolve, reject) => {
    sent.on("error", reject);
    sent.on("response", (response) => {
      let read = "";
      response.on("data", (chunk: Buffer) => (read += chunk.toString()));
      response.on("end", () => resolve(read));
      response.on("error", reject);
    });
    sent.end(body(method));
  });
  return JSON.parse(text) as Answer;
}

async function openSocket(
  url: string,
  options: ClientOptions = {},
  protocols: readonly string[] = [],
): Promise<WebSocket> {
  const socket = new WebSocket(url, [...protocols], options);
  await once(socket, "open");
  return socket;
}

async function ask(socket: WebSocket, method: string): Promise<Answer> {
  socket.send(body(method));
  const [data] = (await once(socket, "message")) as [Buffer];
  return JSON.parse(data.toString()) as Answer;
}

function token(
  claims: object = {},
  { audience = AUDIENCE, secret = SECRET } = {},
): Promise<string> {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(ISSUER)
    .setAudience(audience)
    .setSubject("someone")
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(secret));
}

const code = ({ error }: Answer): unknown => (error?.data as { code?: unknown } | undefined)?.code;

function assertNotSigned(answer: Answer, reason: string): void {
  assert.equal(answer.error?.code, -32602, JSON.stringify(answer));
  assert.equal(answer.error.message, "Request not signed");
  assert.equal(code(answer), reason);
}

function assertDenied(answer: Answer): void {
  assert.equal(answer.error?.code, -32060, JSON.stringify(answer));
  assert.equal(answer.error.message, "Permission denied");
}

describe("ethrpc with security", () => {
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  it("serves TLS to HTTP and WebSocket, and nothing without it", async () => {
    const port = await open(configOf({ tls: TLS }));
    assert.equal((await callTls(port, "eth_chainId")).result, "0x1388");
    const socket = await openSocket(`wss://localhost:${port}/standard`, {
      ca: SERVER.certificatePem,
    });
    assert.equal((await ask(socket, "eth_chainId")).result, "0x1388");
    socket.close();
    await assert.rejects(call(port, "eth_chainId"));
    await assert.rejects(callTls(port, "eth_chainId", { maxVersion: "TLSv1.1" }));
  });

  it("requires a client certificate, and knows who has it", async () => {
    const certificates = [{ subject: "app", commonName: "app", roles: ["app"] }];
    const roles = [{ name: "app", methods: ["eth_*"] }];
    const auth = { required: true, certificates, roles };
    const port = await open(configOf({ tls: { ...TLS, clientCa: CLIENT_CA }, auth }));
    const own = { cert: CALLER.certificatePem, key: CALLER.privateKeyPem };
    const falseOne = { cert: IMPOSTOR.certificatePem, key: IMPOSTOR.privateKeyPem };
    assert.equal((await callTls(port, "eth_chainId", own)).result, "0x1388");
    assertDenied(await callTls(port, "debug_traceCall", own));
    await assert.rejects(callTls(port, "eth_chainId"));
    await assert.rejects(callTls(port, "eth_chainId", falseOne));
    const url = `wss://localhost:${port}/standard`;
    const socket = await openSocket(url, { ...own, ca: SERVER.certificatePem });
    assert.equal((await ask(socket, "eth_chainId")).result, "0x1388");
    assertDenied(await ask(socket, "debug_traceCall"));
    socket.close();
    await assert.rejects(openSocket(url, { ...falseOne, ca: SERVER.certificatePem }));
  });

  it("takes a certificate without a trusted issuer as none, where one is optional", async () => {
    const certificates = [{ subject: "app", commonName: "app" }];
    const tls = { ...TLS, clientCa: CLIENT_CA, isClientCertRequired: false };
    const port = await open(configOf({ tls, auth: { required: true, certificates } }));
    const own = { cert: CALLER.certificatePem, key: CALLER.privateKeyPem };
    const falseOne = { cert: IMPOSTOR.certificatePem, key: IMPOSTOR.privateKeyPem };
    assert.equal((await callTls(port, "eth_chainId", own)).result, "0x1388");
    assertNotSigned(await callTls(port, "eth_chainId"), "AUTH_MISSING");
    assertNotSigned(await callTls(port, "eth_chainId", falseOne), "AUTH_MISSING");
  });

  it("requires tokens of the operator's issuer and keeps roles to their methods", async () => {
    const roles = [{ name: "wallet", methods: ["eth_*"] }];
    const port = await open(
      configOf({ auth: { ...BY_SECRET, required: true, roles, methods: ["eth_chainId"] } }),
    );
    assertNotSigned(await call(port, "eth_chainId"), "AUTH_MISSING");
    assert.equal((await call(port, "eth_chainId", await token())).result, "0x1388");
    assertDenied(await call(port, "eth_getBalance", await token()));
    const wallet = await token({ roles: ["wallet"] });
    assert.equal((await call(port, "eth_getBalance", wallet)).result, "0x1");
    assertDenied(await call(port, "debug_traceCall", wallet));
    assertDenied(await call(port, "eth_chainId", await token({ roles: ["unheard-of"] })));
    const forged = await token({}, { secret: `${SECRET}, but another` });
    assertNotSigned(await call(port, "eth_chainId", forged), "AUTH_TOKEN_INVALID");
    const elsewhere = await token({}, { audience: "another service" });
    assertNotSigned(await call(port, "eth_chainId", elsewhere), "AUTH_TOKEN_INVALID");
    const challenge = await fetch(`http://127.0.0.1:${port}/auth/challenge`);
    assert.equal(challenge.status, 404, "a wallet that anyone can make is no way around it");
  });

  it("takes tokens of WebSockets from the header and from the subprotocol", async () => {
    const port = await open(configOf({ auth: { ...BY_SECRET, required: true } }));
    const url = `ws://127.0.0.1:${port}/standard`;
    const authorization = `Bearer ${await token()}`;
    const byHeader = await openSocket(url, { headers: { authorization } });
    assert.equal((await ask(byHeader, "eth_chainId")).result, "0x1388");
    const byProtocol = await openSocket(url, {}, [`bearer.${await token()}`, "jsonrpc"]);
    assert.equal(byProtocol.protocol, "jsonrpc", "the token is not said back");
    assert.equal((await ask(byProtocol, "eth_chainId")).result, "0x1388");
    await assert.rejects(openSocket(url), /401/, "refused before the upgrade");
    for (const socket of [byHeader, byProtocol]) socket.close();
  });

  it("fetches the issuer's keys from a URL and takes RS256 and ES256, not HS256 with them", async () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const elliptic = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const keys = [
      { ...(await exportJWK(rsa.publicKey)), kid: "rsa", alg: "RS256" },
      { ...(await exportJWK(elliptic.publicKey)), kid: "ec", alg: "ES256" },
    ];
    const issuer = createServer((_request, response) => response.end(JSON.stringify({ keys })));
    issuer.listen(0, "127.0.0.1");
    await once(issuer, "listening");
    const { port: issuerPort } = issuer.address() as AddressInfo;
    const jwksUrl = `http://127.0.0.1:${issuerPort}/keys`;
    const auth = { required: true, issuer: ISSUER, audience: [AUDIENCE], jwksUrl };
    const port = await open(configOf({ auth }));
    const signed = (alg: string, kid: string, key: Parameters<SignJWT["sign"]>[0]) =>
      new SignJWT({})
        .setProtectedHeader({ alg, kid })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject("someone")
        .setExpirationTime("1h")
        .sign(key);
    const byRsa = await signed("RS256", "rsa", rsa.privateKey);
    assert.equal((await call(port, "eth_chainId", byRsa)).result, "0x1388");
    const byCurve = await signed("ES256", "ec", elliptic.privateKey);
    assert.equal((await call(port, "eth_chainId", byCurve)).result, "0x1388");
    const publicKey = rsa.publicKey.export({ type: "spki", format: "pem" });
    const confused = await signed("HS256", "rsa", new TextEncoder().encode(publicKey));
    assertNotSigned(await call(port, "eth_chainId", confused), "AUTH_TOKEN_INVALID");
    issuer.close();
  });

  it("tells a subscriber nothing more once its token has ended", async () => {
    let nowMs = Date.now();
    const clock = (): number => nowMs;
    const issuer = await openIssuer(
      {
        issuer: ISSUER,
        audiences: [AUDIENCE],
        keys: { kind: "secret", secret: new TextEncoder().encode(SECRET) },
        rolesClaim: "roles",
        accountClaim: "account",
        defaultRoles: [],
        clockToleranceMs: 0,
      },
      clock,
    );
    const rules = new AccessRules(
      { isIdentityRequired: true, isReadPermissioned: false, roles: new Map(), methods: ["*"] },
      { mayRead: () => false, calledCode: NO_CODE },
    );
    const authenticator = createAuthenticator({ certificates: [] }, [issuer], clock);
    const port = await open(configOf({}), { rules, authenticator, signIn: undefined });
    const authorization = `Bearer ${await token()}`;
    const url = `ws://127.0.0.1:${port}/standard`;
    const socket = await openSocket(url, { headers: { authorization } });
    assert.equal((await ask(socket, "eth_subscribe")).result, "0x1");
    for (const notice of ["1", "2", "3"]) connection?.send(notice);
    const heard: string[] = [];
    socket.on("message", (data: Buffer) => heard.push(data.toString()));
    while (heard.length < 3) await once(socket, "message");
    assert.deepEqual(heard, ["1", "2", "3"], "in order");
    nowMs += 2 * 3_600_000;
    const closed = once(socket, "close");
    connection?.send("4");
    const [closeCode, reason] = (await closed) as [number, Buffer];
    assert.equal(closeCode, 1008);
    assert.equal(reason.toString(), "Request not signed");
    assert.equal(heard.length, 3);
  });

  it("refuses certificates that are none, and settings that do not go together", async () => {
    const broken = configOf({ tls: { cert: SECRET_FILE, key: TLS.key } });
    await assert.rejects(open(broken), { code: "RPC_TLS_INVALID" });
    const cases: readonly (readonly [object, string])[] = [
      [{ tls: { cert: TLS.cert } }, "rpc.tls"],
      [{ tls: { clientCa: CLIENT_CA } }, "rpc.tls.clientCa"],
      [{ auth: { issuer: ISSUER, audience: [AUDIENCE] } }, "rpc.auth"],
      [{ auth: { ...BY_SECRET, jwksUrl: "https://x.example" } }, "rpc.auth"],
      [{ auth: { ...BY_SECRET, audience: [] } }, "rpc.auth.audience"],
      [{ auth: { certificates: [{ subject: "a", commonName: "a" }] } }, "rpc.auth.certificates"],
      [{ auth: { required: true } }, "rpc.auth.required"],
    ];
    for (const [rpc, place] of cases) {
      const problems = accessProblems(configOf(rpc)).map((problem) => problem.path);
      assert.deepEqual(problems, [place], JSON.stringify(rpc));
    }
    const short = configOf({ auth: { ...BY_SECRET, secretFile: file("short", "short") } });
    await assert.rejects(openAccess(short, GENESIS, NO_READER), { code: "AUTH_SECRET_TOO_SHORT" });
  });
});
