import { connect, type SecureContext, type TLSSocket } from "node:tls";
import { err, type Result } from "../base/result.ts";
import type { Refusal } from "./link-reason.ts";
import type { Endpoint, PinnedKeys, Principal } from "./principal.ts";
import { identifyPeer, LINK_PROTOCOL, refusalOf } from "./tls-peer.ts";

export type DialContext = {
  readonly secureContext: SecureContext;
  readonly keys: PinnedKeys;
  readonly handshakeMs: number;
};

export type Dial = { abort(): void };

/**
 * Connects to a peer and checks that it is the one expected. `done` is called once, with a socket on
 * which nothing was sent yet, or with why there is none; never after `abort`.
 */
export function dialPeer(
  endpoint: Endpoint,
  expected: Principal,
  context: DialContext,
  done: (result: Result<TLSSocket, Refusal>) => void,
): Dial {
  const socket = connect({
    host: endpoint.host,
    port: endpoint.port,
    secureContext: context.secureContext,
    ALPNProtocols: [LINK_PROTOCOL],
    rejectUnauthorized: false, // identifyPeer decides, by the pinned key
  });
  let isOver = false;
  const finish = (result: Result<TLSSocket, Refusal> | undefined): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(deadline);
    if (result?.ok !== true) socket.destroy();
    if (result !== undefined) done(result);
  };
  const fail = (detail: string): void => {
    finish(err(refusalOf("PEER_HANDSHAKE_FAILED", socket, detail)));
  };
  const deadline = setTimeout(fail, context.handshakeMs, "timeout");
  // The listener stays: after an abort the socket may still report why it broke.
  socket.on("error", (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
  socket.once("close", () => fail("closed"));
  socket.once("secureConnect", () => {
    const identified = identifyPeer(socket, context.keys, expected);
    finish(identified.ok ? { ok: true, value: socket } : identified);
  });
  return { abort: () => finish(undefined) };
}
