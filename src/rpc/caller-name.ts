/** Under which name one HTTP request, or one WebSocket as long as it lasts, is counted. */
import type { IncomingMessage } from "node:http";
import { credentialsOf } from "./auth/access-control.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import { clientOfAddress, clientOfIdentity } from "./server/client-name.ts";
import type { CallerName } from "./method.ts";

/** A caller that the operator knows has its own name wherever it is; others have their address. */
export function createCallerName(
  authenticator: Authenticator | undefined,
  request: IncomingMessage,
): CallerName {
  // Now: a socket that was closed has no address.
  const address = clientOfAddress(request.socket.remoteAddress);
  if (authenticator === undefined) return () => address;
  const credentials = credentialsOf(request);
  return async () => {
    const identified = await authenticator.identify(credentials);
    const identity = identified.ok ? identified.value : undefined;
    // With a new wallet for every second, there would be no limit.
    const hasName = identity !== undefined && identity.isSelfMade !== true;
    return hasName ? clientOfIdentity(identity) : address;
  };
}
