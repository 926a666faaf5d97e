/** The name under which admission counts what a peer sends. */
import type { Principal } from "../../transport/principal.ts";

export function replicaSource(replica: Principal): string {
  return `replica ${replica}`;
}

export function clientSource(client: Principal): string {
  return `client ${client}`;
}

/** Undefined for a source that is no peer. */
export function peerOf(source: string): Principal | undefined {
  const peer = /^(?:replica|client) (\d+)$/.exec(source)?.[1];
  return peer === undefined ? undefined : Number(peer);
}
