/** The links of a client node to all replicas, and the messages that go over them. */
import { clientPrincipalMin } from "../base/client-principal.ts";
import { createTlsIdentity } from "../crypto/certificate.ts";
import type { Logger } from "../base/logger.ts";
import type { Block, Hash, ReplicaIndex } from "../consensus/block.ts";
import type { FinalCert } from "../consensus/certificate.ts";
import type { ExecVote } from "../consensus/message.ts";
import type { Endpoint, Peer, Principal } from "../transport/principal.ts";
import { DEFAULT_LINK_TIMING } from "../transport/transport-options.ts";
import { Transport } from "../transport/transport.ts";
import {
  CLIENT_CHANNEL,
  decodeClientMessage,
  encodeClientMessage,
  type ClientMessage,
  type ClientRequest,
  type ReplicaReport,
} from "../wire/client-codec.ts";
import type { ClientOptions } from "./client-options.ts";
import { finalBlockHeight } from "./sync/final-block-height.ts";

export type ReplicaEvents = {
  onUp(replica: ReplicaIndex): void;
  onDown(replica: ReplicaIndex): void;
  /** Whether a block of this height is known: then it is not even decoded. */
  isKnown(height: number): boolean;
  onKnownBlock(replica: ReplicaIndex, height: number): void;
  onBlock(replica: ReplicaIndex, block: Block, certificate: FinalCert | undefined): void;
  onVote(replica: ReplicaIndex, vote: ExecVote): void;
  onRefused(replica: ReplicaIndex, id: Hash, code: string): void;
  onReport(replica: ReplicaIndex, report: ReplicaReport): void;
};

const CHANNEL = Uint8Array.of(CLIENT_CHANNEL);

export class ReplicaLinks {
  readonly #options: ClientOptions;
  readonly #logger: Logger;
  readonly #up = new Set<ReplicaIndex>();
  /** Undefined until `start`: the parts that handle the events are made after the links. */
  #transport: Transport | undefined;

  constructor(options: ClientOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
  }

  /** Begins to dial. No event comes before it has returned. */
  async start(events: ReplicaEvents): Promise<void> {
    const { seed, genesis, replicas } = this.#options;
    const clientMin = clientPrincipalMin(genesis.replicaPublicKeys.length);
    const peers = new Map<Principal, Peer>(
      genesis.replicaPublicKeys.map((publicKey, replica) => [
        replica,
        { publicKey, endpoint: replicas[replica] },
      ]),
    );
    this.#transport = await Transport.open(
      {
        self: this.#options.principal ?? clientMin,
        clientPrincipalMin: clientMin,
        identity: createTlsIdentity(seed, "client"),
        peers,
        listen: undefined,
        timing: { ...DEFAULT_LINK_TIMING, ...this.#options.linkTiming },
      },
      {
        onUp: (replica) => {
          this.#logger.info("replica up", { replica });
          this.#up.add(replica);
          events.onUp(replica);
        },
        onDown: (replica, reason) => {
          this.#logger.info("replica down", { replica, reason });
          this.#up.delete(replica);
          events.onDown(replica);
        },
        onFrame: (replica, frame) => onReplicaFrame(replica, frame, this.#logger, events),
        onRefusal: ({ code, remote }) => this.#logger.debug("link refused", { code, remote }),
      },
    );
  }

  /** In the order of their indices. */
  get replicasUp(): readonly ReplicaIndex[] {
    return [...this.#up].sort((a, b) => a - b);
  }

  /** Not acknowledged: transactions are retransmitted until they are final. */
  submit(replica: ReplicaIndex, transactions: readonly Uint8Array[]): void {
    this.ask(replica, { kind: "submit", transactions });
  }

  /** False if the request was not taken, because the link is down or its queue is full. */
  ask(replica: ReplicaIndex, request: ClientRequest): boolean {
    if (this.#transport?.isUp(replica) !== true) return false;
    return this.#transport.send(replica, [CHANNEL, encodeClientMessage(request)]);
  }

  /** Stops reading from a replica, or goes on. */
  hold(replica: ReplicaIndex, isHeld: boolean): void {
    this.#transport?.hold(replica, isHeld);
  }

  setEndpoint(replica: ReplicaIndex, endpoint: Endpoint): void {
    this.#transport?.setEndpoint(replica, endpoint);
  }

  async close(): Promise<void> {
    await this.#transport?.close();
  }
}

function onReplicaFrame(
  replica: ReplicaIndex,
  frame: Uint8Array,
  logger: Logger,
  events: ReplicaEvents,
): void {
  const refuse = (code: string): void => logger.debug("message refused", { replica, code });
  if (frame[0] !== CLIENT_CHANNEL) {
    refuse("MESSAGE_UNWANTED");
    return;
  }
  const bytes = frame.subarray(1);
  // Several replicas send every block: all but the first are recognised by their height.
  const height = finalBlockHeight(bytes);
  if (height !== undefined && events.isKnown(height)) {
    events.onKnownBlock(replica, height);
    return;
  }
  // Blocks and votes are kept for a while, and a frame may be a view of a large buffer.
  const decoded = decodeClientMessage(Uint8Array.from(bytes));
  if (!decoded.ok) refuse(decoded.error.code);
  else if (!handleReplicaMessage(replica, decoded.value, events)) refuse("MESSAGE_UNWANTED");
}

/** False for a message that only replicas take. */
function handleReplicaMessage(
  replica: ReplicaIndex,
  message: ClientMessage,
  events: ReplicaEvents,
): boolean {
  switch (message.kind) {
    case "finalBlock":
      events.onBlock(replica, message.block, message.certificate);
      return true;
    case "execVote":
      events.onVote(replica, message.vote);
      return true;
    case "refused":
      events.onRefused(replica, message.transactionId, message.code);
      return true;
    case "status":
      events.onReport(replica, message);
      return true;
    case "submit":
    case "follow":
    case "statusRequest":
    case "blocksRequest":
      return false;
  }
}
