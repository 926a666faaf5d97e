/**
 * One simulated machine: a real replica with its driver, its disk, its clock and its execution. The
 * driver does what docs/PROTOCOL.md asks of one; faults come from outside through its methods.
 */
import { bytesToHex } from "../../src/base/hex.ts";
import { InvariantError } from "../../src/base/invariant.ts";
import type { Prng } from "../../src/base/prng.ts";
import type { Block, ReplicaIndex, Transaction } from "../../src/consensus/block.ts";
import type { Clock, Effect, Input } from "../../src/consensus/effect.ts";
import type { ExecVote, Message } from "../../src/consensus/message.ts";
import type { Parameters, Ports } from "../../src/consensus/parameters.ts";
import { Replica } from "../../src/consensus/replica.ts";
import type { Start } from "../../src/consensus/recovery/start.ts";
import { AcceptedBallots } from "./checkers/accepted-ballots.ts";
import type { Actor } from "./actor.ts";
import { checkBuffers } from "./checkers/buffer-bounds.ts";
import type { Coverage } from "./coverage.ts";
import type { EventQueue } from "./event-queue.ts";
import type { DiskCopy, TailFate } from "./log-disk.ts";
import { LogWriter } from "./log-writer.ts";
import type { SafetyChecker } from "./checkers/safety-checker.ts";
import type { SimWire } from "./sim-wire.ts";
import { ToyApp, type Placement } from "./toy-app.ts";
import { areTransactionsValid, parseTransaction } from "./toy-transaction.ts";
import type { Trace } from "./trace.ts";
import { Violation } from "./checkers/violation.ts";

