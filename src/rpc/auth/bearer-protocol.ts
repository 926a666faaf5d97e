/** Tokens of browsers' WebSockets. */
const BEARER_PROTOCOL = "bearer.";

/**
 * Browsers give WebSockets no headers: their token comes as a subprotocol, `bearer.<token>`, beside
 * the one that is spoken. What this returns stands for the header.
 */
export function bearerOfProtocols(protocols: string | undefined): string | undefined {
  const names = (protocols ?? "").split(",").map((name) => name.trim());
  const bearer = names.find(isBearerProtocol);
  return bearer === undefined ? undefined : `Bearer ${bearer.slice(BEARER_PROTOCOL.length)}`;
}

export function isBearerProtocol(name: string): boolean {
  return name.startsWith(BEARER_PROTOCOL);
}
