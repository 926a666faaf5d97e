/** Access control of ethrpc from the settings: reads keys and opens issuers. */
import { readFileSync } from "node:fs";
import { CodedError } from "../base/coded-error.ts";
import type { GenesisConfig } from "../chain/genesis.ts";
import type { RpcAccessConfig } from "../config/rpc-access-settings.ts";
import type { AccessControl } from "../rpc/auth/access-control.ts";
import { AccessRules } from "../rpc/auth/access-rules.ts";
import { createAuthenticator } from "../rpc/auth/authenticator.ts";
import type { KeySourceOptions } from "../rpc/auth/key-source.ts";
import { createCalledCode, createReadRight } from "../rpc/auth/read-right.ts";
import { DEFAULT_SIGN_IN_OPTIONS, SECRET_SIZE_MIN, SignIn } from "../rpc/auth/sign-in.ts";
import {
  DEFAULT_ISSUER_OPTIONS,
  openIssuer,
  signInIssuer,
  type TokenIssuer,
} from "../rpc/auth/token-issuer.ts";
import type { StateAtReader } from "../api/chain-reader.ts";
import { shownPath } from "./shown-path.ts";

type Genesis = Pick<GenesisConfig, "chainId" | "isReadPermissioned">;

/** Throws AUTH_SECRET_TOO_SHORT, AUTH_JWKS_FILE_INVALID, AUTH_JWKS_URL_INVALID. */
export async function openAccess(
  config: RpcAccessConfig,
  genesis: Genesis,
  reader: StateAtReader,
): Promise<AccessControl> {
  const signIn = createSignIn(config, genesis);
  const issuers: TokenIssuer[] = signIn === undefined ? [] : [signInIssuer(signIn)];
  const keys = keysOf(config);
  const issuer = config["rpc.auth.issuer"];
  if (issuer !== undefined && keys !== undefined) {
    issuers.push(
      await openIssuer({
        ...DEFAULT_ISSUER_OPTIONS,
        issuer,
        keys,
        audiences: config["rpc.auth.audience"],
        rolesClaim: config["rpc.auth.rolesClaim"],
        accountClaim: config["rpc.auth.accountClaim"],
        defaultRoles: config["rpc.auth.defaultRoles"],
      }),
    );
  }
  const rules = new AccessRules(
    {
      isIdentityRequired: config["rpc.auth.required"],
      isReadPermissioned: genesis.isReadPermissioned,
      roles: new Map(config["rpc.auth.roles"].map(({ name, ...role }) => [name, role])),
      methods: config["rpc.auth.methods"],
    },
    { mayRead: createReadRight(reader), calledCode: createCalledCode(reader) },
  );
  const certificates = config["rpc.auth.certificates"];
  return { rules, signIn, authenticator: createAuthenticator({ certificates }, issuers) };
}

/** Where every caller needs a token, a wallet that anyone can create must not replace it. */
function createSignIn(config: RpcAccessConfig, genesis: Genesis): SignIn | undefined {
  const isDefault = genesis.isReadPermissioned && !config["rpc.auth.required"];
  if (!(config["rpc.auth.signIn"] ?? isDefault)) return undefined;
  const secretFile = config["rpc.auth.signInSecretFile"];
  return new SignIn({
    ...DEFAULT_SIGN_IN_OPTIONS,
    chainId: genesis.chainId,
    domains: config["rpc.auth.signInDomains"],
    tokenLifetimeMs: config["rpc.auth.tokenLifetimeSeconds"] * 1_000,
    secret: secretFile === undefined ? undefined : readSecret(secretFile),
  });
}

function keysOf(config: RpcAccessConfig): KeySourceOptions | undefined {
  const secretFile = config["rpc.auth.secretFile"];
  if (secretFile !== undefined) {
    return {
      kind: "secret",
      secret: readSecret(secretFile),
      reread: () => rereadSecret(secretFile),
    };
  }
  const path = config["rpc.auth.jwksFile"];
  if (path !== undefined) return { kind: "file", path };
  const url = config["rpc.auth.jwksUrl"];
  return url === undefined ? undefined : { kind: "url", url };
}

/** Undefined while the file is being replaced, or holds nothing that can be used. */
function rereadSecret(file: string): Uint8Array | undefined {
  try {
    return readSecret(file);
  } catch {
    return undefined;
  }
}

/** Its text, without the line break that editors leave at the end. */
function readSecret(file: string): Uint8Array {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    const reason = "it cannot be opened";
    throw new CodedError("KEY_UNREADABLE", { path: shownPath(file), reason }, error);
  }
  const secret = new TextEncoder().encode(text);
  if (secret.length >= SECRET_SIZE_MIN) return secret;
  throw new CodedError("AUTH_SECRET_TOO_SHORT", { bytesMin: SECRET_SIZE_MIN });
}
