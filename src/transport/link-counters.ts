/** Plain numbers that only grow; the metrics export reads them. */
export type LinkCounters = {
  framesIn: number;
  /** Bytes of frames with their headers, without TLS. */
  bytesIn: number;
  framesOut: number;
  bytesOut: number;
  /** Frames that were not taken because the peer was down or its queue full. */
  framesRefused: number;
  /** How often reading stopped because the peer sent faster than it may. */
  pauses: number;
  ups: number;
  dials: number;
};

export type ListenerCounters = {
  /** Incoming connections, also of unknown peers. */
  accepted: number;
  /** Connections, in and out, that never became a link. */
  refused: number;
};

export function createLinkCounters(): LinkCounters {
  return {
    framesIn: 0,
    bytesIn: 0,
    framesOut: 0,
    bytesOut: 0,
    framesRefused: 0,
    pauses: 0,
    ups: 0,
    dials: 0,
  };
}
