import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { createSiweMessage } from "viem/siwe";
import { privateKeyToAccount } from "viem/accounts";
import { Nonces } from "../../../../src/rpc/auth/nonces.ts";
import {
  answerSignIn,
  isSignInPath,
  SIGN_IN_BODY_BYTES_MAX,
  type SignInAnswer,
  type SignInRequest,
} from "../../../../src/rpc/auth/sign-in-endpoints.ts";
import { DEFAULT_SIGN_IN_OPTIONS, SignIn } from "../../../../src/rpc/auth/sign-in.ts";
import { createAuthenticator } from "../../../../src/rpc/auth/authenticator.ts";
import { signInIssuer } from "../../../../src/rpc/auth/token-issuer.ts";

const NOW = 1_700_000_000_000;
const MINUTE = 60_000;
const WALLET = privateKeyToAccount(`0x${"22".repeat(32)}`);
const OTHER = privateKeyToAccount(`0x${"33".repeat(32)}`);

type Fields = Partial<Parameters<typeof createSiweMessage>[0]>;

let signIn: SignIn;
beforeEach(() => {
  signIn = new SignIn({ ...DEFAULT_SIGN_IN_OPTIONS, chainId: 5000n });
});

function messageOf(fields: Fields = {}): string {
  return createSiweMessage({
    address: WALLET.address,
    chainId: 5000,
    domain: "localhost:3000",
    nonce: signIn.createNonce(NOW),
    uri: "http://localhost:3000",
    version: "1",
    issuedAt: new Date(NOW),
    ...fields,
  });
}

async function redeem(message: string, nowMs = NOW, wallet = WALLET): Promise<string> {
  const redeemed = await signIn.redeem(message, await wallet.signMessage({ message }), nowMs);
  return redeemed.ok ? "granted" : redeemed.error.code;
}

