/** The name under which admission counts what a peer sends. */
import { isReplica, type Principal } from "../transport/principal.ts";

export function sourceOf(peer: Principal): string {
  return `${isReplica(peer) ? "replica" : "client"} ${peer}`;
}

/** Undefined for a source that is no peer. */
export function peerOf(source: string): Principal | undefined {
  const peer = /^(?:replica|client) (\d+)$/.exec(source)?.[1];
  return peer === undefined ? undefined : Number(peer);
}
