import type { TlsIdentity } from "../crypto/certificate.ts";
import type { Endpoint, Peer, Principal } from "./principal.ts";

const MEBIBYTE = 1024 * 1024;

/** What a peer may send, and what may wait for it. */
export type PeerLimits = {
  readonly frameSizeMax: number;
  /** Reading stops above these rates, so the peer's own queue fills; nothing is thrown away. */
  readonly bytesPerSecond: number;
  readonly framesPerSecond: number;
  /** Bytes that may wait to be sent to the peer; a frame beyond is not taken. */
  readonly queueBytesMax: number;
};

export const REPLICA_LIMITS: PeerLimits = {
  frameSizeMax: 32 * MEBIBYTE,
  bytesPerSecond: 256 * MEBIBYTE,
  framesPerSecond: 200_000,
  queueBytesMax: 64 * MEBIBYTE,
};

/** Transactions come one by one from client nodes; blocks go to them. */
export const CLIENT_LIMITS: PeerLimits = {
  frameSizeMax: MEBIBYTE,
  bytesPerSecond: 32 * MEBIBYTE,
  framesPerSecond: 50_000,
  queueBytesMax: 64 * MEBIBYTE,
};

export type LinkTiming = {
  /** The first retry waits this long, each further one twice as long, with jitter. */
  readonly reconnectMinMs: number;
  readonly reconnectMaxMs: number;
  /** From the first byte of a connection to the peer's greeting. */
  readonly handshakeMs: number;
  /** Between two looks at the links: an idle link carries one beat of four bytes each time. */
  readonly sweepMs: number;
  /** Sweeps without a byte from the peer, or without one taken by it, until the link is cut. */
  readonly silentSweepsMax: number;
};

export const DEFAULT_LINK_TIMING: LinkTiming = {
  reconnectMinMs: 10,
  reconnectMaxMs: 1_000,
  handshakeMs: 5_000,
  sweepMs: 4_000,
  silentSweepsMax: 3,
};

export type TransportOptions = {
  readonly self: Principal;
  /** The first principal that is a client node's; all below are replicas'. */
  readonly clientPrincipalMin: Principal;
  readonly identity: TlsIdentity;
  /** Everyone this node talks to, without itself. The table is fixed: keys come from genesis. */
  readonly peers: ReadonlyMap<Principal, Peer>;
  /** Where to listen; port 0 lets the system choose. Undefined for a node that only dials. */
  readonly listen: Endpoint | undefined;
  readonly replicaLimits?: PeerLimits;
  readonly clientLimits?: PeerLimits;
  readonly timing?: LinkTiming;
};
