/**
 * Sign-In with Ethereum (EIP-4361): a caller signs a message that names this node, this chain and
 * a nonce of ours with its wallet, and gets a token that says which account it holds.
 */
import { SignJWT } from "jose";
import { randomBytes } from "node:crypto";
import { parseHex } from "../../base/hex.ts";
import { invariant } from "../../base/invariant.ts";
import { err, ok, type Result } from "../../base/result.ts";
import { addressToChecksumHex } from "../../chain/address.ts";
import { Nonces } from "./nonces.ts";
import { recoverPersonalSigner } from "./personal-message.ts";
import {
  formatSiweMessage,
  parseSiweMessage,
  type SiweMessage,
  type SiweParseError,
} from "./siwe-message.ts";

export type SignInOptions = {
  readonly chainId: bigint;
  /** What the message may name as its domain: host and port, as browsers show them, in lower
   * case. `:*` in place of the port stands for any port and for none. */
  readonly domains: readonly string[];
  readonly tokenLifetimeMs: number;
  readonly nonceLifetimeMs: number;
  /** Sign-ins within the lifetime of a nonce. */
  readonly usedNoncesMax: number;
  /** Signs the tokens; of at least 32 bytes. Without one, tokens end with the process. */
  readonly secret?: Uint8Array | undefined;
};

/** Pages of this machine; the operator adds others. */
export const DEFAULT_SIGN_IN_OPTIONS = {
  domains: ["localhost:*", "127.0.0.1:*", "[::1]:*"],
  tokenLifetimeMs: 60 * 60 * 1_000,
  nonceLifetimeMs: 5 * 60 * 1_000,
  usedNoncesMax: 100_000,
} as const;

export type SignInErrorCode =
  | SiweParseError["code"]
  | "SIWE_DOMAIN_WRONG"
  | "SIWE_CHAIN_WRONG"
  | "SIWE_NONCE_UNKNOWN"
  | "SIWE_NONCE_EXPIRED"
  | "SIWE_NONCE_USED"
  | "SIWE_TOO_MANY"
  | "SIWE_NOT_YET_VALID"
  | "SIWE_EXPIRED"
  | "SIWE_SIGNATURE_MALFORMED"
  | "SIWE_SIGNATURE_WRONG";

export type SignInError = { readonly code: SignInErrorCode; readonly field?: string };

export type IssuedToken = {
  readonly token: string;
  readonly account: bigint;
  readonly expiresMs: number;
};

/** The issuer in our own tokens: an operator's issuer must have another name. */
export const SIGN_IN_ISSUER = "quorate-sign-in";
export const SECRET_SIZE_MIN = 32;
/** How far the clock of a wallet may be ahead of ours. */
const CLOCK_SKEW_MS = 60_000;
const STATEMENT = "Sign in to read from this network.";

export class SignIn {
  readonly #options: SignInOptions;
  readonly #nonces: Nonces;
  /** Of the tokens. Secret: never log it. */
  readonly secret: Uint8Array;

  constructor(options: SignInOptions) {
    this.#options = options;
    this.#nonces = new Nonces({
      lifetimeMs: options.nonceLifetimeMs,
      usedMax: options.usedNoncesMax,
    });
    this.secret = options.secret ?? randomBytes(SECRET_SIZE_MIN);
    invariant(this.secret.length >= SECRET_SIZE_MIN, "the configuration refuses short secrets");
  }

  get audience(): string {
    return `eip155:${this.#options.chainId}`;
  }

  /** For callers that write the message themselves. */
  createNonce(nowMs: number): string {
    return this.#nonces.create(nowMs);
  }

  /** The message for a wallet to sign, for callers that have only `personal_sign`. */
  createMessage(address: bigint, domain: string, nowMs: number): string {
    const scheme = isLocal(domain) ? "http" : "https";
    return formatSiweMessage({
      scheme: undefined,
      domain,
      address,
      statement: STATEMENT,
      uri: `${scheme}://${domain}`,
      chainId: this.#options.chainId,
      nonce: this.createNonce(nowMs),
      issuedAtMs: nowMs,
      expirationMs: nowMs + this.#options.tokenLifetimeMs,
      notBeforeMs: undefined,
      requestId: undefined,
      resources: [],
    });
  }

  isKnownDomain(domain: string): boolean {
    const name = domain.toLowerCase();
    const anyPort = `${name.replace(/:\d+$/, "")}:*`;
    return this.#options.domains.some((known) => known === name || known === anyPort);
  }

  /** A token for the account that signed the message, once per nonce. */
  async redeem(
    text: string,
    signatureHex: string,
    nowMs: number,
  ): Promise<Result<IssuedToken, SignInError>> {
    const parsed = parseSiweMessage(text);
    if (!parsed.ok) return parsed;
    const message = parsed.value;
    const fault = this.#check(message, nowMs) ?? checkSignature(message, text, signatureHex);
    if (fault !== undefined) return err({ code: fault });
    // Checked last, and used up only with a valid signature: an eavesdropper cannot invalidate a
    // nonce.
    const used = this.#nonces.use(message.nonce, nowMs);
    if (used !== "good")
      return err({ code: used === "full" ? "SIWE_TOO_MANY" : "SIWE_NONCE_USED" });
    // The owner agreed to a time in the message; the token does not outlive it.
    const longestMs = nowMs + this.#options.tokenLifetimeMs;
    const expiresMs = Math.min(longestMs, message.expirationMs ?? longestMs);
    const token = await this.#issue(message.address, nowMs, expiresMs);
    return ok({ token, account: message.address, expiresMs });
  }

  #check(message: SiweMessage, nowMs: number): SignInErrorCode | undefined {
    const { domain, chainId, issuedAtMs, notBeforeMs, expirationMs } = message;
    if (!this.isKnownDomain(domain)) return "SIWE_DOMAIN_WRONG";
    if (chainId !== this.#options.chainId) return "SIWE_CHAIN_WRONG";
    if (issuedAtMs > nowMs + CLOCK_SKEW_MS) return "SIWE_NOT_YET_VALID";
    if (notBeforeMs !== undefined && notBeforeMs > nowMs) return "SIWE_NOT_YET_VALID";
    if (expirationMs !== undefined && expirationMs <= nowMs) return "SIWE_EXPIRED";
    switch (this.#nonces.check(message.nonce, nowMs)) {
      case "good":
      case "full":
        return undefined;
      case "unknown":
        return "SIWE_NONCE_UNKNOWN";
      case "expired":
        return "SIWE_NONCE_EXPIRED";
      case "used":
        return "SIWE_NONCE_USED";
    }
  }

  #issue(account: bigint, nowMs: number, expiresMs: number): Promise<string> {
    return new SignJWT({})
      .setProtectedHeader({ alg: "HS256", typ: "JWT" })
      .setIssuer(SIGN_IN_ISSUER)
      .setAudience(this.audience)
      .setSubject(addressToChecksumHex(account))
      .setIssuedAt(Math.floor(nowMs / 1000))
      .setExpirationTime(Math.floor(expiresMs / 1000))
      .sign(this.secret);
  }
}

function checkSignature(
  { address }: SiweMessage,
  text: string,
  signatureHex: string,
): SignInErrorCode | undefined {
  const signature = parseHex(signatureHex);
  if (signature?.length !== 65) return "SIWE_SIGNATURE_MALFORMED";
  return recoverPersonalSigner(text, signature) === address ? undefined : "SIWE_SIGNATURE_WRONG";
}

function isLocal(domain: string): boolean {
  return /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(domain);
}
