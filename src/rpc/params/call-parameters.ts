/** The transaction object of eth_call and its like: an unsigned message. */
import { ZERO_ADDRESS } from "../../chain/address.ts";
import type { AccessList, Authorization, UnsignedTransaction } from "../../chain/transaction.ts";
import { equalBytes } from "../../base/bytes.ts";
import type { CallRequest } from "../../api/call-request.ts";
import type { Dialect, MethodContext } from "../method.ts";
import {
  assertKnownFields,
  invalidParameter,
  isAbsent,
  type JsonObject,
  parseAddressParameter,
  parseArray,
  parseData,
  parseObject,
  parseQuantity,
  parseWord,
  type Place,
} from "./parameters.ts";
import { INVALID_PARAMS, RpcError, SERVER_ERROR } from "../rpc-error.ts";

/** What the caller gave; what is absent depends on the state or on the limits. */
export type CallParameters = {
  readonly from: bigint;
  readonly to: bigint | undefined;
  readonly gas: bigint | undefined;
  readonly gasPrice: bigint | undefined;
  readonly maxFeePerGas: bigint | undefined;
  readonly maxPriorityFeePerGas: bigint | undefined;
  readonly value: bigint;
  readonly data: Uint8Array;
  readonly nonce: bigint | undefined;
  readonly chainId: bigint | undefined;
  readonly accessList: AccessList | undefined;
  readonly authorizationList: readonly Authorization[] | undefined;
};

const FIELDS: ReadonlySet<string> = new Set([
  ...["type", "from", "to", "gas", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "value"],
  ...["data", "input", "nonce", "chainId", "accessList", "authorizationList"],
]);
/** This chain has no blobs: a call that carries them must not run as if it had none. */
const BLOB_FIELDS = ["blobVersionedHashes", "maxFeePerBlobGas", "blobs"] as const;
const LIST_LENGTH_MAX = 10_000;
const NO_DATA = new Uint8Array(0);

export function parseCall(
  value: unknown,
  place: Place,
  { dialect }: MethodContext,
): CallParameters {
  const fields = parseObject(value, place);
  assertKnownFields(fields, place, FIELDS, dialect);
  const number = (name: string, bitsMax = 256): bigint | undefined => {
    const given = fields[name];
    return isAbsent(given) ? undefined : parseQuantity(given, `${place}.${name}`, dialect, bitsMax);
  };
  const call: CallParameters = {
    from: optionalAddress(fields, "from", place) ?? ZERO_ADDRESS,
    to: optionalAddress(fields, "to", place),
    gas: number("gas", 64),
    gasPrice: number("gasPrice"),
    maxFeePerGas: number("maxFeePerGas"),
    maxPriorityFeePerGas: number("maxPriorityFeePerGas"),
    value: number("value") ?? 0n,
    data: parseInput(fields, place),
    nonce: number("nonce", 64),
    chainId: number("chainId"),
    accessList: parseAccessList(fields["accessList"], `${place}.accessList`),
    authorizationList: parseAuthorizations(fields["authorizationList"], place, dialect),
  };
  for (const name of BLOB_FIELDS) {
    if (!isAbsent(fields[name]))
      throw invalidParameter(`${place}.${name}`, "no blobs", fields[name]);
  }
  // Clients send this as well; what kind of transaction it is follows from the other fields.
  number("type", 8);
  assertPrices(call, place);
  return call;
}

/** Throws RpcError for another chain. `gasMax` is what a call may have that names no limit, and the most that it is given. */
export function callToRequest(
  call: CallParameters,
  { chainId, nonce, gasMax }: CallDefaults,
): CallRequest {
  if (call.chainId !== undefined && call.chainId !== chainId) {
    const message = `chainId does not match node's (have=${call.chainId}, want=${chainId})`;
    throw new RpcError(SERVER_ERROR, message);
  }
  const { gas = gasMax, to, value, data, accessList, authorizationList } = call;
  const gasLimit = gas < gasMax ? gas : gasMax;
  const shared = { nonce: call.nonce ?? nonce, gasLimit, to, value, data };
  return { sender: call.from, transaction: createTransaction() };

  function createTransaction(): UnsignedTransaction {
    const { maxPriorityFeePerGas = 0n, gasPrice = 0n } = call;
    const { maxFeePerGas = maxPriorityFeePerGas } = call;
    const fees = { chainId, maxFeePerGas, maxPriorityFeePerGas, accessList: accessList ?? [] };
    if (authorizationList !== undefined && to !== undefined) {
      return { type: 4, ...shared, ...fees, to, authorizationList };
    }
    if (call.maxFeePerGas !== undefined || call.maxPriorityFeePerGas !== undefined) {
      return { type: 2, ...shared, ...fees };
    }
    if (accessList !== undefined) return { type: 1, chainId, ...shared, gasPrice, accessList };
    return { type: 0, chainId, ...shared, gasPrice };
  }
}

