/** What touching an account costs (EIP-2929), and where its code comes from (EIP-7702). */
import type { Machine } from "./machine.ts";
import type { Code } from "./world-state.ts";

export const WARM_ACCOUNT_GAS = 100;
export const COLD_ACCOUNT_GAS = 2600;

/** Warms the account. */
export function accountAccessGas(machine: Machine, address: bigint): number {
  return machine.world.warmAddress(address) ? WARM_ACCOUNT_GAS : COLD_ACCOUNT_GAS;
}

/** The account that this code delegates to, if it is a delegation designator: 0xef0100, address. */
export function delegateOf(code: Code): bigint | undefined {
  const { bytes } = code;
  if (bytes.length !== 23) return undefined;
  if (bytes[0] !== 0xef || bytes[1] !== 0x01 || bytes[2] !== 0x00) return undefined;
  let address = 0n;
  for (let index = 3; index < 23; index++) address = (address << 8n) | BigInt(bytes[index] ?? 0);
  return address;
}
