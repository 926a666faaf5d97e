/** What no correct peer sends, whatever it knows of the chain. */
const FALSE_SIGNATURES: ReadonlySet<string> = new Set([
  "AUTH_SIGNATURE_INVALID",
  "TX_SENDER_UNRECOVERABLE",
]);

/** Whether a refusal with this code says so of what was refused. */
export function isForged(code: string): boolean {
  return FALSE_SIGNATURES.has(code) || code.startsWith("TX_SIGNATURE_") || code.startsWith("RLP_");
}
