/** The codes that eth_simulateV1 has for what cannot be simulated, by our own. */
export const SIMULATION_CODES: ReadonlyMap<string, number> = new Map([
  ["TX_NONCE_TOO_LOW", -38_010],
  ["TX_NONCE_TOO_HIGH", -38_011],
  ["TX_FEE_BELOW_BASE_FEE", -38_012],
  ["TX_INTRINSIC_GAS_TOO_LOW", -38_013],
  ["TX_INSUFFICIENT_BALANCE", -38_014],
  ["TX_BLOCK_GAS_EXHAUSTED", -38_015],
  ["SIMULATION_NUMBER_INVALID", -38_020],
  ["SIMULATION_TIME_INVALID", -38_021],
  ["TX_SENDER_HAS_CODE", -38_024],
  ["TX_INITCODE_TOO_LARGE", -38_025],
  ["SIMULATION_TOO_LONG", -38_026],
]);
