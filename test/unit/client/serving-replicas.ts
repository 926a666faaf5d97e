/** What stands at the other end of a client node's links: real TLS, and a chain made by hand. */
import { createTlsIdentity } from "../../../src/crypto/certificate.ts";
import { createSigner } from "../../../src/crypto/ed25519.ts";
import type { Hash } from "../../../src/consensus/block.ts";
import { Transport } from "../../../src/transport/transport.ts";
import {
  CLIENT_CHANNEL,
  decodeClientMessage,
  encodeClientMessage,
  type ReplicaAnswer,
} from "../../../src/wire/client-codec.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { bytesToHash, ZERO_HASH_TEXT } from "../../../src/wire/hash-text.ts";
import { CLIENT, HOST, REPLICA_COUNT, seedOf } from "../../support/replica-network.ts";
import type { FinalBlock, FinalChain } from "./final-chain.ts";

/** How a replica differs from a correct one. */
export type Manner = {
  /** Says it is where the others are and streams nothing. */
  isStalling?: boolean;
  /** Streams blocks and signs no results. */
  isSilentOnResults?: boolean;
  readonly blockAt?: (height: number, honest: FinalBlock) => FinalBlock;
  readonly resultAt?: (height: number, honest: Hash) => Hash;
};

export class ServingReplica {
  readonly submitted = new Map<Hash, { readonly bytes: Uint8Array; count: number }>();
  readonly follows: number[] = [];
  manner: Manner = {};
  readonly #index: number;
  readonly #chain: FinalChain;
  readonly #transport: Transport;
  #next: number | undefined;

  static async open(index: number, chain: FinalChain, port = 0): Promise<ServingReplica> {
    const opened: { replica?: ServingReplica } = {};
    const transport = await Transport.open(
      {
        self: index,
        clientPrincipalMin: CLIENT,
        identity: createTlsIdentity(seedOf(index), `replica-${index}`),
        peers: new Map([[CLIENT, { publicKey: createSigner(seedOf(CLIENT)).publicKey }]]),
        listen: { host: HOST, port },
      },
      {
        onUp: () => opened.replica?.onUp(),
        onDown: () => undefined,
        onFrame: (_, frame) => opened.replica?.onFrame(frame),
      },
    );
    opened.replica = new ServingReplica(index, chain, transport);
    return opened.replica;
  }

  private constructor(index: number, chain: FinalChain, transport: Transport) {
    this.#index = index;
    this.#chain = chain;
    this.#transport = transport;
  }

  get port(): number {
    return this.#transport.port;
  }

  /** Sends what the client has not had yet. */
  stream(): void {
    if (this.manner.isStalling === true || !this.#transport.isUp(CLIENT)) return;
    while (this.#next !== undefined && this.#next <= this.#chain.height) {
      this.#sendHeight(this.#next);
      this.#next++;
    }
  }

  vote(height: number): void {
    const honest = this.#chain.results[height - 1]!;
    const result = this.manner.resultAt?.(height, honest) ?? honest;
    this.say({ kind: "execVote", vote: this.#chain.vote(this.#index, height, result) });
  }

  say(answer: ReplicaAnswer): void {
    this.#transport.send(CLIENT, [Uint8Array.of(CLIENT_CHANNEL), encodeClientMessage(answer)]);
  }

  close(): Promise<void> {
    return this.#transport.close(100);
  }

  onUp(): void {
    this.#next = undefined;
  }

  onFrame(frame: Uint8Array): void {
    const decoded = decodeClientMessage(Uint8Array.from(frame.subarray(1)));
    if (!decoded.ok) throw new Error(decoded.error.code);
    const message = decoded.value;
    if (message.kind === "submit") {
      for (const bytes of message.transactions) this.#note(bytes);
    } else if (message.kind === "follow") {
      this.follows.push(message.fromHeight);
      this.#next = message.fromHeight;
      this.stream();
    } else if (message.kind === "statusRequest") {
      this.#report(message.nonce);
    }
  }

  #note(bytes: Uint8Array): void {
    const id = bytesToHash(keccak256(bytes));
    const known = this.submitted.get(id);
    if (known === undefined) this.submitted.set(id, { bytes, count: 1 });
    else known.count++;
  }

  #sendHeight(height: number): void {
    const honest = this.#chain.finals[height - 1]!;
    const final = this.manner.blockAt?.(height, honest) ?? honest;
    this.say({ kind: "finalBlock", ...final });
    if (this.manner.isSilentOnResults !== true) this.vote(height);
  }

  #report(nonce: number): void {
    const { height, tipHash } = this.#chain;
    this.say({
      kind: "status",
      nonce,
      replica: this.#index,
      mode: "active",
      epoch: 0,
      view: 0,
      isAccepted: true,
      leader: 0,
      tipHeight: height,
      finalHeight: height,
      finalHash: height === 0 ? ZERO_HASH_TEXT : tipHash,
      execHeight: height,
      pendingCount: 0,
      isDiskFull: false,
      peersUp: [],
    });
  }
}

/** Four of them over one chain. */
export class ServingNetwork {
  readonly chain: FinalChain;
  readonly replicas: ServingReplica[];

  static async open(chain: FinalChain, ports: readonly number[] = []): Promise<ServingNetwork> {
    const replicas = Array.from({ length: REPLICA_COUNT }, (_, index) =>
      ServingReplica.open(index, chain, ports[index]),
    );
    return new ServingNetwork(chain, await Promise.all(replicas));
  }

  private constructor(chain: FinalChain, replicas: ServingReplica[]) {
    this.chain = chain;
    this.replicas = replicas;
  }

  get endpoints(): { readonly host: string; readonly port: number }[] {
    return this.replicas.map(({ port }) => ({ host: HOST, port }));
  }

  /** Orders everything that any replica was sent and that is in no block yet. */
  orderSubmitted(): void {
    const done = new Set(
      this.chain.finals.flatMap(({ block }) => block.body.transactions.map(({ id }) => id)),
    );
    const open = new Map(
      this.replicas.flatMap(({ submitted }) => [...submitted].filter(([id]) => !done.has(id))),
    );
    if (open.size > 0) this.chain.append(Array.from(open.values(), ({ bytes }) => bytes));
    this.stream();
  }

  order(transactions: readonly Uint8Array[], proof: "fast" | "slow" | "none" = "fast"): void {
    this.chain.append(transactions, proof);
    this.stream();
  }

  stream(): void {
    for (const replica of this.replicas) replica.stream();
  }

  async close(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.close()));
  }
}
