/** Who a caller is, once it is proven. */
export type Identity = {
  /** For logs and quotas: the account, the subject of a token, the name of a certificate. */
  readonly subject: string;
  /** The account that the caller proved to hold, or that its issuer vouches for. */
  readonly account: bigint | undefined;
  readonly roles: readonly string[];
  /** Whether anyone can make as many as they like: a wallet that nobody vouches for. */
  readonly isSelfMade?: boolean;
};

/** Why a caller is not let in, or not let to do this. */
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
