/** What a caller may do: by its roles (SPEC A5) and, where reads are permissioned, by READ (A4). */
import { err, ok, type Result } from "../../base/result.ts";
import type { Awaitable } from "../../api/awaitable.ts";
import { INVALID_PARAMS, PERMISSION_DENIED, RpcError } from "../rpc-error.ts";
import type { AuthRefusal, Identity } from "./identity.ts";
import { isOpenMethod, isWriteMethod, readTarget } from "./read-target.ts";

export type RoleOptions = {
  /** Names of methods; one that ends in `*` stands for all that begin so. */
  readonly methods: readonly string[];
  /** Whether the operator vouches for READ: its holders need no right in the contract. */
  readonly mayRead: boolean;
};

export type AccessOptions = {
  /** Whether every request needs an identity, whatever it asks for. */
  readonly isIdentityRequired: boolean;
  readonly isReadPermissioned: boolean;
  readonly roles: ReadonlyMap<string, RoleOptions>;
  /** What an identity without a role may call; a caller without an identity, too. */
  readonly methods: readonly string[];
};

export type AccessDependencies = {
  /** Whether the permission contract gives the account READ at the target, on the latest block. */
  readonly mayRead: (account: bigint, target: bigint) => Awaitable<boolean>;
};

/** By default nothing is asked of anyone. */
export const DEFAULT_ACCESS_OPTIONS: AccessOptions = {
  isIdentityRequired: false,
  isReadPermissioned: false,
  roles: new Map(),
  methods: ["*"],
};

export class AccessRules {
  readonly #options: AccessOptions;
  readonly #dependencies: AccessDependencies;
  /** Whether there is nothing to check: then nobody need ask. */
  readonly isOpen: boolean;

  constructor(options: AccessOptions, dependencies: AccessDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const { isIdentityRequired, isReadPermissioned, roles, methods } = options;
    this.isOpen =
      !isIdentityRequired && !isReadPermissioned && roles.size === 0 && methods.includes("*");
  }

  async check(
    identity: Identity | undefined,
    method: string,
    params: readonly unknown[],
  ): Promise<Result<void, AuthRefusal>> {
    const { isIdentityRequired, isReadPermissioned } = this.#options;
    if (identity === undefined && isIdentityRequired) return err({ code: "AUTH_MISSING" });
    if (!this.#isMethodAllowed(identity, method)) return err({ code: "AUTH_METHOD_DENIED" });
    if (!isReadPermissioned || isWriteMethod(method) || isOpenMethod(method)) return ok(undefined);
    if (identity === undefined) return err({ code: "AUTH_MISSING" });
    const hasRead = await this.#hasRead(identity, readTarget(method, params));
    return hasRead ? ok(undefined) : err({ code: "AUTH_READ_DENIED" });
  }

  async #hasRead(identity: Identity, target: bigint): Promise<boolean> {
    if (this.#rolesOf(identity).some(({ mayRead }) => mayRead)) return true;
    const { account } = identity;
    return account !== undefined && (await this.#dependencies.mayRead(account, target));
  }

  /** Roles that are not configured give nothing. */
  #rolesOf({ roles }: Identity): RoleOptions[] {
    return roles.flatMap((name) => this.#options.roles.get(name) ?? []);
  }

  #isMethodAllowed(identity: Identity | undefined, method: string): boolean {
    const hasRoles = identity !== undefined && identity.roles.length > 0;
    const lists = hasRoles
      ? this.#rolesOf(identity).map((role) => role.methods)
      : [this.#options.methods];
    return lists.some((list) => list.some((pattern) => isNamed(pattern, method)));
  }
}

/** What the caller gets to hear (SPEC A3, A4). */
export function toRpcError({ code }: AuthRefusal): RpcError {
  switch (code) {
    case "AUTH_READ_DENIED":
    case "AUTH_METHOD_DENIED":
      return new RpcError(PERMISSION_DENIED, "Permission denied", { code });
    case "AUTH_MISSING":
    case "AUTH_SCHEME_UNKNOWN":
    case "AUTH_TOKEN_MALFORMED":
    case "AUTH_TOKEN_TOO_LONG":
    case "AUTH_TOKEN_INVALID":
    case "AUTH_TOKEN_EXPIRED":
    case "AUTH_TOKEN_ACCOUNT_INVALID":
    case "AUTH_ISSUER_UNKNOWN":
    case "AUTH_KEYS_UNAVAILABLE":
      return new RpcError(INVALID_PARAMS, "Request not signed", { code });
  }
}

function isNamed(pattern: string, method: string): boolean {
  return pattern.endsWith("*") ? method.startsWith(pattern.slice(0, -1)) : method === pattern;
}