describe("signing in with a wallet", () => {
  it("gives a token that says who it is until it ends", async () => {
    const message = messageOf();
    const redeemed = await signIn.redeem(message, await WALLET.signMessage({ message }), NOW);
    assert.ok(redeemed.ok);
    assert.equal(redeemed.value.account, BigInt(WALLET.address));
    assert.equal(redeemed.value.expiresMs, NOW + 60 * MINUTE);
    for (const [nowMs, expected] of [
      [NOW, WALLET.address],
      [NOW + 60 * MINUTE - 1, WALLET.address],
      [NOW + 60 * MINUTE, "AUTH_TOKEN_EXPIRED"],
    ] as const) {
      const now = (): number => nowMs;
      const authenticator = createAuthenticator(
        { certificates: [] },
        [signInIssuer(signIn, now)],
        now,
      );
      const authorization = `Bearer ${redeemed.value.token}`;
      const identity = await authenticator.identify({ authorization, certificate: undefined });
      assert.equal(identity.ok ? identity.value?.subject : identity.error.code, expected);
    }
  });

  it("ends the token with the message", async () => {
    const message = messageOf({ expirationTime: new Date(NOW + MINUTE) });
    const redeemed = await signIn.redeem(message, await WALLET.signMessage({ message }), NOW);
    assert.equal(redeemed.ok && redeemed.value.expiresMs, NOW + MINUTE);
  });

  it("works once per nonce", async () => {
    const message = messageOf();
    assert.equal(await redeem(message), "granted");
    assert.equal(await redeem(message), "SIWE_NONCE_USED");
  });

  it("does not use up the nonce of a message that somebody else signed", async () => {
    const message = messageOf();
    assert.equal(await redeem(message, NOW, OTHER), "SIWE_SIGNATURE_WRONG");
    assert.equal(await redeem(message), "granted");
  });

  it("leaves room for as many sign-ins as it remembers, and no more", async () => {
    signIn = new SignIn({ ...DEFAULT_SIGN_IN_OPTIONS, usedNoncesMax: 2, chainId: 5000n });
    const waiting = messageOf();
    assert.equal(await redeem(messageOf()), "granted");
    assert.equal(await redeem(messageOf()), "granted");
    assert.equal(await redeem(waiting), "SIWE_TOO_MANY");
    const laterMs = NOW + DEFAULT_SIGN_IN_OPTIONS.nonceLifetimeMs;
    assert.equal(
      await redeem(messageOf({ nonce: signIn.createNonce(laterMs) }), laterMs),
      "granted",
    );
  });

  const refused: readonly [what: string, fields: () => Fields, code: string, nowMs?: number][] = [
    ["another domain", () => ({ domain: "evil.example" }), "SIWE_DOMAIN_WRONG"],
    [
      "a domain that begins alike",
      () => ({ domain: "localhost.evil.example" }),
      "SIWE_DOMAIN_WRONG",
    ],
    ["another chain", () => ({ chainId: 1 }), "SIWE_CHAIN_WRONG"],
    ["a nonce of its own", () => ({ nonce: "12345678" }), "SIWE_NONCE_UNKNOWN"],
    ["a nonce of another node", () => ({ nonce: otherNonce() }), "SIWE_NONCE_UNKNOWN"],
    [
      "a nonce in capitals",
      () => ({ nonce: signIn.createNonce(NOW).toUpperCase() }),
      "SIWE_NONCE_UNKNOWN",
    ],
    ["an old nonce", () => ({ nonce: signIn.createNonce(NOW - 5 * MINUTE) }), "SIWE_NONCE_EXPIRED"],
    ["a time to come", () => ({ issuedAt: new Date(NOW + 2 * MINUTE) }), "SIWE_NOT_YET_VALID"],
    ["a start to come", () => ({ notBefore: new Date(NOW + 1) }), "SIWE_NOT_YET_VALID"],
    ["its end behind it", () => ({ expirationTime: new Date(NOW) }), "SIWE_EXPIRED"],
  ];
  for (const [what, fields, code] of refused) {
    it(`is refused with ${what}: ${code}`, async () => {
      assert.equal(await redeem(messageOf(fields())), code);
    });
  }

  it("is refused with a signature that is none", async () => {
    for (const signature of ["", "0x", "0x1234", `0x${"zz".repeat(65)}`, `0x${"11".repeat(66)}`]) {
      const redeemed = await signIn.redeem(messageOf(), signature, NOW);
      assert.equal(redeemed.ok || redeemed.error.code, "SIWE_SIGNATURE_MALFORMED", signature);
    }
    const zeros = await signIn.redeem(messageOf(), `0x${"00".repeat(65)}`, NOW);
    assert.equal(zeros.ok || zeros.error.code, "SIWE_SIGNATURE_WRONG");
  });

  it("honours the domains that are configured, with their port or with any", () => {
    const domains = ["app.example.org", "dev.example.org:*"];
    signIn = new SignIn({ ...DEFAULT_SIGN_IN_OPTIONS, domains, chainId: 5000n });
    const known = ["app.example.org", "APP.example.org", "dev.example.org", "dev.example.org:81"];
    for (const name of known) assert.ok(signIn.isKnownDomain(name), name);
    const unknown = ["app.example.org:81", "example.org", "x.dev.example.org", "localhost", ""];
    for (const name of unknown) assert.ok(!signIn.isKnownDomain(name), name);
  });
});

describe("nonces", () => {
  it("cost no memory until they are used, and none after their end", () => {
    const nonces = new Nonces({ lifetimeMs: 100, usedMax: 3 });
    const made = Array.from({ length: 1000 }, () => nonces.create(NOW));
    assert.equal(new Set(made).size, 1000);
    assert.equal(nonces.usedCount, 0);
    assert.deepEqual(
      made.slice(0, 4).map((nonce) => nonces.use(nonce, NOW)),
      ["good", "good", "good", "full"],
    );
    assert.equal(nonces.use(nonces.create(NOW + 100), NOW + 100), "good");
    assert.equal(nonces.usedCount, 1);
  });
});

