/**
 * A client node reduced to what tests of replicas need: it submits to all, sends again until a
 * block has it, follows every replica and keeps what each of them said.
 */
import assert from "node:assert/strict";
import { createTlsIdentity } from "../../src/crypto/certificate.ts";
import { keccak256 } from "../../src/crypto/keccak256.ts";
import type { Block, Hash } from "../../src/consensus/block.ts";
import { Transport } from "../../src/transport/transport.ts";
import {
  CLIENT_CHANNEL,
  decodeClientMessage,
  encodeClientMessage,
  type ClientRequest,
  type ReplicaReport,
} from "../../src/wire/client-codec.ts";
import { bytesToHash } from "../../src/wire/hash-text.ts";
import { CLIENT, GENESIS, HOST, REPLICA_COUNT, seedOf } from "./replica-network.ts";

const RESEND_MS = 200;
const SUBMIT_MAX = 500;

export class FollowingClient {
  /** Final blocks by height, as the first replica told of them. */
  readonly blocks = new Map<number, Block>();
  readonly certified = new Set<number>();
  /** Results by height and replica. */
  readonly results = new Map<number, Map<number, Hash>>();
  readonly refusals: { readonly replica: number; readonly id: Hash; readonly code: string }[] = [];
  readonly reports = new Map<number, ReplicaReport>();
  /** What was submitted and is in no final block yet. */
  readonly waiting = new Map<Hash, Uint8Array>();
  /** How often each transaction is in a final block. */
  readonly ordered = new Map<Hash, number>();
  readonly #transport: Transport;
  /** The next result of each replica: what it streams begins again there after a break. */
  readonly #next: number[] = Array.from({ length: REPLICA_COUNT }, () => 1);
  readonly #resend: NodeJS.Timeout;

  static async open(ports: readonly number[]): Promise<FollowingClient> {
    const opened: { client?: FollowingClient } = {};
    const transport = await Transport.open(
      {
        self: CLIENT,
        clientPrincipalMin: CLIENT,
        identity: createTlsIdentity(seedOf(CLIENT), "client"),
        peers: new Map(
          GENESIS.replicaPublicKeys.map((publicKey, index) => [
            index,
            { publicKey, endpoint: { host: HOST, port: ports[index]! } },
          ]),
        ),
        listen: undefined,
      },
      {
        onUp: (replica) => opened.client?.follow(replica),
        onDown: () => undefined,
        onFrame: (replica, frame) => opened.client?.onFrame(replica, frame),
      },
    );
    opened.client = new FollowingClient(transport);
    return opened.client;
  }

  private constructor(transport: Transport) {
    this.#transport = transport;
    this.#resend = setInterval(() => this.#submitWaiting(), RESEND_MS);
  }

  get finalHeight(): number {
    return this.blocks.size;
  }

  submit(transactions: readonly Uint8Array[]): void {
    for (const bytes of transactions) this.waiting.set(bytesToHash(keccak256(bytes)), bytes);
    this.#send(transactions);
  }

  ask(request: ClientRequest): void {
    for (let replica = 0; replica < REPLICA_COUNT; replica++) this.tell(replica, request);
  }

  tell(replica: number, request: ClientRequest): void {
    const frame = [Uint8Array.of(CLIENT_CHANNEL), encodeClientMessage(request)];
    if (this.#transport.isUp(replica)) this.#transport.send(replica, frame);
  }

  setPort(replica: number, port: number): void {
    this.#transport.setEndpoint(replica, { host: HOST, port });
  }

  /** The heights up to `height` have equal results of so many replicas. */
  isAgreed(height: number, replicas: number): boolean {
    for (let at = 1; at <= height; at++) {
      const results = this.results.get(at);
      if (results === undefined || results.size < replicas) return false;
      assert.equal(new Set(results.values()).size, 1, `results differ at height ${at}`);
    }
    return true;
  }

  async close(): Promise<void> {
    clearInterval(this.#resend);
    await this.#transport.close();
  }

  onFrame(replica: number, frame: Uint8Array): void {
    assert.equal(frame[0], CLIENT_CHANNEL);
    const decoded = decodeClientMessage(frame.subarray(1));
    assert.ok(decoded.ok);
    const message = decoded.value;
    if (message.kind === "finalBlock") {
      this.#onBlock(replica, message.block, message.certificate !== undefined);
    } else if (message.kind === "execVote") {
      const { height, result, sender } = message.vote;
      assert.equal(sender, replica, "a replica tells its own results");
      const results = this.results.get(height) ?? new Map<number, Hash>();
      results.set(replica, result);
      this.results.set(height, results);
      if (height === this.#next[replica]) this.#next[replica]++;
    } else if (message.kind === "refused") {
      const { transactionId: id, code } = message;
      this.refusals.push({ replica, id, code });
    } else if (message.kind === "status") {
      this.reports.set(replica, message);
    } else {
      assert.fail(`a replica asks: ${message.kind}`);
    }
  }

  #onBlock(replica: number, block: Block, isCertified: boolean): void {
    const { height, parent } = block.header;
    if (isCertified) this.certified.add(height);
    const known = this.blocks.get(height);
    if (known !== undefined) {
      assert.equal(block.hash, known.hash, `replica ${replica} forks at height ${height}`);
      return;
    }
    assert.equal(height, this.blocks.size + 1, "blocks come in order");
    if (height > 1) assert.equal(parent, this.blocks.get(height - 1)!.hash);
    this.blocks.set(height, block);
    for (const { id } of block.body.transactions) {
      this.waiting.delete(id);
      this.ordered.set(id, (this.ordered.get(id) ?? 0) + 1);
    }
  }

  follow(replica: number): void {
    this.tell(replica, { kind: "follow", fromHeight: this.#next[replica] ?? 1 });
  }

  #submitWaiting(): void {
    if (this.waiting.size > 0) this.#send([...this.waiting.values()].slice(0, 4 * SUBMIT_MAX));
  }

  #send(transactions: readonly Uint8Array[]): void {
    for (let at = 0; at < transactions.length; at += SUBMIT_MAX) {
      this.ask({ kind: "submit", transactions: transactions.slice(at, at + SUBMIT_MAX) });
    }
  }
}

/** Waits on a condition, never on time alone. */
export async function until(
  isDone: () => boolean,
  what: string,
  deadlineMs = 20_000,
): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!isDone()) {
    assert.ok(performance.now() < endMs, `not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
