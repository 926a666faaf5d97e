/** A whole network in one process: replicas, clients, links and faults under one virtual clock. */
import { Prng } from "../../src/base/prng.ts";
import { bytesToHex } from "../../src/base/hex.ts";
import type { Header, ReplicaIndex } from "../../src/consensus/block.ts";
import { DEFAULT_PARAMETERS, type Parameters } from "../../src/consensus/parameters.ts";
import { quorumOf, type Quorum } from "../../src/consensus/quorum.ts";
import { sha256 } from "../../src/crypto/sha256.ts";
import { hashBody } from "../../src/wire/ports.ts";
import { createTwin, type Actor } from "./actor.ts";
import { Coverage } from "./coverage.ts";
import { EventQueue } from "./event-queue.ts";
import { FaultInjector } from "./fault-injector.ts";
import { ByzantineReplica } from "./byzantine/byzantine-replica.ts";
import { LivenessChecker } from "./checkers/liveness-checker.ts";
import { Network } from "./network.ts";
import type { Fault, Plan } from "./plan.ts";
import { SafetyChecker } from "./checkers/safety-checker.ts";
import { SimNode, WALL_START_MS, type World } from "./sim-node.ts";
import { SimWire } from "./sim-wire.ts";
import { ToyClient } from "./toy-client.ts";
import { Trace } from "./trace.ts";
import { plainHeader } from "../support/plain-header.ts";

const GENESIS: Header = plainHeader({
  payloadHash: hashBody({ transactions: [], rejoin: undefined }),
  timestampMs: WALL_START_MS - 1,
});
const GENESIS_RESULT = bytesToHex(sha256(new Uint8Array([0])));
const REJOIN_INTERVAL_MS = 1_000;
const BLOCKS_MIN = 50;
const CLIENT_DELAY_US = 200;

export type ClusterOptions = {
  readonly plan: Plan;
  /** How many lines of history are kept. */
  readonly traceLines: number;
  /** Faults of the plan that do not happen in this run. */
  readonly without?: ReadonlySet<number>;
  /** How many final blocks each replica keeps for others. */
  readonly retention?: number;
};

export class Cluster {
  readonly plan: Plan;
  readonly queue = new EventQueue();
  readonly coverage = new Coverage();
  readonly trace: Trace;
  readonly checker: SafetyChecker;
  readonly liveness: LivenessChecker;
  readonly nodes: readonly SimNode[];
  readonly clients: readonly ToyClient[];
  readonly network: Network;
  readonly injector: FaultInjector;
  readonly #wire: SimWire;
  readonly #quorum: Quorum;
  readonly #clientPrng: Prng;
  readonly #byzantine: readonly ByzantineReplica[];
  /** For each replica, which of the twins it is connected to. */
  readonly #twinSides: boolean[];
  readonly #twinPrng: Prng;

