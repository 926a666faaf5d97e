/** Tokens of one issuer: ours (Sign-In with Ethereum) or one that the operator trusts. */
import { errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from "jose";
import { err, ok, type Result } from "../../base/result.ts";
import { parseAddress } from "../../chain/address.ts";
import type { AuthRefusal, Identity } from "./identity.ts";
import {
  DEFAULT_ROTATION_TIMES,
  openKeySource,
  type KeySource,
  type KeySourceOptions,
  type RotationTimes,
} from "./key-source.ts";
import { SIGN_IN_ISSUER, type SignIn } from "./sign-in.ts";

export type IssuerOptions = {
  /** The `iss` of its tokens. */
  readonly issuer: string;
  /** One of these must be in `aud`. */
  readonly audiences: readonly string[];
  readonly keys: KeySourceOptions;
  /** Where the roles stand in a token: a list of texts, or texts with spaces between them. */
  readonly rolesClaim: string;
  /** Where the account stands, if the issuer vouches for one. */
  readonly accountClaim: string;
  /** For tokens that name no role. */
  readonly defaultRoles: readonly string[];
  readonly clockToleranceMs: number;
  readonly rotation?: Partial<RotationTimes>;
};

export const DEFAULT_ISSUER_OPTIONS = {
  rolesClaim: "roles",
  accountClaim: "account",
  defaultRoles: [],
  clockToleranceMs: 30_000,
} as const;

export type VerifiedToken = { readonly identity: Identity; readonly expiresMs: number };

export type TokenIssuer = {
  readonly issuer: string;
  verify(token: string): Promise<Result<VerifiedToken, AuthRefusal>>;
};

type Claims = {
  readonly audiences: readonly string[];
  readonly clockToleranceMs: number;
  readonly identityOf: (payload: JWTPayload) => Identity | undefined;
};

const ROLES_MAX = 32;
const SUBJECT_LENGTH_MAX = 200;

/** Throws what openKeySource throws. */
export async function openIssuer(
  options: IssuerOptions,
  now: () => number = Date.now,
): Promise<TokenIssuer> {
  const times = { ...DEFAULT_ROTATION_TIMES, ...options.rotation };
  const source = await openKeySource(options.keys, times, now);
  const claims = {
    ...options,
    identityOf: (payload: JWTPayload) => readIdentity(payload, options),
  };
  return createIssuer(options.issuer, source, claims, now);
}

/** Our own tokens: their subject is the account. */
export function signInIssuer(signIn: SignIn, now: () => number = Date.now): TokenIssuer {
  const source = { algorithms: ["HS256"], key: signIn.secret };
  const claims: Claims = {
    audiences: [signIn.audience],
    clockToleranceMs: 0,
    identityOf: ({ sub = "" }) => {
      const account = parseAddress(sub);
      if (account === undefined) return undefined;
      return { subject: sub, account, roles: [], isSelfMade: true };
    },
  };
  return createIssuer(SIGN_IN_ISSUER, source, claims, now);
}

function createIssuer(
  issuer: string,
  { algorithms, key }: KeySource,
  { audiences, clockToleranceMs, identityOf }: Claims,
  now: () => number,
): TokenIssuer {
  const find: JWTVerifyGetKey = typeof key === "function" ? key : () => key;
  return {
    issuer,
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, find, {
          algorithms: [...algorithms],
          issuer,
          audience: [...audiences],
          clockTolerance: clockToleranceMs / 1000,
          currentDate: new Date(now()),
          requiredClaims: ["exp", "sub"],
        });
        const identity = identityOf(payload);
        if (identity === undefined) return err({ code: "AUTH_TOKEN_ACCOUNT_INVALID" });
        const expiresMs = (payload.exp ?? 0) * 1000 + clockToleranceMs;
        return ok({ identity, expiresMs });
      } catch (error) {
        return err({ code: refusalOf(error) });
      }
    },
  };
}

/**
 * Every other error of the library comes from fetching keys: a network error, an answer not 200.
 */
function refusalOf(error: unknown): AuthRefusal["code"] {
  if (error instanceof errors.JWTExpired) return "AUTH_TOKEN_EXPIRED";
  const isTokenAtFault =
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JWSSignatureVerificationFailed;
  return isTokenAtFault ? "AUTH_TOKEN_INVALID" : "AUTH_KEYS_UNAVAILABLE";
}

function readIdentity(payload: JWTPayload, options: IssuerOptions): Identity | undefined {
  const named = payload[options.accountClaim];
  const account = typeof named === "string" ? parseAddress(named) : undefined;
  // A malformed claim must not count as an absent one.
  if (named !== undefined && account === undefined) return undefined;
  const roles = readRoles(payload[options.rolesClaim]);
  const subject = (payload.sub ?? "").slice(0, SUBJECT_LENGTH_MAX);
  return { subject, account, roles: roles.length === 0 ? options.defaultRoles : roles };
}

function readRoles(claim: unknown): string[] {
  const values: unknown[] = typeof claim === "string" ? claim.split(" ") : asList(claim);
  const roles = values.filter((value) => typeof value === "string" && value !== "");
  return (roles as string[]).slice(0, ROLES_MAX);
}

function asList(claim: unknown): unknown[] {
  return Array.isArray(claim) ? (claim as unknown[]) : [];
}
