/**
 * What one decision costs: four replicas in one process with the real codec and signatures, and no
 * network or disk between them, so that the figure is the processor's share alone. It is the sum
 * over all four replicas.
 */
import { createSigner } from "../src/crypto/ed25519.ts";
import { sha256 } from "../src/crypto/sha256.ts";
import type { Header } from "../src/consensus/block.ts";
import type { Effect, Input } from "../src/consensus/effect.ts";
import type { Message } from "../src/consensus/message.ts";
import { DEFAULT_PARAMETERS } from "../src/consensus/parameters.ts";
import { Replica } from "../src/consensus/replica.ts";
import { createPeerMessageAuthenticator, createKeyVerifier } from "../src/wire/authenticate.ts";
import { createTransaction } from "../src/wire/block-codec.ts";
import { bytesToHash, ZERO_HASH_TEXT } from "../src/wire/hash-text.ts";
import { decodeMessage, encodeMessage } from "../src/wire/message-codec.ts";
import { createPorts } from "../src/wire/ports.ts";

const REPLICA_COUNT = 4;
const TRANSACTION_BYTES = 120;
const WINDOW = DEFAULT_PARAMETERS.window;

type Scenario = {
  readonly name: string;
  readonly transactionsPerBlock: number;
  readonly decisions: number;
  /** A replica that takes no part, so that every decision needs the second phase. */
  readonly absent: number | undefined;
};

const SCENARIOS: readonly Scenario[] = [
  { name: "all four, 1 tx", transactionsPerBlock: 1, decisions: 2_000, absent: undefined },
  { name: "all four, 100 tx", transactionsPerBlock: 100, decisions: 500, absent: undefined },
  { name: "all four, 1,000 tx", transactionsPerBlock: 1_000, decisions: 100, absent: undefined },
  { name: "one absent, 1 tx", transactionsPerBlock: 1, decisions: 2_000, absent: 3 },
];

export function benchConsensus(): void {
  console.log("| scenario | decisions/s | CPU us/decision | bytes/decision | messages/decision |");
  console.log("|---|---:|---:|---:|---:|");
  for (const scenario of SCENARIOS) {
    const { transactionsPerBlock } = scenario;
    const warmUp = { ...scenario, decisions: Math.ceil(scenario.decisions / 10) };
    new Cluster(transactionsPerBlock).run(warmUp);
    const cluster = new Cluster(transactionsPerBlock);
    const before = process.cpuUsage();
    const startedMs = performance.now();
    cluster.run(scenario);
    const seconds = (performance.now() - startedMs) / 1000;
    const { user, system } = process.cpuUsage(before);
    const { decisions } = cluster;
    const { name } = scenario;
    const figures = [
      (decisions / seconds).toFixed(0),
      ((user + system) / decisions).toFixed(0),
      (cluster.bytesSent / decisions).toFixed(0),
      (cluster.messagesSent / decisions).toFixed(1),
    ];
    console.log(`| ${[name, ...figures].join(" | ")} |`);
  }
}

class Cluster {
  bytesSent = 0;
  messagesSent = 0;
  decisions = 0;
  readonly #replicas: Replica[] = [];
  readonly #authenticators;
  readonly #queue: (() => void)[] = [];
  #absent: number | undefined;
  #transactionCount = 0;

  constructor(transactionsPerBlock: number) {
    const net = sha256(new TextEncoder().encode("bench"));
    const signers = Array.from({ length: REPLICA_COUNT }, (_, index) =>
      createSigner(sha256(Uint8Array.of(index))),
    );
    const verify = createKeyVerifier(signers.map(({ publicKey }) => publicKey));
    const genesis = genesisHeader();
    this.#authenticators = signers.map(() =>
      createPeerMessageAuthenticator(
        { net, replicaCount: REPLICA_COUNT, genesis, window: WINDOW },
        { verify },
      ),
    );
    signers.forEach((signer, self) => {
      const parameters = {
        ...DEFAULT_PARAMETERS,
        blockTransactionsMax: transactionsPerBlock,
        replicaCount: REPLICA_COUNT,
        self,
        genesis,
        genesisResult: ZERO_HASH_TEXT,
      };
      this.#replicas.push(new Replica(parameters, createPorts({ net, signer })));
    });
  }

  run({ transactionsPerBlock, decisions, absent }: Scenario): void {
    this.#absent = absent;
    this.#replicas.forEach((replica, index) => {
      this.#carryOut(index, replica.start({ kind: "bootstrap" }, this.#clock()));
    });
    this.#drain();
    this.bytesSent = 0;
    this.messagesSent = 0;
    while (this.#finalHeight() < decisions) {
      // The window's worth of blocks at a time: what the leader finds waiting, it takes.
      for (let each = 0; each < WINDOW * transactionsPerBlock; each++) this.#submit();
      this.#drain();
    }
    this.decisions = this.#finalHeight();
  }

  #finalHeight(): number {
    const heights = this.#replicas.map((replica) => replica.status().finalHeight);
    return Math.min(...heights.filter((_, index) => index !== this.#absent));
  }

  #submit(): void {
    const bytes = new Uint8Array(TRANSACTION_BYTES);
    new DataView(bytes.buffer).setUint32(0, this.#transactionCount++);
    const transaction = createTransaction(bytes, 21_000);
    for (const index of [1, 2, 3, 0])
      this.#step(index, { kind: "submit", transactions: [transaction] });
  }

  #step(index: number, input: Input): void {
    if (index === this.#absent) return;
    const replica = this.#replicas[index];
    if (replica !== undefined) this.#carryOut(index, replica.step(input, this.#clock()).effects);
  }

  #carryOut(index: number, effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === "sync") {
        this.#queue.push(() => this.#step(index, { kind: "synced", lsn: effect.lsn }));
      } else if (effect.kind === "send") {
        this.#send(index, effect.to, effect.message);
      } else if (effect.kind === "finalize") {
        for (const { header, hash } of effect.blocks) {
          const { height } = header;
          this.#queue.push(() => this.#step(index, { kind: "executed", height, result: hash }));
        }
      }
    }
  }

  #send(from: number, to: number | "all", message: Message): void {
    const bytes = encodeMessage(message);
    for (let index = 0; index < REPLICA_COUNT; index++) {
      if (index === from || (to !== "all" && to !== index) || index === this.#absent) continue;
      this.bytesSent += bytes.length;
      this.messagesSent += 1;
      this.#queue.push(() => this.#receive(index, from, bytes));
    }
  }

  #receive(index: number, from: number, bytes: Uint8Array): void {
    const decoded = decodeMessage(bytes);
    const authenticated = decoded.ok
      ? this.#authenticators[index]?.authenticate(decoded.value, from)
      : undefined;
    if (authenticated?.ok !== true) throw new Error("a message of our own was refused");
    const { value: message } = authenticated;
    this.#step(index, { kind: "message", from, message, transactionsValid: true });
  }

  #drain(): void {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) next();
  }

  #clock(): { readonly nowMs: number; readonly wallMs: number } {
    return { nowMs: performance.now(), wallMs: Date.now() };
  }
}

function genesisHeader(): Header {
  return {
    epoch: 0,
    height: 0,
    parent: ZERO_HASH_TEXT,
    payloadHash: bytesToHash(sha256(new Uint8Array(0))),
    txCount: 0,
    payloadSize: 0,
    timestampMs: 0,
    execHeight: 0,
    execResult: ZERO_HASH_TEXT,
  };
}