  constructor(options: ClusterOptions) {
    const { plan } = options;
    this.plan = plan;
    this.#quorum = quorumOf(plan.replicaCount);
    this.trace = new Trace(this.queue, options.traceLines);
    const prng = new Prng(plan.seed ^ 0x5eed);
    this.#wire = new SimWire(
      {
        replicaCount: plan.replicaCount,
        genesis: GENESIS,
        window: plan.window,
        isEd25519: plan.isEd25519,
        network: "simulated network",
      },
      this.coverage,
    );
    const untrue = new Set(plan.byzantine.map(({ replica }) => replica));
    if (plan.twin !== undefined) untrue.add(plan.twin);
    this.checker = new SafetyChecker(
      { parameters: this.#parameters(0), byzantine: untrue },
      this.#wire.portsOf(0),
    );
    const byzantinePrng = prng.fork();
    const byzantine = new Map(
      plan.byzantine.map(({ replica, behaviours }) => [
        replica,
        new ByzantineReplica(behaviours, byzantinePrng.fork()),
      ]),
    );
    this.#byzantine = [...byzantine.values()];
    this.nodes = this.#createNodes(prng.fork(), byzantine, options.retention ?? Infinity);
    this.network = this.#createNetwork(prng.fork());
    this.#twinPrng = prng.fork();
    this.#twinSides = Array.from({ length: plan.replicaCount }, () => this.#twinPrng.chance(0.5));
    this.#wireTwins();
    this.#clientPrng = prng.fork();
    this.clients = this.#createClients();
    this.liveness = new LivenessChecker(this, this.#quorum);
    this.checker.onFinal = (point) => this.liveness.onFinal(point);
    this.injector = this.#createInjector(prng.fork(), options.without ?? new Set());
  }

  /** Runs the plan to its end; throws a Violation if the protocol fails. */
  run(): void {
    this.start();
    this.runUntil(this.plan.healAtMs);
    this.trace.note(() => "HEAL");
    for (const replica of this.#byzantine) replica.isFaulty = this.plan.byzantineAfterHealing;
    this.injector.healAll();
    this.liveness.afterHealing();
  }

  start(): void {
    this.network.start();
    for (const node of this.nodes) node.start(true);
    for (const client of this.clients) client.start();
  }

  runUntil(ms: number): void {
    while (this.queue.runNext(ms * 1000));
  }

  /** The leader of the highest view that a correct replica is in. */
  currentLeader(): ReplicaIndex {
    let best = { epoch: -1, view: -1, leader: 0 };
    for (const node of this.nodes) {
      const status = node.isCorrect() ? node.status() : undefined;
      if (status === undefined) continue;
      const isHigher =
        status.epoch > best.epoch || (status.epoch === best.epoch && status.view > best.view);
      if (isHigher) best = status;
    }
    return best.leader;
  }

  finalBlocks(): number {
    return this.checker.highestFinalized();
  }

  hasEnoughBlocks(): boolean {
    return this.finalBlocks() >= BLOCKS_MIN;
  }

  #parameters(self: ReplicaIndex): Parameters {
    return {
      ...DEFAULT_PARAMETERS,
      replicaCount: this.plan.replicaCount,
      self,
      genesis: GENESIS,
      genesisResult: GENESIS_RESULT,
      window: this.plan.window,
      gatherFrom: this.plan.gatherFrom,
      gatherPerBlock: this.plan.gatherPerBlock,
      execLagMax: this.plan.execLagMax,
      blockTransactionsMax: 64,
      blockBytesMax: 64 * 1024,
      pendingMax: 256,
      checkpointInterval: 20,
      rejoinIntervalMs: REJOIN_INTERVAL_MS,
    };
  }

  #createNodes(
    prng: Prng,
    byzantine: ReadonlyMap<ReplicaIndex, ByzantineReplica>,
    retention: number,
  ): readonly SimNode[] {
    const { plan } = this;
    const world = this.#createWorld();
    const replicas = Array.from({ length: plan.replicaCount }, (_, index) => index);
    const endpoints = plan.twin === undefined ? replicas : [...replicas, plan.twin];
    return endpoints.map((self, endpoint) => {
      const actor: Actor | undefined = self === plan.twin ? createTwin() : byzantine.get(self);
      const fork = prng.fork();
      const wallSkewMs = fork.between(-plan.wallSkewMaxMs, plan.wallSkewMaxMs);
      if (actor === undefined) {
        this.checker.clockAheadMaxMs = Math.max(this.checker.clockAheadMaxMs, wallSkewMs);
      }
      const node = new SimNode(
        {
          endpoint,
          parameters: this.#parameters(self),
          syncUs: plan.syncUs,
          executeUs: plan.executeUs,
          compactEvery: plan.compactEvery,
          retention,
          wallSkewMs,
          actor,
        },
        world,
        fork,
      );
      this.#attach(node, actor);
      return node;
    });
  }

  #attach(node: SimNode, actor: Actor | undefined): void {
    if (actor instanceof ByzantineReplica) actor.useSigner(this.#wire.portsOf(node.index));
    actor?.attach({
      self: node.index,
      replicaCount: this.plan.replicaCount,
      transmit: (to, message) => node.transmit(to, message),
      transmitFrame: (to, frame) => node.transmitFrame(to, frame),
      encode: (message) => this.#wire.encode(message),
      submit: (transaction) => node.input({ kind: "submit", transactions: [transaction] }),
      after: (delayUs, run) => {
        const life = node.lifeNumber();
        this.queue.after(delayUs, () => {
          if (node.lifeNumber() === life) run();
        });
      },
      count: (what) => this.coverage.count(`byzantine: ${what}`),
    });
  }

