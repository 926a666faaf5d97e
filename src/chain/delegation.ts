/** EIP-7702: code that says which contract's code stands for an account's own. */
export const DELEGATION_SIZE = 23;

/** Whether the code is a delegation and not a contract. */
export function isDelegation(code: Uint8Array): boolean {
  return code.length === DELEGATION_SIZE && code[0] === 0xef && code[1] === 0x01 && code[2] === 0;
}
