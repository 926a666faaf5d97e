/** What a caller overrides of the chain: the last parameters of eth_call and its like. */
import type { AccountOverride, BlockOverrides, SlotOverride } from "../../api/call-request.ts";
import { parseAddress as readAddress } from "../../chain/address.ts";
import type { MethodContext } from "../method.ts";
import {
  assertKnownFields,
  invalidParameter,
  isAbsent,
  type JsonObject,
  parseAddressParameter,
  parseData,
  parseObject,
  parseQuantity,
  parseSlot,
  parseWord,
  type Place,
} from "./parameters.ts";
import { INVALID_PARAMS, RpcError } from "../rpc-error.ts";

const ACCOUNT_FIELDS: ReadonlySet<string> = new Set([
  ...["nonce", "balance", "code", "state", "stateDiff", "movePrecompileToAddress"],
]);
const BLOCK_FIELDS: ReadonlySet<string> = new Set([
  ...["number", "time", "gasLimit", "feeRecipient", "coinbase", "baseFeePerGas", "baseFee"],
  ...["blobBaseFee", "prevRandao", "random", "difficulty", "withdrawals", "parentBeaconRoot"],
]);

export function parseStateOverrides(
  value: unknown,
  place: Place,
  context: MethodContext,
): readonly AccountOverride[] {
  if (isAbsent(value)) return [];
  const accounts = Object.entries(parseObject(value, place));
  const { overrideAccountsMax } = context.limits;
  if (accounts.length > overrideAccountsMax) {
    const message = `invalid parameter ${place}: at most ${overrideAccountsMax} accounts`;
    throw new RpcError(INVALID_PARAMS, message);
  }
  return accounts.map(([key, fields]) => {
    const address = readAddress(key);
    if (address === undefined) throw invalidParameter(place, "addresses as keys", key);
    return parseAccount(
      address,
      parseObject(fields, `${place}.${key}`),
      `${place}.${key}`,
      context,
    );
  });
}

export function parseBlockOverrides(
  value: unknown,
  place: Place,
  { dialect }: MethodContext,
): BlockOverrides | undefined {
  if (isAbsent(value)) return undefined;
  const fields = parseObject(value, place);
  assertKnownFields(fields, place, BLOCK_FIELDS, dialect);
  const number = (bitsMax: number, ...names: readonly string[]): bigint | undefined => {
    const name = names.find((one) => !isAbsent(fields[one]));
    if (name === undefined) return undefined;
    return parseQuantity(fields[name], `${place}.${name}`, dialect, bitsMax);
  };
  const { feeRecipient = fields["coinbase"], prevRandao = fields["random"] } = fields;
  return {
    number: number(64, "number"),
    timestamp: number(64, "time"),
    gasLimit: number(64, "gasLimit"),
    baseFee: number(256, "baseFeePerGas", "baseFee"),
    blobBaseFee: number(256, "blobBaseFee"),
    coinbase: isAbsent(feeRecipient)
      ? undefined
      : parseAddressParameter(feeRecipient, `${place}.feeRecipient`),
    prevRandao: isAbsent(prevRandao) ? undefined : parseSlot(prevRandao, `${place}.prevRandao`),
  };
}

function parseAccount(
  address: bigint,
  fields: JsonObject,
  place: Place,
  { dialect, limits }: MethodContext,
): AccountOverride {
  assertKnownFields(fields, place, ACCOUNT_FIELDS, dialect);
  const { nonce, balance, code, state, stateDiff, movePrecompileToAddress: target } = fields;
  if (!isAbsent(state) && !isAbsent(stateDiff)) {
    const message = `invalid parameter ${place}: give state or stateDiff, not both`;
    throw new RpcError(INVALID_PARAMS, message);
  }
  const slots = (value: unknown, name: string): readonly SlotOverride[] | undefined =>
    isAbsent(value) ? undefined : parseSlots(value, `${place}.${name}`, limits.overrideSlotsMax);
  return {
    address,
    nonce: isAbsent(nonce) ? undefined : parseQuantity(nonce, `${place}.nonce`, dialect, 64),
    balance: isAbsent(balance) ? undefined : parseQuantity(balance, `${place}.balance`, dialect),
    code: isAbsent(code) ? undefined : parseData(code, `${place}.code`),
    storage: slots(state, "state"),
    slots: slots(stateDiff, "stateDiff"),
    precompileTarget: isAbsent(target)
      ? undefined
      : parseAddressParameter(target, `${place}.movePrecompileToAddress`),
  };
}

function parseSlots(value: unknown, place: Place, slotsMax: number): readonly SlotOverride[] {
  const entries = Object.entries(parseObject(value, place));
  if (entries.length > slotsMax) {
    throw new RpcError(INVALID_PARAMS, `invalid parameter ${place}: at most ${slotsMax} slots`);
  }
  return entries.map(([slot, word]) => ({
    slot: parseWord(slot, place),
    value: parseWord(word, `${place}.${slot}`),
  }));
}
