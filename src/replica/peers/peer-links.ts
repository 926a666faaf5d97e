/**
 * The links of a replica to its peers, from before the node listens until after it closed: what is
 * sent while there is no transport is lost, as on a link that is down.
 */
import type { ReplicaIndex } from "../../consensus/block.ts";
import type { Message } from "../../consensus/message.ts";
import type { Endpoint, Principal } from "../../transport/principal.ts";
import type { Transport, TransportEvents } from "../../transport/transport.ts";
import { CONSENSUS_CHANNEL } from "../../wire/client-codec.ts";
import { encodeMessage } from "../../wire/message-codec.ts";
import { STATE_CHANNEL } from "../../wire/state-codec.ts";
import { openTransport } from "../replica-links.ts";
import type { ReplicaOptions } from "../replica-options.ts";
import type { GuardedLinks } from "./peer-guard.ts";

const CONSENSUS_FRAME = Uint8Array.of(CONSENSUS_CHANNEL);
const STATE_FRAME = Uint8Array.of(STATE_CHANNEL);

export class PeerLinks implements GuardedLinks {
  /** The other replicas. */
  readonly replicas: readonly ReplicaIndex[];
  readonly #options: ReplicaOptions;
  #transport: Transport | undefined;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    const { genesis, index } = options;
    this.replicas = [...genesis.replicaPublicKeys.keys()].filter((peer) => peer !== index);
  }

  async open(events: TransportEvents): Promise<void> {
    this.#transport = await openTransport(this.#options, events);
  }

  async close(graceMs?: number): Promise<void> {
    await this.#transport?.close(graceMs);
  }

  /** The port that was given or that the system chose. */
  get port(): number {
    return this.#transport?.port ?? 0;
  }

  isReplica(peer: Principal): boolean {
    return peer < this.#options.genesis.replicaPublicKeys.length;
  }

  replicasUp(): ReplicaIndex[] {
    const peers = this.#transport?.status() ?? [];
    return peers.filter(({ peer, isUp }) => isUp && this.isReplica(peer)).map(({ peer }) => peer);
  }

  setEndpoint(replica: ReplicaIndex, endpoint: Endpoint): void {
    this.#transport?.setEndpoint(replica, endpoint);
  }

  isUp(peer: Principal): boolean {
    return this.#transport?.isUp(peer) === true;
  }

  hold(peer: Principal, isHeld: boolean): void {
    this.#transport?.hold(peer, isHeld);
  }

  bar(peer: Principal, pauseMs: number): void {
    this.#transport?.bar(peer, pauseMs);
  }

  /** False if the peer must take some of what waits for it first. */
  send(peer: Principal, parts: readonly Uint8Array[]): boolean {
    return this.#transport?.send(peer, parts) ?? false;
  }

  /** The message is encoded once, whatever the number of receivers. */
  sendMessage(to: ReplicaIndex | "all", message: Message): void {
    if (this.#transport === undefined) return;
    const frame = [CONSENSUS_FRAME, encodeMessage(message)];
    for (const peer of to === "all" ? this.replicas : [to]) this.send(peer, frame);
  }

  /** A message of consensus whose parts are encoded already. */
  sendEncoded(to: ReplicaIndex, parts: readonly Uint8Array[]): void {
    this.send(to, [CONSENSUS_FRAME, ...parts]);
  }

  sendState(to: ReplicaIndex, bytes: Uint8Array): void {
    this.send(to, [STATE_FRAME, bytes]);
  }
}