  #createWorld(): World {
    return {
      queue: this.queue,
      wire: this.#wire,
      checker: this.checker,
      coverage: this.coverage,
      trace: this.trace,
      transmit: (fromEndpoint, to, frame) => {
        for (const node of this.nodes) {
          if (node.index === to) this.network.send(fromEndpoint, node.endpoint, frame);
        }
      },
      detach: (endpoint, isSilent) => this.network.detach(endpoint, isSilent),
      replyToClient: (placement, vote) => {
        this.#clientHop(() => this.clients[placement.client]?.onReply(placement, vote));
      },
    };
  }

  #createNetwork(prng: Prng): Network {
    const { quality, qualitySpread } = this.plan;
    const endpoints = this.nodes.map((node) => ({
      isAlive: () => node.isAlive(),
      onFrame: (from: number, frame: Uint8Array) => node.onFrame(this.nodes[from]!.index, frame),
      onLink: (peer: number, isUp: boolean) => node.onLink(this.nodes[peer]!.index, isUp),
    }));
    const network = new Network(
      { endpoints, quality: () => quality },
      { queue: this.queue, prng, coverage: this.coverage },
    );
    for (let from = 0; from < endpoints.length; from++) {
      for (let to = 0; to < endpoints.length; to++) {
        const delayUs = quality.delayUs * (1 + ((from * 7 + to * 3) % qualitySpread));
        if (from !== to) network.setQuality(from, to, { delayUs });
      }
    }
    return network;
  }

  /** Each replica is connected to one of the two copies, never to both. */
  #wireTwins(): void {
    const { twin, replicaCount } = this.plan;
    if (twin === undefined) return;
    const second = replicaCount;
    this.network.isWired = (a, b) => {
      const [low, high] = a < b ? [a, b] : [b, a];
      if (low === twin && high === second) return false;
      if (high === second) return this.#twinSides[low] === true;
      if (low === twin) return this.#twinSides[high] === false;
      if (high === twin) return this.#twinSides[low] === false;
      return true;
    };
  }

  #createClients(): readonly ToyClient[] {
    const { plan } = this;
    return Array.from({ length: plan.clientCount }, (_, index) => {
      return new ToyClient(
        {
          index,
          weak: this.#quorum.weak,
          replicaCount: plan.replicaCount,
          thinkUs: plan.thinkUs,
          fanOut: plan.fanOut,
          paddingMax: 60,
        },
        {
          queue: this.queue,
          submit: (replica, transaction) => {
            this.#clientHop(() => {
              for (const node of this.nodes) if (node.index === replica) node.onSubmit(transaction);
            });
          },
          isAuthentic: (vote) => this.#wire.isAuthentic(vote, vote.sender),
          onAcknowledged: (claim, latencyMs) => {
            this.coverage.count("transactions acknowledged");
            this.liveness.onAcknowledged(latencyMs);
            this.checker.onAcknowledged(claim);
          },
        },
        this.#clientPrng.fork(),
      );
    });
  }

  /** Clients have connections of their own, which may lose things too. */
  #clientHop(arrive: () => void): void {
    const isLost = this.#clientPrng.chance(this.plan.quality.loss);
    if (!isLost) this.queue.after(CLIENT_DELAY_US + this.#clientPrng.below(300), arrive);
  }

  #createInjector(prng: Prng, without: ReadonlySet<number>): FaultInjector {
    const { plan, queue, network, coverage, trace, checker, nodes } = this;
    const injector = new FaultInjector({
      plan,
      queue,
      network,
      coverage,
      trace,
      checker,
      prng,
      nodes,
      encode: (message) => this.#wire.encode(message),
      currentLeader: () => this.currentLeader(),
      onOutage: (fault, hasBegun) => this.liveness.onOutage(fault, hasBegun),
      onLeaderFault: (kind) => this.liveness.onLeaderFault(kind),
      switchTwins: () => {
        for (let index = 0; index < this.#twinSides.length; index++) {
          this.#twinSides[index] = this.#twinPrng.chance(0.5);
        }
      },
    });
    injector.schedule(plan.faults.filter((fault: Fault) => !without.has(fault.id)));
    return injector;
  }
}
