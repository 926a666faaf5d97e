/** Under which name a caller's requests are counted and its long work waits for its turn. */
import type { IncomingMessage } from "node:http";
import { credentialsOf } from "../auth/access-control.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { clientOfAddress, clientOfIdentity } from "./client-name.ts";
import type { CallerNamer } from "../../api/chain-reader.ts";

/**
 * For one HTTP request, or for one WebSocket as long as it lasts. A caller that the operator knows
 * is named so wherever it calls from; all others are known by their address.
 */
export function createCallerNamer(
  authenticator: Authenticator | undefined,
  request: IncomingMessage,
): CallerNamer {
  const address = clientOfAddress(request.socket.remoteAddress);
  if (authenticator === undefined) return () => address;
  const credentials = credentialsOf(request);
  return async () => {
    const identified = await authenticator.identify(credentials);
    const identity = identified.ok ? identified.value : undefined;
    // Wallets are free to create: a limit by wallet would be no limit.
    const hasName = identity !== undefined && identity.isSelfMade !== true;
    return hasName ? clientOfIdentity(identity) : address;
  };
}
