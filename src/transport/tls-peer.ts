/**
 * TLS as this network uses it: 1.3 only, both sides prove a key, no authority, no dates, no names.
 */
import { constants } from "node:crypto";
import type { SecureContextOptions, TLSSocket } from "node:tls";
import { err, ok, type Result } from "../base/result.ts";
import { readCertificateKey, type TlsIdentity } from "../crypto/certificate.ts";
import type { Refusal, RefusalCode } from "./link-reason.ts";
import type { PinnedKeys, Principal } from "./principal.ts";

/** Names the frame format: a peer that speaks another one is refused before the first frame. */
export const LINK_PROTOCOL = "quorate/1";

export function createSecureOptions(identity: TlsIdentity): SecureContextOptions {
  return {
    cert: identity.certificatePem,
    key: identity.privateKeyPem,
    minVersion: "TLSv1.3",
    maxVersion: "TLSv1.3",
    ciphers: "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256",
    // Links live for days: a resumed session would save nothing and be one more way in.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/**
 * Who is at the other end of a finished handshake. The handshake proved that the peer holds the
 * private key of its certificate; whether that key may talk to us is decided here and only here,
 * so Node's own verification (authorities, dates, host names) is off.
 */
export function identifyPeer(
  socket: TLSSocket,
  keys: PinnedKeys,
  expected: Principal | undefined,
): Result<Principal, Refusal> {
  const certificate = socket.getPeerX509Certificate();
  const publicKey = certificate === undefined ? undefined : readCertificateKey(certificate.raw);
  const principal = publicKey === undefined ? undefined : keys.principalOf(publicKey);
  if (principal === undefined) return err(refusalOf("PEER_KEY_UNKNOWN", socket));
  if (expected !== undefined && principal !== expected) {
    return err(refusalOf("PEER_KEY_UNEXPECTED", socket));
  }
  if (socket.alpnProtocol !== LINK_PROTOCOL) return err(refusalOf("PEER_PROTOCOL_UNKNOWN", socket));
  return ok(principal);
}

export function refusalOf(
  code: RefusalCode,
  socket: { readonly remoteAddress?: string | undefined; readonly remotePort?: number | undefined },
  detail?: string,
): Refusal {
  return { code, remote: remoteName(socket), detail };
}

export function remoteName(socket: {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}): string {
  return `${socket.remoteAddress ?? "?"}:${socket.remotePort ?? 0}`;
}