describe("the endpoints of signing in", () => {
  const ask = (request: Partial<SignInRequest>, nowMs = NOW): Promise<SignInAnswer> =>
    answerSignIn(
      signIn,
      {
        method: "GET",
        url: "/auth/challenge",
        host: "127.0.0.1:8545",
        origin: undefined,
        body: new Uint8Array(0),
        ...request,
      },
      nowMs,
    );
  const post = (value: unknown): Promise<SignInAnswer> => {
    const body = Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
    return ask({ method: "POST", url: "/auth/token", body });
  };

  it("take a wallet that knows only personal_sign from a challenge to a token", async () => {
    const url = `/auth/challenge?address=${WALLET.address.toLowerCase()}`;
    const challenge = await ask({ url, origin: "http://localhost:3000" });
    assert.equal(challenge.status, 200);
    const message = String(challenge.body["message"]);
    assert.match(message, /^localhost:3000 wants you/, "the page, not this node");
    const answer = await post({ message, signature: await WALLET.signMessage({ message }) });
    assert.equal(answer.status, 200);
    assert.equal(answer.body["account"], WALLET.address);
    assert.equal(answer.body["expiresAt"], new Date(NOW + 60 * MINUTE).toISOString());
    assert.equal(answer.headers["cache-control"], "no-store");
    const authenticator = createAuthenticator({ certificates: [] }, [
      signInIssuer(signIn, () => NOW),
    ]);
    const authorization = `Bearer ${String(answer.body["token"])}`;
    const identity = await authenticator.identify({ authorization, certificate: undefined });
    assert.equal(identity.ok && identity.value?.account, BigInt(WALLET.address));
  });

  it("give a nonce to a page that writes the message itself", async () => {
    const { body } = await ask({});
    assert.equal(await redeem(messageOf({ nonce: String(body["nonce"]) })), "granted");
  });

  it("name this node to a program without a page, and no node to a page that is not known", async () => {
    const url = `/auth/challenge?address=${WALLET.address}`;
    assert.match(String((await ask({ url })).body["message"]), /^127\.0\.0\.1:8545 wants/);
    const refused = await ask({ url, host: "evil.example", origin: "https://evil.example" });
    assert.equal(refused.status, 403);
  });

  it("refuse what is no request with 400, and a wrong method with 405", async () => {
    assert.equal((await ask({ url: "/auth/challenge?address=0x12" })).status, 400);
    assert.equal((await ask({ method: "POST" })).status, 405);
    assert.equal((await ask({ url: "/auth/token" })).status, 405);
    const bodies = ["", "[]", "{", "null", "{}", '{"message":1,"signature":"0x"}', "\u0000"];
    for (const body of [...bodies, `{"x":"${"y".repeat(SIGN_IN_BODY_BYTES_MAX)}"}`]) {
      const { status, body: answer } = await post(body);
      assert.equal(status, 400, body.slice(0, 40));
      assert.deepEqual(answer, { error: { code: "SIWE_REQUEST_MALFORMED" } });
    }
    const malformed = await post({ message: "hello", signature: "0x" });
    assert.deepEqual(malformed.body, { error: { code: "SIWE_MALFORMED", field: "domain" } });
    assert.equal(malformed.status, 400);
    const message = messageOf({ chainId: 1 });
    const wrong = await post({ message, signature: await WALLET.signMessage({ message }) });
    assert.equal(wrong.status, 401);
  });

  it("are known by their path", () => {
    assert.ok(isSignInPath("/auth/challenge?address=0x"));
    assert.ok(isSignInPath("/auth/token"));
    for (const url of ["/", "/standard", "/auth", "/auth/token/x"])
      assert.ok(!isSignInPath(url), url);
  });
});

function otherNonce(): string {
  return new SignIn({ ...DEFAULT_SIGN_IN_OPTIONS, chainId: 5000n }).createNonce(NOW);
}