export type NodeOptions = {
  readonly endpoint: number;
  readonly parameters: Parameters;
  readonly syncUs: readonly [number, number];
  readonly executeUs: readonly [number, number];
  readonly compactEvery: number;
  readonly retention: number;
  readonly wallSkewMs: number;
  /** A Byzantine replica, or undefined for a correct one. */
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

const BUFFERS_CHECKED_EVERY = 16;

export class SimNode {
  readonly endpoint: number;
  readonly index: ReplicaIndex;
  readonly log: LogWriter;
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
  #steps = 0;
  #wakeUs: number | undefined;
  #lastTickUs = -1;
  #ticksInPlace = 0;
  #isExecuting = false;
  #crashCountdown: number | undefined;
  #afterCrash: (() => void) | undefined;
  /** Inputs that arrive while the process is stopped. */
  #held: Input[] | undefined;
  readonly #accepted = new AcceptedBallots();
  #highestEpoch = 0;
  #untrustedThroughEpoch = -1;
  executeSlowdownUs = 0;
  /** From this height on the machine computes wrongly. */
  perturbFromHeight = Infinity;
  hasLostDisk = false;

  constructor(options: NodeOptions, world: World, prng: Prng) {
    this.#options = options;
    this.#world = world;
    this.#prng = prng;
    this.endpoint = options.endpoint;
    this.index = options.parameters.self;
    this.actor = options.actor;
    this.wallSkewMs = options.wallSkewMs;
    this.#ports = world.wire.portsOf(this.index);
    this.log = new LogWriter(
      {
        index: this.index,
        isCorrect: this.actor === undefined,
        syncUs: options.syncUs,
        compactEvery: options.compactEvery,
      },
      {
        ...world,
        prng,
        onSynced: (lsn) => this.input({ kind: "synced", lsn }),
        onSyncFailed: () => this.crash("subset", false),
      },
    );
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
  start(isBootstrap: boolean): void {
    this.#world.trace.note(() => `${this.name()} starts${isBootstrap ? " (bootstrap)" : ""}`);
    this.#life++;
    this.#monoOffsetMs = this.#prng.below(1_000_000);
    this.#reset();
    const how = isBootstrap ? ({ kind: "bootstrap" } as const) : this.#recover();
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
    this.log.reset();
    this.log.disk.losePower(fate, this.#prng);
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
    const transactionsValid = areTransactionsValid(message);
    this.input({ kind: "message", from, message, transactionsValid });
  }

  /** A client asks. What was executed is answered from the store. */
  onSubmit(transaction: Transaction): void {
    const call = parseTransaction(transaction.bytes);
    if (call === undefined || this.#replica === undefined || this.isPaused()) return;
    if (this.actor?.censors(transaction) === true) return;
    const placement = this.app.placementOf(call.client);
    if (placement !== undefined && placement.count >= call.count) {
      if (placement.count === call.count) this.#answer(placement);
      return;
    }
    this.input({ kind: "submit", transactions: [transaction] });
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
      else if (input.kind === "message" && this.isCorrect()) {
        this.#accepted.note(this.name(), input.message);
      }
      this.#carryOut(effects);
    });
    if (++this.#steps % BUFFERS_CHECKED_EVERY === 0 && this.isCorrect()) {
      checkBuffers(this.name(), replica.status(), this.#options.parameters);
    }
    this.#scheduleWake();
  }

  name(): string {
    return this.endpoint === this.index ? `${this.index}` : `${this.index}'`;
  }

  #reset(): void {
    this.log.reset();
    this.#wakeUs = undefined;
    this.#ticksInPlace = 0;
    this.#isExecuting = false;
    this.#held = undefined;
    this.#accepted.clear();
  }

  #recover(): Start {
    const nonce = bytesToHex(this.#prng.bytes(32));
    const records = this.log.recover();
    if (records !== undefined) return { kind: "resume", records, nonce };
    this.loseDisk();
    return { kind: "empty", nonce };
  }

  /** The log and everything beside it are gone, or the log of an observer is in its place. */
  loseDisk(copy?: DiskCopy): void {
    if (copy === undefined || !this.log.disk.restore(copy)) {
      this.log.disk.wipe();
      this.app.wipe();
    }
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
    if (this.#replica !== undefined && this.log.isCompactionDue()) {
      this.app.flush();
      this.log.compact(this.#replica.snapshot());
    }
  }

  #perform(effect: Effect): void {
    const { coverage, trace } = this.#world;
    trace.effect(this.endpoint, effect);
    switch (effect.kind) {
      case "append":
        this.log.append(effect.record, effect.lsn);
        return;
      case "sync":
        this.log.sync();
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
      case "notice": {
        const { notice } = effect;
        coverage.count(`notice: ${notice.code}`);
        if (notice.code === "LEADER_SUSPECTED") coverage.count(`complaint: ${notice.reason}`);
        if (notice.code === "CATCHING_UP") this.#world.checker.onCatchingUp(this.index, notice.to);
        if (notice.code === "EPOCH_ENTERED") this.#highestEpoch = notice.epoch;
        if (notice.code === "EPOCH_JOINED") this.hasLostDisk = false;
        if (notice.code === "ROLLED_BACK") this.hasLostDisk = true;
      }
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

  /** Sends without asking the actor, for a correct replica and, in the end, a Byzantine one. */
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
    return [...Array(replicaCount).keys()].filter((index) => index !== this.index);
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

  #scheduleWake(leastUs = this.#world.queue.nowUs()): void {
    const wakeAtMs = this.#replica?.wakeAtMs();
    if (wakeAtMs === undefined || this.#held !== undefined) return;
    const dueUs = Math.max(leastUs, Math.ceil((wakeAtMs - this.#monoOffsetMs) * 1000));
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
    if (wakeAtMs > this.clock().nowMs) {
      // Either it was moved, or it lies less than a microsecond ahead: virtual time is whole ones.
      this.#scheduleWake(nowUs + 1);
      return;
    }
    this.#ticksInPlace = nowUs === this.#lastTickUs ? this.#ticksInPlace + 1 : 0;
    this.#lastTickUs = nowUs;
    if (this.#ticksInPlace > 50) {
      throw new Violation("tick", `${this.name()} asks to be woken at once, again and again`);
    }
    this.input({ kind: "tick" });
  }

  /** A Byzantine actor may confuse its own replica into stopping; a correct one never stops. */
  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof InvariantError)) throw error;
      if (this.isCorrect()) {
        throw new Violation("invariant", `${this.name()}: ${error.stack ?? error.message}`);
      }
      this.#world.coverage.count("a Byzantine replica confused itself");
      this.crash("lost", false);
    }
  }
}
