/** Identifies callers by a bearer token of a trusted issuer, or by a certificate. */
import { decodeJwt } from "jose";
import { err, ok, type Result } from "../../base/result.ts";
import {
  certificateIdentity,
  type CertificateRule,
  type ClientCertificate,
} from "./certificate-identity.ts";
import type { AuthRefusal, Identity } from "./identity.ts";
import type { TokenIssuer, VerifiedToken } from "./token-issuer.ts";

/** What came with a request, or with the opening of a WebSocket. */
export type Credentials = {
  /** The header. */
  readonly authorization: string | undefined;
  /** Only one that TLS has verified: of a socket whose `authorized` is true. */
  readonly certificate: ClientCertificate | undefined;
};

export type Authenticator = {
  /**
   * Undefined for a caller without credentials. A token that is presented must be valid, also where
   * a certificate would suffice, so that the caller learns that its token has expired. It takes
   * precedence over a certificate.
   */
  identify(credentials: Credentials): Promise<Result<Identity | undefined, AuthRefusal>>;
};

export type AuthenticatorOptions = {
  readonly certificates: readonly CertificateRule[];
  /** Tokens that were verified lately, so that most requests cost no signature. */
  readonly cachedTokensMax?: number;
};

const TOKEN_LENGTH_MAX = 8_192;
const CACHED_TOKENS_MAX = 10_000;
/** A key that was withdrawn is no longer trusted after this time. */
const CACHE_TIME_MS = 60_000;
const BEARER = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i;

export function createAuthenticator(
  options: AuthenticatorOptions,
  issuers: readonly TokenIssuer[],
  now: () => number = Date.now,
): Authenticator {
  const byName = new Map(issuers.map((issuer) => [issuer.issuer, issuer]));
  const cache = new TokenCache(options.cachedTokensMax ?? CACHED_TOKENS_MAX);
  return {
    async identify({ authorization, certificate }) {
      if (authorization !== undefined) {
        const token = readBearer(authorization);
        if (!token.ok) return token;
        const known = cache.get(token.value, now());
        if (known !== undefined) return ok(known);
        const verified = await verify(token.value, byName);
        if (!verified.ok) return verified;
        cache.set(token.value, verified.value, now());
        return ok(verified.value.identity);
      }
      if (certificate === undefined) return ok(undefined);
      return ok(certificateIdentity(certificate, options.certificates));
    },
  };
}

function readBearer(header: string): Result<string, AuthRefusal> {
  if (header.length > TOKEN_LENGTH_MAX) return err({ code: "AUTH_TOKEN_TOO_LONG" });
  if (!/^Bearer /i.test(header)) return err({ code: "AUTH_SCHEME_UNKNOWN" });
  const token = BEARER.exec(header)?.[1];
  return token === undefined ? err({ code: "AUTH_TOKEN_MALFORMED" }) : ok(token);
}

async function verify(
  token: string,
  issuers: ReadonlyMap<string, TokenIssuer>,
): Promise<Result<VerifiedToken, AuthRefusal>> {
  let name: string | undefined;
  try {
    // Not trusted yet: it only selects the key to try, and verify compares it again.
    name = decodeJwt(token).iss;
  } catch {
    return err({ code: "AUTH_TOKEN_MALFORMED" });
  }
  const issuer = issuers.get(name ?? "");
  return issuer === undefined ? err({ code: "AUTH_ISSUER_UNKNOWN" }) : issuer.verify(token);
}

/** The oldest is evicted when there is no room. */
class TokenCache {
  readonly #countMax: number;
  readonly #entries = new Map<string, { readonly identity: Identity; readonly endMs: number }>();

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  get(token: string, nowMs: number): Identity | undefined {
    const entry = this.#entries.get(token);
    if (entry === undefined) return undefined;
    if (entry.endMs > nowMs) return entry.identity;
    this.#entries.delete(token);
    return undefined;
  }

  set(token: string, { identity, expiresMs }: VerifiedToken, nowMs: number): void {
    if (this.#entries.size >= this.#countMax) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    this.#entries.set(token, { identity, endMs: Math.min(expiresMs, nowMs + CACHE_TIME_MS) });
  }
}
