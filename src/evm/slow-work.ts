/**
 * Some opcodes take longer for their gas than all others: bigints of this engine cannot be faster.
 * What they use is counted, so that the block executor can bound it (docs/adr/0010).
 *
 * The count is a function of what is executed, never of caches: replicas must agree on it.
 */
export type SlowWork = {
  /** The least gas that the slow opcodes so far cost, with what pushed their operands. */
  slowGas: number;
};

/** MLOAD or CALLDATALOAD of a word of more than 128 bits. */
export const WIDE_LOAD_GAS = 3 + 2;
/** SDIV or SMOD with a negative operand. */
export const NEGATIVE_DIVISION_GAS = 5 + 2 * 2;
/** MULMOD of a product of more than 256 bits. */
export const WIDE_MULMOD_GAS = 8 + 3 * 2;
