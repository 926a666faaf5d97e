/** Which methods read, and of what, for the READ right (docs/permissions.md). */
import { parseAddress } from "../../chain/address.ts";
import { ANYONE } from "../../chain/permissions.ts";
import { isObject } from "../params/parameters.ts";

/** They need a right of their signer, not of whoever brings them. */
const WRITE_METHODS: ReadonlySet<string> = new Set([
  "eth_sendRawTransaction",
  "eth_sendRawTransactionSync",
]);

/** What a wallet must know before it can sign in; the genesis is no secret. */
const OPEN_METHODS: ReadonlySet<string> = new Set(["eth_chainId", "net_version"]);

/** The account is the first parameter. */
const ACCOUNT_METHODS: ReadonlySet<string> = new Set([
  "eth_getBalance",
  "eth_getCode",
  "eth_getProof",
  "eth_getStorageAt",
  "eth_getTransactionCount",
]);

/** The first parameter is a call; after the block come overrides. */
const CALL_METHODS: ReadonlySet<string> = new Set([
  "eth_call",
  "eth_createAccessList",
  "eth_estimateGas",
]);
const CALL_PARAMS_MAX = 2;

export function isWriteMethod(method: string): boolean {
  return WRITE_METHODS.has(method);
}

export function isOpenMethod(method: string): boolean {
  return OPEN_METHODS.has(method);
}

/** What the request is about, or ANYONE: then READ is needed everywhere. */
export function readTarget(method: string, params: readonly unknown[]): bigint {
  const [first] = params;
  if (ACCOUNT_METHODS.has(method)) return addressOf(first);
  if (!CALL_METHODS.has(method) || !isObject(first)) return ANYONE;
  // Code that the caller makes up can read everything.
  const isOverridden = params.length > CALL_PARAMS_MAX;
  const hasDelegations = "authorizationList" in first;
  return isOverridden || hasDelegations ? ANYONE : addressOf(first["to"]);
}

function addressOf(value: unknown): bigint {
  return typeof value === "string" ? (parseAddress(value) ?? ANYONE) : ANYONE;
}
