/** What a transaction costs before its first opcode. */

/** EIP-3860: twice the largest code. */
export const INIT_CODE_BYTES_MAX = 49_152;
export const INIT_CODE_WORD_GAS = 2;

const TRANSACTION_GAS = 21_000;
const CREATION_GAS = 32_000;
const ZERO_BYTE_GAS = 4;
const NONZERO_BYTE_GAS = 16;
const ACCESS_LIST_ADDRESS_GAS = 2400;
const ACCESS_LIST_SLOT_GAS = 1900;
/** EIP-7702, per authorization; what an existing account did not need comes back as a refund. */
const AUTHORIZATION_GAS = 25_000;
/** EIP-7623, per token: a zero byte is one, any other byte four. */
const FLOOR_GAS_PER_TOKEN = 10;

export type IntrinsicGasInput = {
  readonly data: Uint8Array;
  readonly isCreation: boolean;
  readonly accessListAddressCount: number;
  readonly accessListSlotCount: number;
  readonly authorizationCount: number;
};

export function intrinsicGas(input: IntrinsicGasInput): number {
  const { data } = input;
  const zeroCount = countZeros(data);
  const dataGas = ZERO_BYTE_GAS * zeroCount + NONZERO_BYTE_GAS * (data.length - zeroCount);
  const creationGas = input.isCreation
    ? CREATION_GAS + INIT_CODE_WORD_GAS * Math.ceil(data.length / 32)
    : 0;
  return (
    TRANSACTION_GAS +
    dataGas +
    creationGas +
    ACCESS_LIST_ADDRESS_GAS * input.accessListAddressCount +
    ACCESS_LIST_SLOT_GAS * input.accessListSlotCount +
    AUTHORIZATION_GAS * input.authorizationCount
  );
}

/** EIP-7623: a transaction pays at least this, however little it executes (from Prague on). */
export function calldataFloorGas(data: Uint8Array): number {
  const zeroCount = countZeros(data);
  const tokens = zeroCount + 4 * (data.length - zeroCount);
  return TRANSACTION_GAS + FLOOR_GAS_PER_TOKEN * tokens;
}

function countZeros(data: Uint8Array): number {
  let count = 0;
  for (const byte of data) if (byte === 0) count++;
  return count;
}
