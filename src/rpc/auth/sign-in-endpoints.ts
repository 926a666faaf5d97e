/**
 * The HTTP side of signing in, beside ethrpc on the same port:
 * `GET /auth/challenge?address=0x…` gives a message to sign (or a nonce alone, without `address`),
 * `POST /auth/token` with `{message, signature}` gives a bearer token.
 */
import { addressToChecksumHex, parseAddress } from "../../chain/address.ts";
import { isObject } from "../params/parameters.ts";
import type { SignIn, SignInError } from "./sign-in.ts";

export type SignInRequest = {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly body: Uint8Array;
};

export type SignInAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** For JSON. */
  readonly body: Readonly<Record<string, unknown>>;
};

export const CHALLENGE_PATH = "/auth/challenge";
export const TOKEN_PATH = "/auth/token";
/** A message and a signature, with room for escapes. */
export const SIGN_IN_BODY_BYTES_MAX = 16_384;

const NO_STORE = { "cache-control": "no-store" };

export function isSignInPath(url: string): boolean {
  const path = url.split("?", 1)[0];
  return path === CHALLENGE_PATH || path === TOKEN_PATH;
}

export async function answerSignIn(
  signIn: SignIn,
  request: SignInRequest,
  nowMs: number,
): Promise<SignInAnswer> {
  const isChallenge = request.url.split("?", 1)[0] === CHALLENGE_PATH;
  const method = isChallenge ? "GET" : "POST";
  if (request.method !== method) {
    return { ...refused(405, "SIWE_HTTP_METHOD_WRONG"), headers: { ...NO_STORE, allow: method } };
  }
  return isChallenge
    ? answerChallenge(signIn, request, nowMs)
    : answerToken(signIn, request, nowMs);
}

function answerChallenge(signIn: SignIn, request: SignInRequest, nowMs: number): SignInAnswer {
  const query = new URLSearchParams(request.url.slice(CHALLENGE_PATH.length + 1));
  const text = query.get("address");
  if (text === null) return granted({ nonce: signIn.createNonce(nowMs) });
  const address = parseAddress(text);
  if (address === undefined) return refused(400, "SIWE_ADDRESS_INVALID");
  // A wallet compares the domain with the page that asks it, so the page goes before this node.
  const domain = [hostOf(request.origin), request.host ?? ""].find((name) =>
    signIn.isKnownDomain(name),
  );
  if (domain === undefined) return refused(403, "SIWE_DOMAIN_WRONG");
  return granted({ message: signIn.createMessage(address, domain, nowMs) });
}

async function answerToken(
  signIn: SignIn,
  { body }: SignInRequest,
  nowMs: number,
): Promise<SignInAnswer> {
  const value = parseBody(body);
  const { message, signature } = value ?? {};
  if (typeof message !== "string" || typeof signature !== "string") {
    return refused(400, "SIWE_REQUEST_MALFORMED");
  }
  const redeemed = await signIn.redeem(message, signature, nowMs);
  if (!redeemed.ok)
    return refused(statusOf(redeemed.error), redeemed.error.code, redeemed.error.field);
  const { token, account, expiresMs } = redeemed.value;
  return granted({
    token,
    account: addressToChecksumHex(account),
    expiresAt: new Date(expiresMs).toISOString(),
  });
}

function parseBody(body: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  if (body.length > SIGN_IN_BODY_BYTES_MAX) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function hostOf(origin: string | undefined): string {
  return URL.parse(origin ?? "")?.host ?? "";
}

/** 400 for what no wallet would send, 401 for what is right in form and not accepted. */
function statusOf({ code }: SignInError): number {
  switch (code) {
    case "SIWE_TOO_LONG":
    case "SIWE_MALFORMED":
    case "SIWE_ADDRESS_INVALID":
    case "SIWE_VERSION_UNKNOWN":
    case "SIWE_TIME_INVALID":
    case "SIWE_SIGNATURE_MALFORMED":
      return 400;
    case "SIWE_TOO_MANY":
      return 429;
    case "SIWE_DOMAIN_WRONG":
    case "SIWE_CHAIN_WRONG":
    case "SIWE_NONCE_UNKNOWN":
    case "SIWE_NONCE_EXPIRED":
    case "SIWE_NONCE_USED":
    case "SIWE_NOT_YET_VALID":
    case "SIWE_EXPIRED":
    case "SIWE_SIGNATURE_WRONG":
      return 401;
  }
}

function granted(body: SignInAnswer["body"]): SignInAnswer {
  return { status: 200, headers: NO_STORE, body };
}

function refused(status: number, code: string, field?: string): SignInAnswer {
  const error = field === undefined ? { code } : { code, field };
  return { status, headers: NO_STORE, body: { error } };
}
