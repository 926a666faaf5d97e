/** Why a link ended. The codes are stable; callers and tests match them. */
export type LinkReason =
  /** This node closed its transport. */
  | "LINK_CLOSED"
  /** The peer said goodbye. */
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
  /** The peer sent what no correct node sends: it is not heard for a while. */
  | "LINK_BARRED"
  /** A frame before the greeting, a second greeting, or a control word that nobody defined. */
  | "LINK_PROTOCOL_VIOLATED"
  /** TLS was done, but the peer never greeted. */
  | "LINK_GREETING_LATE";

/** Why a connection never became a link. What is behind it got no byte of ours. */
export type RefusalCode =
  | "PEER_KEY_UNKNOWN"
  /** Dialled one peer, met another one. */
  | "PEER_KEY_UNEXPECTED"
  /** The peer that was dialled did not greet: most likely it does not know this node's key. */
  | "PEER_HUNG_UP"
  | "PEER_PROTOCOL_UNKNOWN"
  | "PEER_HANDSHAKE_FAILED"
  /** Too many strangers at the door: the one that waited longest had to go. */
  | "PEER_HANDSHAKE_CROWDED";

/** For debug logs only: whoever reaches the port can cause one at will. */
export type Refusal = {
  readonly code: RefusalCode;
  readonly remote: string;
  readonly detail?: string | undefined;
};
