/** The links of a replica, and whom it believes over them. */
import { clientPrincipalMin } from "../base/client-principal.ts";
import { invariant } from "../base/invariant.ts";
import { createTlsIdentity } from "../crypto/certificate.ts";
import type { Peer, Principal } from "../transport/principal.ts";
import { Transport, type TransportEvents } from "../transport/transport.ts";
import { CLIENT_LIMITS, DEFAULT_LINK_TIMING } from "../transport/transport-options.ts";
import {
  createPeerMessageAuthenticator,
  createKeyVerifier,
  type PeerMessageAuthenticator,
} from "../wire/authenticate.ts";
import type { ConsensusGenesis } from "../wire/consensus-genesis.ts";
import type { ReplicaOptions } from "./replica-options.ts";

/** What may wait for a client before its stream stops: it is given the rest when it took this. */
const CLIENT_QUEUE_BYTES_MAX = 16 * 1024 * 1024;

export function createPeerAuthenticator(
  { genesis }: ReplicaOptions,
  { net, header }: ConsensusGenesis,
  window: number,
): PeerMessageAuthenticator {
  const { replicaPublicKeys } = genesis;
  const replicaCount = replicaPublicKeys.length;
  return createPeerMessageAuthenticator(
    { net, replicaCount, genesis: header, window },
    { verify: createKeyVerifier(replicaPublicKeys) },
  );
}

export async function openTransport(
  options: ReplicaOptions,
  events: TransportEvents,
): Promise<Transport> {
  const { index, genesis, replicas, clientPublicKeys, seed, listen, linkTiming } = options;
  const clientMin = clientPrincipalMin(genesis.replicaPublicKeys.length);
  const peers = new Map<Principal, Peer>();
  genesis.replicaPublicKeys.forEach((publicKey, peer) => {
    if (peer !== index) peers.set(peer, { publicKey, endpoint: replicas[peer] });
  });
  for (const [client, publicKey] of clientPublicKeys) {
    invariant(client >= clientMin, "a client has a principal of its own");
    peers.set(client, { publicKey });
  }
  return Transport.open(
    {
      self: index,
      clientPrincipalMin: clientMin,
      identity: createTlsIdentity(seed, `replica-${index}`),
      peers,
      listen,
      clientLimits: { ...CLIENT_LIMITS, queueBytesMax: CLIENT_QUEUE_BYTES_MAX },
      timing: { ...DEFAULT_LINK_TIMING, ...linkTiming },
    },
    events,
  );
}
