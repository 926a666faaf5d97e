/** Why a link ended. The codes are stable; callers and tests match them. */
export type LinkReason =
  /** This node closed its transport. */
  | "LINK_CLOSED"
  /** The peer closed the connection cleanly. */
  | "LINK_ENDED"
  /** The connection broke: reset, unreachable, damaged TLS record. */
  | "LINK_FAILED"
  /** A newer connection of the same peer took its place: the old one is a leftover. */
  | "LINK_REPLACED"
  /** Nothing came for several sweeps, not even a beat: half-open, or the peer hangs. */
  | "LINK_SILENT"
  /** The peer took nothing of what waits for it for several sweeps. */
  | "LINK_STALLED"
  | "LINK_FRAME_TOO_LARGE"
  /** The peer broke the protocol: it is disconnected for a while. */
  | "LINK_BARRED"
  /** A frame before the greeting, a second greeting, or an unknown control word. */
  | "LINK_PROTOCOL_VIOLATED"
  /** TLS was done, but the peer never greeted. */
  | "LINK_GREETING_LATE";

/** Why a connection never became a link. The other side received no byte from this node. */
export type RefusalCode =
  | "PEER_KEY_UNKNOWN"
  /** Dialled one peer, met another one. */
  | "PEER_KEY_UNEXPECTED"
  /** The peer that was dialled did not greet: most likely it does not know this node's key. */
  | "PEER_HUNG_UP"
  | "PEER_PROTOCOL_UNKNOWN"
  | "PEER_HANDSHAKE_FAILED"
  /** Too many connections were in their handshake: the oldest one was closed. */
  | "PEER_HANDSHAKE_CROWDED";

/** For debug logs only: anyone who reaches the port can cause one at will. */
export type Refusal = {
  readonly code: RefusalCode;
  readonly remote: string;
  readonly detail?: string | undefined;
};
