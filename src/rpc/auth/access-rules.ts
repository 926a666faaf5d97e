/** What a caller may do: by its roles (SPEC A5) and, where reads are permissioned, by READ (A4). */
import { err, ok, type Result } from "../../base/result.ts";
import type { Hex } from "../../base/hex.ts";
import { ANYONE } from "../../chain/permissions.ts";
import type { Awaitable } from "../../api/awaitable.ts";
import { INVALID_PARAMS, PERMISSION_DENIED, RpcError } from "../rpc-error.ts";
import type { AuthRefusal, Identity } from "./identity.ts";
import { accessClassOf, accountTarget, callAccess } from "./access-class.ts";

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
  /** What a call of the target at that block runs. Throws RpcError for an unknown block. */
  readonly calledCode: (target: bigint, block: unknown) => Awaitable<CalledCode>;
};

export type CalledCode = {
  readonly blockHash: Hex;
  /** Whether the target is an account whose holder chose the code (EIP-7702). */
  readonly isDelegated: boolean;
};

type Params = readonly unknown[];

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
  /** Whether there is nothing to check: then the caller need not be identified. */
  readonly isOpen: boolean;

  constructor(options: AccessOptions, dependencies: AccessDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const { isIdentityRequired, isReadPermissioned, roles, methods } = options;
    this.isOpen =
      !isIdentityRequired && !isReadPermissioned && roles.size === 0 && methods.includes("*");
  }

  get isIdentityRequired(): boolean {
    return this.#options.isIdentityRequired;
  }

  /** The parameters to run the method with: a call is pinned to the block that was checked. */
  async check(
    identity: Identity | undefined,
    method: string,
    params: Params,
  ): Promise<Result<Params, AuthRefusal>> {
    const { isIdentityRequired, isReadPermissioned } = this.#options;
    if (identity === undefined && isIdentityRequired) return err({ code: "AUTH_MISSING" });
    if (!this.#isMethodAllowed(identity, method)) return err({ code: "AUTH_METHOD_DENIED" });
    const access = accessClassOf(method);
    if (!isReadPermissioned || access === "open" || access === "submit") return ok(params);
    if (identity === undefined) return err({ code: "AUTH_MISSING" });
    if (access === "call") return this.#checkCall(identity, params);
    const target = access === "account" ? accountTarget(params) : ANYONE;
    const hasRead = await this.#hasRead(identity, target);
    return hasRead ? ok(params) : err({ code: "AUTH_READ_DENIED" });
  }

  /**
   * READ at every target includes what any contract would reveal to any account. With less, a
   * caller may name only itself as sender, because contracts decide by `msg.sender` what to reveal;
   * and it may run only code that the holder of the target did not choose, because chosen code can
   * read everything.
   */
  async #checkCall(identity: Identity, params: Params): Promise<Result<Params, AuthRefusal>> {
    if (await this.#hasRead(identity, ANYONE)) return ok(params);
    const { target, from, block } = callAccess(params);
    if (target === ANYONE || !(await this.#hasRead(identity, target))) {
      return err({ code: "AUTH_READ_DENIED" });
    }
    if (from !== undefined && from !== identity.account) return err({ code: "AUTH_FROM_DENIED" });
    const { blockHash, isDelegated } = await this.#dependencies.calledCode(target, block);
    if (isDelegated) return err({ code: "AUTH_READ_DENIED" });
    return ok([params[0], { blockHash }]);
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

/** The errors that the caller receives (SPEC A3, A4). */
export function toRpcError({ code }: AuthRefusal): RpcError {
  switch (code) {
    case "AUTH_READ_DENIED":
    case "AUTH_METHOD_DENIED":
    case "AUTH_FROM_DENIED":
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
