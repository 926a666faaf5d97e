/**
 * One simulated machine: a real replica with its driver, its disk, its clock and its execution. The
 * driver does what docs/PROTOCOL.md asks of one; faults come from outside through its methods.
 */
import { bytesToHex } from "../../src/base/hex.ts";
import { InvariantError } from "../../src/base/invariant.ts";
import type { Prng } from "../../src/base/prng.ts";
import type { Block, ReplicaIndex, Transaction } from "../../src/consensus/block.ts";
import type { Clock, Effect, Input } from "../../src/consensus/effect.ts";
import type { LogRecord } from "../../src/consensus/log-record.ts";
import type { ExecVote, Message } from "../../src/consensus/message.ts";
import type { Parameters, Ports } from "../../src/consensus/parameters.ts";
import { Replica } from "../../src/consensus/replica.ts";
import type { Start } from "../../src/consensus/start.ts";
import type { Actor } from "./actor.ts";
import type { Coverage } from "./coverage.ts";
import type { EventQueue } from "./event-queue.ts";
import { LogDisk, type TailFate } from "./log-disk.ts";
import type { SafetyChecker } from "./safety-checker.ts";
import type { SimWire } from "./sim-wire.ts";
import { ToyApp, type Placement } from "./toy-app.ts";
import { parseTransaction } from "./toy-transaction.ts";
import type { Trace } from "./trace.ts";
import { Violation } from "./violation.ts";

export type NodeOptions = {
  readonly endpoint: number;
  readonly parameters: Parameters;
  readonly syncUs: readonly [number, number];
  readonly executeUs: readonly [number, number];
  /** A snapshot is written and older records are dropped each time the log grows by so many. */
  readonly compactEvery: number;
  readonly retention: number;
  readonly wallSkewMs: number;
  /** Lies, or undefined for a correct replica. */
  readonly actor: Actor | undefined;
};

export type World = {
  readonly queue: EventQueue;
  readonly wire: SimWire;
  readonly checker: SafetyChecker;
  readonly coverage: Coverage;
  readonly trace: Trace;
  /** Puts a frame on the connection from an endpoint to a replica. */
  readonly transmit: (fromEndpoint: number, to: ReplicaIndex, frame: Uint8Array) => void;
  readonly detach: (endpoint: number, isSilent: boolean) => void;
  readonly replyToClient: (placement: Placement, vote: ExecVote) => void;
};

/** Virtual time starts here on the wall. */
export const WALL_START_MS = 1_700_000_000_000;

export class SimNode {
  readonly endpoint: number;
  readonly index: ReplicaIndex;
  readonly disk = new LogDisk();
  readonly app: ToyApp;
  readonly actor: Actor | undefined;
  readonly #options: NodeOptions;
  readonly #world: World;
  readonly #ports: Ports;
  readonly #prng: Prng;
  #replica: Replica | undefined;
  /** Grows with every crash: what an earlier life scheduled is void. */
  #life = 0;
  #monoOffsetMs = 0;
  wallSkewMs: number;
  #wakeUs: number | undefined;
  #lastTickUs = -1;
  #ticksInPlace = 0;
  #isSyncing = false;
  #wantsSync = false;
  #lastLsn = 0;
  /** Core record numbers by position in the file. */
  #appendedSinceCompaction = 0;
  #snapshotSequence: number | undefined;
  #isExecuting = false;
  #crashCountdown: number | undefined;
  #afterCrash: (() => void) | undefined;
  /** Inputs that arrive while the process is stopped. */
  #held: Input[] | undefined;
  #highestEpoch = 0;
  #untrustedThroughEpoch = -1;
  failsNextSync = false;
  syncSlowdownUs = 0;
  executeSlowdownUs = 0;
  /** From this height on the machine computes wrongly. */
  perturbFromHeight = Infinity;
  hasLostDisk = false;
  /** A fault that only an operator ends. */
  isStopped = false;
  everStarted = false;

  constructor(options: NodeOptions, world: World, prng: Prng) {
    this.#options = options;
    this.#world = world;
    this.#prng = prng;
    this.endpoint = options.endpoint;
    this.index = options.parameters.self;
    this.actor = options.actor;
    this.wallSkewMs = options.wallSkewMs;
    this.#ports = world.wire.portsOf(this.index);
    this.app = new ToyApp({
      genesisResult: options.parameters.genesisResult,
      keptResults: 4 * options.parameters.execLagMax,
      retention: options.retention,
    });
  }

