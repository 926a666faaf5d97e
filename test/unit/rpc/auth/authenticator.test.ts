/** Tokens of operators' issuers and client certificates, with real keys, files and servers. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { exportJWK, generateKeyPair, type JWK, SignJWT, UnsecuredJWT } from "jose";
import { CodedError } from "../../../../src/base/coded-error.ts";
import { createAuthenticator } from "../../../../src/rpc/auth/authenticator.ts";
import { bearerOfProtocols } from "../../../../src/rpc/auth/bearer-protocol.ts";
import {
  certificateIdentity,
  type CertificateRule,
} from "../../../../src/rpc/auth/certificate-identity.ts";
import type { Identity } from "../../../../src/rpc/auth/identity.ts";
import type { KeySourceOptions } from "../../../../src/rpc/auth/key-source.ts";
import {
  DEFAULT_ISSUER_OPTIONS,
  type IssuerOptions,
  openIssuer,
} from "../../../../src/rpc/auth/token-issuer.ts";

const NOW = 1_700_000_000_000;
const SECOND = 1_000;
const ISSUER = "https://issuer.example";
const SECRET = new Uint8Array(32).fill(7);
const directory = mkdtempSync(path.join(tmpdir(), "quorate-auth-"));
const file = path.join(directory, "jwks.json");

type Signer = { readonly alg: string; readonly kid?: string; readonly key: CryptoKey | Uint8Array };

const hs256: Signer = { alg: "HS256", key: SECRET };
let rs256: Signer & { readonly jwk: JWK };
let es256: Signer & { readonly jwk: JWK };
let next: Signer & { readonly jwk: JWK };

before(async () => {
  rs256 = await makeSigner("RS256", "r1");
  es256 = await makeSigner("ES256", "e1");
  next = await makeSigner("ES256", "e2");
});
after(() => rmSync(directory, { recursive: true, force: true }));

async function makeSigner(alg: string, kid: string): Promise<Signer & { readonly jwk: JWK }> {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  return { alg, kid, key: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg } };
}

function writeKeys(...keys: readonly JWK[]): void {
  writeFileSync(file, JSON.stringify({ keys }));
}

function sign(signer: Signer, claims: Record<string, unknown> = {}): Promise<string> {
  const payload = {
    iss: ISSUER,
    aud: "quorate",
    sub: "app-1",
    exp: NOW / SECOND + 60,
    ...claims,
  };
  const { alg, kid } = signer;
  return new SignJWT(payload)
    .setProtectedHeader(kid === undefined ? { alg } : { alg, kid })
    .sign(signer.key);
}

class Door {
  nowMs = NOW;
  readonly #identify: (authorization: string | undefined) => Promise<Identity | string | undefined>;

  constructor(issuer: Awaited<ReturnType<typeof openIssuer>>, now: { ms: number }) {
    const authenticator = createAuthenticator({ certificates: [] }, [issuer], () => now.ms);
    this.#identify = async (authorization) => {
      const result = await authenticator.identify({ authorization, certificate: undefined });
      return result.ok ? result.value : result.error.code;
    };
  }

  header(authorization: string | undefined): Promise<Identity | string | undefined> {
    return this.#identify(authorization);
  }

  async token(token: string | Promise<string>): Promise<string> {
    const identity = await this.#identify(`Bearer ${await token}`);
    return typeof identity === "string" ? identity : (identity?.subject ?? "nobody");
  }
}

async function openDoor(
  keys: KeySourceOptions,
  more: Partial<IssuerOptions> = {},
  now = { ms: NOW },
): Promise<Door> {
  const options = {
    ...DEFAULT_ISSUER_OPTIONS,
    issuer: ISSUER,
    audiences: ["quorate"],
    keys,
    ...more,
  };
  return new Door(await openIssuer(options, () => now.ms), now);
}

describe("a token of an operator's issuer", () => {
  it("is verified by a shared secret, an RSA key or an elliptic one", async () => {
    writeKeys(rs256.jwk, es256.jwk);
    const bySecret = await openDoor({ kind: "secret", secret: SECRET });
    assert.equal(await bySecret.token(sign(hs256)), "app-1");
    const byFile = await openDoor({ kind: "file", path: file });
    assert.equal(await byFile.token(sign(rs256)), "app-1");
    assert.equal(await byFile.token(sign(es256)), "app-1");
    assert.equal(await byFile.token(sign(next)), "AUTH_TOKEN_INVALID");
  });

  it("is refused when anything about it is wrong", async () => {
    writeKeys(es256.jwk);
    const door = await openDoor({ kind: "file", path: file });
    const cases: readonly [string, Record<string, unknown>, string][] = [
      ["another issuer", { iss: "https://other.example" }, "AUTH_ISSUER_UNKNOWN"],
      ["no issuer", { iss: undefined }, "AUTH_ISSUER_UNKNOWN"],
      ["another audience", { aud: "other" }, "AUTH_TOKEN_INVALID"],
      ["no audience", { aud: undefined }, "AUTH_TOKEN_INVALID"],
      ["no end", { exp: undefined }, "AUTH_TOKEN_INVALID"],
      ["no subject", { sub: undefined }, "AUTH_TOKEN_INVALID"],
      ["its end behind it", { exp: NOW / SECOND - 31 }, "AUTH_TOKEN_EXPIRED"],
      ["its start to come", { nbf: NOW / SECOND + 31 }, "AUTH_TOKEN_INVALID"],
      ["an account that is none", { account: "bob" }, "AUTH_TOKEN_ACCOUNT_INVALID"],
      ["an account that is no text", { account: 7 }, "AUTH_TOKEN_ACCOUNT_INVALID"],
    ];
    for (const [what, claims, code] of cases) {
      assert.equal(await door.token(sign(es256, claims)), code, what);
    }
    assert.equal(await door.token(sign(es256, { exp: NOW / SECOND - 29 })), "app-1", "tolerance");
    const good = await sign(es256);
    const [head = "", body = "", end = ""] = good.split(".");
    const forged = `${head}.${Buffer.from('{"iss":"https://issuer.example"}').toString("base64url")}.${end}`;
    assert.equal(await door.token(forged), "AUTH_TOKEN_INVALID");
    assert.equal(await door.token(`${head}.${body}`), "AUTH_TOKEN_MALFORMED");
    assert.equal(await door.token("x"), "AUTH_TOKEN_MALFORMED");
  });

  it("cannot choose its algorithm", async () => {
    writeKeys(rs256.jwk);
    const door = await openDoor({ kind: "file", path: file });
    // The classic: the public key, which anyone has, used as a secret.
    const publicText = Buffer.from(JSON.stringify(rs256.jwk));
    assert.equal(
      await door.token(sign({ alg: "HS256", kid: "r1", key: publicText })),
      "AUTH_TOKEN_INVALID",
    );
    const claims = { iss: ISSUER, aud: "quorate", sub: "x", exp: NOW / SECOND + 60 };
    assert.equal(await door.token(new UnsecuredJWT(claims).encode()), "AUTH_TOKEN_INVALID");
    const bySecret = await openDoor({ kind: "secret", secret: SECRET });
    assert.equal(await bySecret.token(sign({ ...hs256, alg: "HS512" })), "AUTH_TOKEN_INVALID");
    assert.equal(await bySecret.token(sign(es256)), "AUTH_TOKEN_INVALID");
  });

  it("says roles and an account where its issuer vouches for them", async () => {
    const door = await openDoor(
      { kind: "secret", secret: SECRET },
      { rolesClaim: "scope", defaultRoles: ["guest"] },
    );
    const identify = async (claims: Record<string, unknown>): Promise<unknown> =>
      door.header(`Bearer ${await sign(hs256, claims)}`);
    assert.deepEqual(await identify({}), {
      subject: "app-1",
      account: undefined,
      roles: ["guest"],
    });
    const account = `0x${"ab".repeat(20)}`;
    assert.deepEqual(await identify({ scope: "reader writer", account }), {
      subject: "app-1",
      account: BigInt(account),
      roles: ["reader", "writer"],
    });
    const listed = { subject: "app-1", account: undefined, roles: ["admin"] };
    assert.deepEqual(await identify({ scope: ["admin", 7, ""] }), listed);
  });

  it("is not trusted from memory after its end", async () => {
    const now = { ms: NOW };
    const door = await openDoor({ kind: "secret", secret: SECRET }, { clockToleranceMs: 0 }, now);
    const token = await sign(hs256, { exp: NOW / SECOND + 10 });
    assert.equal(await door.token(token), "app-1");
    now.ms = NOW + 10 * SECOND;
    assert.equal(await door.token(token), "AUTH_TOKEN_EXPIRED");
  });
});

describe("rotation of an issuer's keys", () => {
  it("in a file: a new key is found, at most once per cooldown, and an old one ends", async () => {
    const now = { ms: NOW };
    const rotation = { cooldownMs: 10 * SECOND, maxAgeMs: 100 * SECOND };
    writeKeys(es256.jwk);
    const door = await openDoor({ kind: "file", path: file }, { rotation }, now);
    const claims = { exp: NOW / SECOND + 1_000 };
    const [old, fresh] = [await sign(es256, claims), await sign(next, claims)];
    writeKeys(next.jwk);
    assert.equal(await door.token(fresh), "AUTH_TOKEN_INVALID", "read a moment ago");
    now.ms += 10 * SECOND;
    assert.equal(await door.token(fresh), "app-1");
    assert.equal(await door.token(old), "AUTH_TOKEN_INVALID");
  });

  it("in a file: a key that was withdrawn ends with the age of the set", async () => {
    const now = { ms: NOW };
    const rotation = { cooldownMs: 10 * SECOND, maxAgeMs: 100 * SECOND };
    writeKeys(es256.jwk);
    const door = await openDoor({ kind: "file", path: file }, { rotation }, now);
    const token = await sign(es256, { exp: NOW / SECOND + 1_000 });
    assert.equal(await door.token(token), "app-1");
    writeKeys(next.jwk);
    now.ms += 101 * SECOND;
    assert.equal(await door.token(token), "AUTH_TOKEN_INVALID");
  });

  it("in a file: one that is damaged while the node runs leaves the keys as they were", async () => {
    const now = { ms: NOW };
    writeKeys(es256.jwk);
    const door = await openDoor({ kind: "file", path: file }, {}, now);
    writeFileSync(file, '{"keys": [');
    now.ms += 3_600 * SECOND;
    const exp = now.ms / SECOND + 60;
    assert.equal(await door.token(sign(es256, { exp })), "app-1");
  });

  it("of a secret: the new one counts, and one that cannot be had leaves the old", async () => {
    const now = { ms: NOW };
    const other: Signer = { alg: "HS256", key: new Uint8Array(32).fill(8) };
    let held: Uint8Array | undefined;
    const keys: KeySourceOptions = { kind: "secret", secret: SECRET, reread: () => held };
    const door = await openDoor(keys, { rotation: { cooldownMs: 10 * SECOND } }, now);
    // Each is another token: one that was seen to be good is trusted for a while.
    const tell = (signer: Signer, sub: string): Promise<unknown> =>
      door.token(sign(signer, { sub, exp: NOW / SECOND + 1_000 }));
    for (held of [undefined, new Uint8Array(31)]) {
      now.ms += 10 * SECOND;
      assert.equal(await tell(hs256, `old-${now.ms}`), `old-${now.ms}`);
    }
    held = new Uint8Array(32).fill(8);
    assert.equal(await tell(other, "early"), "AUTH_TOKEN_INVALID", "read a moment ago");
    now.ms += 10 * SECOND;
    assert.equal(await tell(other, "new"), "new");
    assert.equal(await tell(hs256, "late"), "AUTH_TOKEN_INVALID");
  });

  it("behind a URL: a new key is fetched when a token names it", async () => {
    let keys: readonly JWK[] = [es256.jwk];
    let fetched = 0;
    const server = await listen(() => {
      fetched += 1;
      return JSON.stringify({ keys });
    });
    try {
      const rotation = { cooldownMs: 0 };
      const door = await openDoor({ kind: "url", url: urlOf(server) }, { rotation });
      assert.equal(fetched, 0, "not before it is needed");
      assert.equal(await door.token(sign(es256)), "app-1");
      assert.equal(await door.token(sign(es256, { jti: "2" })), "app-1");
      assert.equal(fetched, 1);
      keys = [next.jwk];
      assert.equal(await door.token(sign(next)), "app-1");
      assert.equal(fetched, 2);
    } finally {
      server.close();
      server.closeAllConnections();
    }
    const door = await openDoor({ kind: "url", url: urlOf(server, 9) });
    assert.equal(await door.token(sign(es256)), "AUTH_KEYS_UNAVAILABLE");
  });

  it("is refused at the start where it could not work", async () => {
    const codeOf = async (keys: KeySourceOptions): Promise<string> => {
      try {
        await openDoor(keys);
        return "opened";
      } catch (error) {
        return error instanceof CodedError ? error.code : String(error);
      }
    };
    const short = new Uint8Array(31);
    assert.equal(await codeOf({ kind: "secret", secret: short }), "AUTH_SECRET_TOO_SHORT");
    const missing = path.join(directory, "none.json");
    assert.equal(await codeOf({ kind: "file", path: missing }), "AUTH_JWKS_FILE_INVALID");
    for (const text of ["", "[]", "{}", '{"keys":[]}', '{"keys":[1]}']) {
      writeFileSync(file, text);
      assert.equal(await codeOf({ kind: "file", path: file }), "AUTH_JWKS_FILE_INVALID", text);
    }
    for (const url of ["", "jwks", "http://issuer.example/jwks", "file:///etc/passwd"]) {
      assert.equal(await codeOf({ kind: "url", url }), "AUTH_JWKS_URL_INVALID", url);
    }
  });
});

describe("credentials of a request", () => {
  it("are none, a bearer token, or refused", async () => {
    const door = await openDoor({ kind: "secret", secret: SECRET });
    assert.equal(await door.header(undefined), undefined);
    assert.equal(await door.header("Basic YTpi"), "AUTH_SCHEME_UNKNOWN");
    assert.equal(await door.header("Bearer"), "AUTH_SCHEME_UNKNOWN");
    assert.equal(await door.header("Bearer a b"), "AUTH_TOKEN_MALFORMED");
    assert.equal(await door.header(`Bearer ${"a".repeat(9_000)}`), "AUTH_TOKEN_TOO_LONG");
    const token = await sign(hs256);
    const lowerCase = await door.header(`bearer ${token}`);
    assert.equal(typeof lowerCase === "object" && lowerCase.subject, "app-1");
  });

  it("come as a subprotocol from browsers' WebSockets", () => {
    assert.equal(bearerOfProtocols("jsonrpc, bearer.a.b.c"), "Bearer a.b.c");
    assert.equal(bearerOfProtocols("jsonrpc"), undefined);
    assert.equal(bearerOfProtocols(undefined), undefined);
  });
});

describe("a client certificate", () => {
  const certificate = {
    fingerprint256: "AB:CD:01",
    subject: { CN: "app", C: "", ST: "", L: "", O: "", OU: "" },
    subjectaltname: "DNS:app.example.org, URI:spiffe://example.org/app",
  };
  const rule: CertificateRule = { subject: "the app", roles: ["reader"], account: 5n };
  const identity = { subject: "the app", roles: ["reader"], account: 5n };

  it("gives the identity of the first rule that fits in all it asks for", () => {
    const fitting: Partial<CertificateRule>[] = [
      { fingerprint: "abcd01" },
      { fingerprint: "AB:CD:01", commonName: "app" },
      { alternativeName: "URI:spiffe://example.org/app" },
      { commonName: "app", alternativeName: "DNS:app.example.org" },
    ];
    for (const conditions of fitting) {
      const rules = [
        { ...rule, subject: "other", fingerprint: "00" },
        { ...rule, ...conditions },
      ];
      assert.deepEqual(
        certificateIdentity(certificate, rules),
        identity,
        JSON.stringify(conditions),
      );
    }
  });

  it("gives none where something differs, or where a rule asks for nothing", () => {
    const missing: Partial<CertificateRule>[] = [
      {},
      { fingerprint: "abcd02" },
      { fingerprint: "abcd01", commonName: "App" },
      { alternativeName: "app.example.org" },
      { alternativeName: "DNS:app.example" },
    ];
    for (const conditions of missing) {
      const rules = [{ ...rule, ...conditions }];
      assert.equal(certificateIdentity(certificate, rules), undefined, JSON.stringify(conditions));
    }
    const tricky = { ...certificate, subjectaltname: 'DNS:"x, DNS:app.example.org"' };
    const rules = [{ ...rule, alternativeName: "DNS:app.example.org" }];
    assert.equal(certificateIdentity(tricky, rules), undefined);
  });

  it("stands back behind a token", async () => {
    const issuer = await openIssuer(
      {
        ...DEFAULT_ISSUER_OPTIONS,
        issuer: ISSUER,
        audiences: ["quorate"],
        keys: { kind: "secret", secret: SECRET },
      },
      () => NOW,
    );
    const certificates = [{ ...rule, commonName: "app" }];
    const authenticator = createAuthenticator({ certificates }, [issuer], () => NOW);
    const bare = await authenticator.identify({ authorization: undefined, certificate });
    assert.deepEqual(bare.ok && bare.value, identity);
    const both = await authenticator.identify({
      authorization: `Bearer ${await sign(hs256)}`,
      certificate,
    });
    assert.equal(both.ok && both.value?.subject, "app-1");
    const bad = await authenticator.identify({ authorization: "Bearer x", certificate });
    assert.equal(bad.ok || bad.error.code, "AUTH_TOKEN_MALFORMED");
  });
});

async function listen(answer: () => string): Promise<Server> {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "application/json").end(answer());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return server;
}

function urlOf(server: Server, port = (server.address() as AddressInfo).port): string {
  return `http://127.0.0.1:${port}/jwks`;
}
