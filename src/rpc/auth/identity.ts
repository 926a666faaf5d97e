/** The proven identity of a caller. */
export type Identity = {
  /** For logs and quotas: the account, the subject of a token, the name of a certificate. */
  readonly subject: string;
  /** The account that the caller proved to hold, or that its issuer vouches for. */
  readonly account: bigint | undefined;
  readonly roles: readonly string[];
  /** Whether identities of this kind are free to create, as a wallet without an issuer is. */
  readonly isSelfMade?: boolean;
};

/** Why a caller is not authenticated, or not authorized. */
export type AuthErrorCode =
  | "AUTH_MISSING"
  | "AUTH_SCHEME_UNKNOWN"
  | "AUTH_TOKEN_MALFORMED"
  | "AUTH_TOKEN_TOO_LONG"
  | "AUTH_TOKEN_INVALID"
  | "AUTH_TOKEN_EXPIRED"
  | "AUTH_TOKEN_ACCOUNT_INVALID"
  | "AUTH_ISSUER_UNKNOWN"
  | "AUTH_KEYS_UNAVAILABLE"
  | "AUTH_METHOD_DENIED"
  | "AUTH_READ_DENIED"
  | "AUTH_FROM_DENIED";

export type AuthRefusal = { readonly code: AuthErrorCode };