export type CallDefaults = {
  readonly chainId: bigint;
  readonly nonce: bigint;
  readonly gasMax: bigint;
};

function optionalAddress(fields: JsonObject, name: string, place: Place): bigint | undefined {
  const given = fields[name];
  return isAbsent(given) ? undefined : parseAddressParameter(given, `${place}.${name}`);
}

/** `input` is the name of the specification, `data` the older one: both only if they are equal. */
function parseInput({ input, data }: JsonObject, place: Place): Uint8Array {
  const first = isAbsent(input) ? undefined : parseData(input, `${place}.input`);
  const second = isAbsent(data) ? undefined : parseData(data, `${place}.data`);
  if (first !== undefined && second !== undefined && !equalBytes(first, second)) {
    throw new RpcError(
      INVALID_PARAMS,
      `invalid parameter ${place}: input and data differ; give one of them`,
    );
  }
  return first ?? second ?? NO_DATA;
}

function parseAccessList(value: unknown, place: Place): AccessList | undefined {
  if (isAbsent(value)) return undefined;
  return parseArray(value, place, LIST_LENGTH_MAX).map((entry, index) => {
    const entryPlace = `${place}.${index}`;
    const { address, storageKeys } = parseObject(entry, entryPlace);
    const keysPlace = `${entryPlace}.storageKeys`;
    const keys = isAbsent(storageKeys) ? [] : parseArray(storageKeys, keysPlace, LIST_LENGTH_MAX);
    return {
      address: parseAddressParameter(address, `${entryPlace}.address`),
      storageKeys: keys.map((key, place) => parseWord(key, `${keysPlace}.${place}`)),
    };
  });
}

function parseAuthorizations(
  value: unknown,
  callPlace: Place,
  dialect: Dialect,
): readonly Authorization[] | undefined {
  if (isAbsent(value)) return undefined;
  const place = `${callPlace}.authorizationList`;
  const entries = parseArray(value, place, LIST_LENGTH_MAX);
  if (entries.length === 0) throw invalidParameter(place, "at least one authorization", value);
  return entries.map((entry, index) => {
    const fields = parseObject(entry, `${place}.${index}`);
    const number = (name: string, bitsMax: number): bigint =>
      parseQuantity(fields[name], `${place}.${index}.${name}`, dialect, bitsMax);
    return {
      chainId: number("chainId", 256),
      address: parseAddressParameter(fields["address"], `${place}.${index}.address`),
      nonce: number("nonce", 64),
      yParity: Number(number("yParity", 8)),
      r: number("r", 256),
      s: number("s", 256),
    };
  });
}

function assertPrices(call: CallParameters, place: Place): void {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = call;
  const refuse = (message: string): never => {
    throw new RpcError(INVALID_PARAMS, `invalid parameter ${place}: ${message}`);
  };
  if (
    gasPrice !== undefined &&
    (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined)
  ) {
    refuse("give gasPrice, or maxFeePerGas and maxPriorityFeePerGas, not both");
  }
  if (gasPrice !== undefined && call.authorizationList !== undefined) {
    refuse("an authorizationList goes with maxFeePerGas, not with gasPrice");
  }
  if (call.authorizationList !== undefined && call.to === undefined) {
    refuse("a transaction with an authorizationList cannot create a contract: give `to`");
  }
  if (maxFeePerGas !== undefined && maxFeePerGas < (maxPriorityFeePerGas ?? 0n)) {
    refuse("maxFeePerGas is below maxPriorityFeePerGas");
  }
}