  isAlive(): boolean {
    return this.#replica !== undefined;
  }

  isCorrect(): boolean {
    return this.actor === undefined;
  }

  status(): ReturnType<Replica["status"]> | undefined {
    return this.#replica?.status();
  }

  clock(): Clock {
    const nowMs = this.#world.queue.nowMs();
    const wallMs = Math.floor(WALL_START_MS + nowMs + this.wallSkewMs);
    return { nowMs: nowMs + this.#monoOffsetMs, wallMs };
  }

  /** Starts the process: as a founder, or with whatever its disk gives back. */
  start(isFounding: boolean): void {
    this.#world.trace.note(() => `${this.name()} starts${isFounding ? " (founding)" : ""}`);
    this.everStarted = true;
    this.#life++;
    this.#monoOffsetMs = this.#prng.below(1_000_000);
    this.#reset();
    const how = isFounding ? ({ kind: "found" } as const) : this.#recover();
    this.#replica = new Replica(this.#options.parameters, this.#ports);
    this.#guard(() => {
      this.#carryOut(this.#replica!.start(how, this.clock()));
    });
    this.#reportKnownResults();
    this.#scheduleExecution();
    this.#scheduleWake();
  }

  /** The store may be ahead of the log: what lies above its final block is reported later. */
  #reportKnownResults(): void {
    const finalHeight = this.#replica?.status().finalHeight ?? 0;
    for (const [height, result] of this.app.knownResults()) {
      const isRecent = height > finalHeight - this.#options.parameters.execLagMax;
      const isKnown = height > 0 && height <= finalHeight;
      if (isKnown && isRecent) this.input({ kind: "executed", height, result });
    }
  }

  /** The process dies; what was not synced meets `fate`. */
  crash(fate: TailFate, isSilent: boolean): void {
    if (this.#replica === undefined) return;
    this.#world.trace.note(() => `${this.name()} crashes (tail ${fate})`);
    this.#replica = undefined;
    this.#life++;
    this.disk.losePower(fate, this.#prng);
    this.app.losePower();
    this.#world.detach(this.endpoint, isSilent);
    const then = this.#afterCrash;
    this.#afterCrash = undefined;
    this.#crashCountdown = undefined;
    then?.();
  }

  /** Crashes after so many further effects, between any two of them. */
  crashAfterEffects(count: number, then: () => void): void {
    this.#crashCountdown = count;
    this.#afterCrash = then;
  }

  /** Stops the process like SIGSTOP; its connections stay open. */
  pause(): void {
    this.#held ??= [];
  }

  resume(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const input of held) this.input(input);
    this.#scheduleWake();
  }

  isPaused(): boolean {
    return this.#held !== undefined;
  }

  lifeNumber(): number {
    return this.#life;
  }

  /** Its log went back in time: it may contradict itself until an epoch begins without it. */
  markRolledBack(): void {
    if (this.isCorrect()) this.#world.checker.histories[this.index]!.onRolledBack();
    this.#untrustedThroughEpoch = this.#highestEpoch;
  }

  isUntrusted(): boolean {
    return this.#highestEpoch <= this.#untrustedThroughEpoch;
  }

  /** A vote of another network, or bytes that mean nothing at all. */
  foreignFrame(prng: Prng): Uint8Array {
    if (prng.chance(0.3)) return prng.bytes(prng.between(1, 300));
    const statement = {
      kind: "vote",
      epoch: 0,
      sender: this.index,
      view: 0,
      height: this.app.finalHeight() + 1,
      blockHash: bytesToHex(prng.bytes(32)),
    } as const;
    return this.#world.wire.encode({ ...statement, signature: prng.bytes(64) });
  }

  onLink(peer: ReplicaIndex, isUp: boolean): void {
    this.#world.trace.note(() => `${this.name()} link ${peer} ${isUp ? "up" : "down"}`);
    this.input({ kind: "link", peer, isUp });
  }

  onFrame(from: ReplicaIndex, frame: Uint8Array): void {
    const message = this.#world.wire.receive(from, frame);
    if (message === undefined) {
      this.#world.coverage.count("refused: frame that does not decode or verify");
      return;
    }
    this.actor?.onReceive(message);
    if (this.actor?.ignores(message) === true) return;
    this.#world.trace.message("recv", this.endpoint, from, message);
    const transactionsValid = bodiesOf(message).every(
      (transaction) => parseTransaction(transaction.bytes) !== undefined,
    );
    this.input({ kind: "message", from, message, transactionsValid });
  }

  /** A client asks. What was executed is answered from the store. */
  onSubmit(transaction: Transaction): void {
    const call = parseTransaction(transaction.bytes);
    if (call === undefined || this.#replica === undefined || this.isPaused()) return;
    if (this.actor?.censors(call.client) === true) return;
    const placement = this.app.placementOf(call.client);
    if (placement !== undefined && placement.count >= call.count) {
      if (placement.count === call.count) this.#answer(placement);
      return;
    }
    this.input({ kind: "submit", transaction });
  }

  input(input: Input): void {
    if (this.#replica === undefined) return;
    if (this.#held !== undefined) {
      this.#held.push(input);
      return;
    }
    const replica = this.#replica;
    this.#world.coverage.count("steps");
    this.#guard(() => {
      const { effects, rejection } = replica.step(input, this.clock());
      if (rejection !== undefined) this.#world.coverage.count(`rejected: ${rejection.code}`);
      this.#carryOut(effects);
    });
    this.#scheduleWake();
  }

  name(): string {
    return this.endpoint === this.index ? `${this.index}` : `${this.index}'`;
  }

  #reset(): void {
    this.#wakeUs = undefined;
    this.#ticksInPlace = 0;
    this.#isSyncing = false;
    this.#wantsSync = false;
    this.#lastLsn = 0;
    this.#appendedSinceCompaction = 0;
    this.#snapshotSequence = undefined;
    this.#isExecuting = false;
    this.#held = undefined;
    this.failsNextSync = false;
  }

  #recover(): Start {
    const nonce = bytesToHex(this.#prng.bytes(32));
    const recovered = this.disk.recover();
    if (recovered.kind === "corrupt") {
      this.#world.coverage.count("disk: damage noticed at restart");
      this.loseDisk();
      return { kind: "empty", nonce };
    }
    if (recovered.bodies.length === 0) {
      this.loseDisk();
      return { kind: "empty", nonce };
    }
    const records = recovered.bodies.map((body) => this.#world.wire.decodeRecord(body));
    const first = this.disk.lastSequence() - records.length + 1;
    if (this.isCorrect()) {
      const survivors = records.map((record, at) => ({ record, sequence: first + at }));
      const history = this.#world.checker.histories[this.index]!;
      history.facts.onRestart(survivors);
      history.onRestart();
    }
    return { kind: "resume", records, nonce };
  }

  /** The log and everything beside it are gone. */
  loseDisk(): void {
    this.disk.wipe();
    this.app.wipe();
    this.hasLostDisk = true;
    if (this.isCorrect()) this.#world.checker.histories[this.index]!.onDiskLost();
  }

  #carryOut(effects: readonly Effect[]): void {
    const life = this.#life;
    const finalized: (Effect & { kind: "finalize" })[] = [];
    for (const effect of effects) {
      this.#perform(effect);
      if (effect.kind === "finalize") finalized.push(effect);
      if (this.#crashCountdown !== undefined && --this.#crashCountdown <= 0) {
        this.#world.coverage.count("fault: crash between two effects");
        this.crash(this.#prng.pick(["lost", "kept", "prefix", "subset", "torn"]), false);
      }
      if (this.#life !== life) return;
    }
    for (const { blocks, certificate } of finalized) {
      const nowMs = WALL_START_MS + this.#world.queue.nowMs();
      this.#world.checker.onFinalized(this.index, blocks, certificate, nowMs);
    }
    this.#maybeCompact();
  }

  #perform(effect: Effect): void {
    const { coverage, trace } = this.#world;
    trace.effect(this.endpoint, effect);
    switch (effect.kind) {
      case "append":
        this.#append(effect.record);
        this.#lastLsn = effect.lsn;
        return;
      case "sync":
        this.#sync();
        return;
      case "send":
        this.#send(effect.to, effect.message);
        return;
      case "finalize":
        coverage.count(`final: ${effect.certificate.kind}`, effect.blocks.length);
        this.#reportAgain(effect.blocks);
        this.app.store(effect.blocks, effect.certificate);
        this.#scheduleExecution();
        return;
      case "serveBlocks": {
        const range = this.app.range(effect.fromHeight, effect.toHeight);
        if (range !== undefined) this.#send(effect.to, { kind: "blockResponse", ...range });
        return;
      }
      case "checkpoint":
        coverage.count("checkpoint");
        return;
      case "notice":
        coverage.count(`notice: ${effect.notice.code}`);
        if (effect.notice.code === "COMPLAINED") {
          coverage.count(`complaint: ${effect.notice.reason}`);
        }
        if (effect.notice.code === "EPOCH_ENTERED") this.#highestEpoch = effect.notice.epoch;
        if (effect.notice.code === "JOINED") this.hasLostDisk = false;
        if (effect.notice.code === "ROLLED_BACK") this.hasLostDisk = true;
    }
  }

  /** Blocks that were executed in an earlier life, before the log lost their finality. */
  #reportAgain(blocks: readonly Block[]): void {
    const life = this.#life;
    for (const { header } of blocks) {
      const { height } = header;
      const result = this.app.resultAt(height);
      if (result === undefined) continue;
      this.#world.queue.after(0, () => {
        if (this.#life === life) this.input({ kind: "executed", height, result });
      });
    }
  }

  #append(record: LogRecord): void {
    const sequence = this.disk.append(this.#world.wire.encodeRecord(record));
    this.#appendedSinceCompaction++;
    // A twin's log is its own; only what a replica's one log holds can be checked.
    this.#world.checker.onAppend(this.index, record, sequence);
  }

  #send(to: ReplicaIndex | "all", message: Message): void {
    const { parameters } = this.#options;
    if (this.actor !== undefined) {
      this.actor.onSend(to, message, this.#ports);
      return;
    }
    this.transmit(to, message);
    if (message.kind === "execVote" && message.sender === parameters.self && to === "all") {
      this.#answerClients(message);
    }
  }

  /** Sends without asking the actor: what a correct replica, or a liar in the end, puts out. */
  transmit(to: ReplicaIndex | "all", message: Message): void {
    const world = this.#world;
    const finalHeight = this.#replica?.status().finalHeight ?? 0;
    world.checker.onSend(this.index, message, finalHeight);
    world.trace.message("send", this.endpoint, to, message);
    const frame = world.wire.encode(message);
    world.coverage.count(`sent: ${message.kind}`);
    const targets = to === "all" ? this.#others() : [to];
    for (const target of targets) world.transmit(this.endpoint, target, frame);
    if (this.actor !== undefined && message.kind === "execVote") this.#answerClients(message);
  }

  transmitFrame(to: ReplicaIndex, frame: Uint8Array): void {
    this.#world.transmit(this.endpoint, to, frame);
  }

  #others(): readonly ReplicaIndex[] {
    const { replicaCount } = this.#options.parameters;
    return Array.from({ length: replicaCount }, (_, index) => index).filter(
      (index) => index !== this.index,
    );
  }

  #answerClients(vote: ExecVote): void {
    const block = this.app.blockAt(vote.height);
    for (const transaction of block?.body.transactions ?? []) {
      const call = parseTransaction(transaction.bytes);
      const placement = call === undefined ? undefined : this.app.placementOf(call.client);
      if (placement?.height === vote.height) this.#world.replyToClient(placement, vote);
    }
  }

  #answer(placement: Placement): void {
    const { mode, epoch } = this.#replica!.status();
    if (mode !== "active") return;
    const { height, blockHash, result } = placement;
    const statement = {
      kind: "execVote",
      epoch,
      sender: this.index,
      height,
      blockHash,
      result,
    } as const;
    const signature = this.#ports.sign(statement);
    this.#world.replyToClient(placement, { ...statement, signature });
  }

  #sync(): void {
    if (this.#isSyncing) {
      this.#wantsSync = true;
      return;
    }
    this.#isSyncing = true;
    this.#wantsSync = false;
    const [life, sequence, lsn] = [this.#life, this.disk.lastSequence(), this.#lastLsn];
    const [low, high] = this.#options.syncUs;
    this.#world.queue.after(this.#prng.between(low, high) + this.syncSlowdownUs, () => {
      if (this.#life === life) this.#onSynced(sequence, lsn);
    });
  }

  #onSynced(sequence: number, lsn: number): void {
    this.#isSyncing = false;
    if (this.failsNextSync) {
      this.#world.coverage.count("fault: failed sync");
      // The driver must stop at once: what the disk holds is unknown.
      this.crash("subset", false);
      return;
    }
    this.disk.markDurable(sequence);
    if (this.isCorrect()) this.#world.checker.histories[this.index]!.facts.onDurable(sequence);
    if (this.#snapshotSequence !== undefined && sequence >= this.#snapshotSequence) {
      this.disk.dropBefore(this.#snapshotSequence);
      this.#snapshotSequence = undefined;
    }
    if (this.#wantsSync) this.#sync();
    if (lsn > 0) this.input({ kind: "synced", lsn });
  }

  /** Begins a new segment with all that safety needs; older records go once it is durable. */
  #maybeCompact(): void {
    if (this.#replica === undefined || this.#snapshotSequence !== undefined) return;
    if (this.#appendedSinceCompaction < this.#options.compactEvery) return;
    this.#appendedSinceCompaction = 0;
    this.app.flush();
    this.#snapshotSequence = this.disk.lastSequence() + 1;
    this.#append(this.#replica.snapshot());
    this.#appendedSinceCompaction = 0;
    this.#sync();
  }

  #scheduleExecution(): void {
    if (this.#isExecuting || this.#replica === undefined) return;
    // The store may have kept blocks whose finality the log lost: they wait until it is back.
    const { finalHeight } = this.#replica.status();
    if (this.app.execHeight() >= Math.min(this.app.finalHeight(), finalHeight)) return;
    this.#isExecuting = true;
    const life = this.#life;
    const [low, high] = this.#options.executeUs;
    this.#world.queue.after(this.#prng.between(low, high) + this.executeSlowdownUs, () => {
      if (this.#life !== life) return;
      this.#isExecuting = false;
      const height = this.app.execHeight() + 1;
      const isWrong = height >= this.perturbFromHeight;
      if (isWrong) this.#world.coverage.count("fault: block executed wrongly");
      const executed = this.app.executeNext(isWrong);
      if (executed === undefined) return;
      if (this.isCorrect() && height < this.perturbFromHeight) {
        this.#world.checker.onExecuted(this.index, height, executed.result);
      }
      this.input({ kind: "executed", height, result: executed.result });
      this.#scheduleExecution();
    });
  }

  #scheduleWake(): void {
    const wakeAtMs = this.#replica?.wakeAtMs();
    if (wakeAtMs === undefined || this.#held !== undefined) return;
    const nowUs = this.#world.queue.nowUs();
    const dueUs = Math.max(nowUs, Math.ceil((wakeAtMs - this.#monoOffsetMs) * 1000));
    if (this.#wakeUs !== undefined && this.#wakeUs <= dueUs) return;
    this.#wakeUs = dueUs;
    const life = this.#life;
    this.#world.queue.at(dueUs, () => {
      if (this.#life !== life || this.#wakeUs !== dueUs) return;
      this.#wakeUs = undefined;
      this.#onWake();
    });
  }

  #onWake(): void {
    const wakeAtMs = this.#replica?.wakeAtMs();
    if (wakeAtMs === undefined || this.#held !== undefined) return;
    const nowUs = this.#world.queue.nowUs();
    if (wakeAtMs > this.clock().nowMs + 0.001) {
      this.#scheduleWake();
      return;
    }
    this.#ticksInPlace = nowUs === this.#lastTickUs ? this.#ticksInPlace + 1 : 0;
    this.#lastTickUs = nowUs;
    if (this.#ticksInPlace > 50) {
      throw new Violation("tick", `${this.name()} asks to be woken at once, again and again`);
    }
    this.input({ kind: "tick" });
  }

  /** A liar may confuse its own replica into stopping; a correct one must never stop. */
  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof InvariantError)) throw error;
      if (this.isCorrect()) {
        throw new Violation("invariant", `${this.name()}: ${error.stack ?? error.message}`);
      }
      this.#world.coverage.count("a liar confused itself");
      this.crash("lost", false);
    }
  }
}

function bodiesOf(message: Message): readonly Transaction[] {
  switch (message.kind) {
    case "propose":
      return message.body.transactions;
    case "bodyResponse":
    case "blockResponse":
      return message.blocks.flatMap(({ body }) => body.transactions);
    case "forward":
      return [message.transaction];
    default:
      return [];
  }
}
