/**
 * The form of a link's byte stream: words of four bytes, big-endian. A word without the top bit is
 * the size of the frame that follows it; one with the top bit is a control word and nothing
 * follows.
 *
 * - GREETING: first on every connection, from both sides, once the other's key was checked. With
 *   TLS 1.3 a dialler believes itself connected before the other side has looked at its
 *   certificate; only the greeting says that it was let in.
 * - BEAT: on an otherwise idle link, so that silence means a dead peer.
 */
export const FRAME_HEADER_SIZE = 4;
export const CONTROL_BIT = 0x8000_0000;
export const GREETING = 0x8000_0001;
export const BEAT = 0x8000_0002;
