/** Authentication and authorization, as the server uses them. */
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import type { Result } from "../../base/result.ts";
import type { MethodCheck } from "../method.ts";
import { type AccessRules, toRpcError } from "./access-rules.ts";
import type { Authenticator, Credentials } from "./authenticator.ts";
import { bearerOfProtocols } from "./bearer-protocol.ts";
import type { AuthRefusal, Identity } from "./identity.ts";
import type { SignIn } from "./sign-in.ts";

export type AccessControl = {
  readonly rules: AccessRules;
  readonly authenticator: Authenticator;
  /** Undefined where wallets cannot sign in. */
  readonly signIn: SignIn | undefined;
};

/** What came with a request, or with the opening of a WebSocket. */
export function credentialsOf({ headers, socket }: IncomingMessage): Credentials {
  const { authorization, "sec-websocket-protocol": protocols } = headers;
  // Without `authorized`, anyone's own certificate could claim to be someone.
  const isVerified = socket instanceof TLSSocket && socket.authorized;
  return {
    authorization: authorization ?? bearerOfProtocols(protocols),
    certificate: isVerified ? socket.getPeerCertificate() : undefined,
  };
}

/** Whether a connection with these credentials can be of any use. */
export async function mayConnect(
  { rules, authenticator }: AccessControl,
  credentials: Credentials,
): Promise<boolean> {
  const identified = await authenticator.identify(credentials);
  return identified.ok && (identified.value !== undefined || !rules.isIdentityRequired);
}

/**
 * The check for the requests of one message: the caller is identified once for all of them, and
 * again for the next message, because tokens expire.
 */
export function createMethodCheck(
  { rules, authenticator }: AccessControl,
  credentials: Credentials,
): MethodCheck {
  let identified: Promise<Result<Identity | undefined, AuthRefusal>> | undefined;
  return async (method, params) => {
    identified ??= authenticator.identify(credentials);
    const identity = await identified;
    if (!identity.ok) throw toRpcError(identity.error);
    const checked = await rules.check(identity.value, method, params);
    if (!checked.ok) throw toRpcError(checked.error);
    return checked.value;
  };
}
