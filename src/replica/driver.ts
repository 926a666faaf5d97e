/**
 * Moves the consensus core: one input at a time, effects in order (PROTOCOL §4). The core emits
 * what depends on the disk only after `synced`, so nothing here waits before it sends.
 *
 * A log that cannot be written is the end: the driver stops at once and signs nothing any more.
 */
import { CodedError } from "../base/coded-error.ts";
import { unreachable } from "../base/invariant.ts";
import type { Block, ReplicaIndex } from "../consensus/block.ts";
import type { ExecCert, FinalCert } from "../consensus/certificate.ts";
import type { Clock, Effect, Input, Notice } from "../consensus/effect.ts";
import type { Message } from "../consensus/message.ts";
import type { Replica, ReplicaStatus, StepResult } from "../consensus/replica.ts";
import type { Start } from "../consensus/recovery/start.ts";
import type { ReplicaLog } from "./replica-log.ts";

/** What the core asks of the world. All are synchronous; what takes time comes back as an input. */
export type DriverPorts = {
  send(to: ReplicaIndex | "all", message: Message): void;
  finalize(blocks: readonly Block[], certificate: FinalCert): void;
  serveBlocks(to: ReplicaIndex, fromHeight: number, toHeight: number): void;
  checkpoint(certificate: ExecCert): void;
  notice(notice: Notice): void;
  /** There is no room for another segment; or there is again. Nothing new should be let in. */
  onLogFull(isFull: boolean): void;
  /** Inputs come faster than the disk takes what they lead to; or it has caught up. */
  onCongested(isCongested: boolean): void;
  /** Final blocks are durable in the block store when it resolves. */
  flushBlocks(): Promise<void>;
  /** Once. The process should end; the replica has stopped. */
  onFatal(error: unknown): void;
};

/** The log as the driver uses it. */
export type DriverLog = Pick<
  ReplicaLog,
  | "isBegun"
  | "wantsRotation"
  | "segmentId"
  | "unsyncedBytes"
  | "append"
  | "sync"
  | "begin"
  | "prepareSpare"
  | "dropBefore"
>;

type Queued = {
  readonly input: Input;
  readonly onOutcome: OnOutcome | undefined;
};

/** Hears whether the core took an input. */
export type OnOutcome = (outcome: Pick<StepResult, "rejection" | "refused">) => void;

const TIMER_MIN_MS = 1;
/** How long a full disk is left alone before the next try. */
const DISK_RETRY_MS = 1_000;
/**
 * While a disk stalls, inputs wait for a segment or their records for a sync. Above these limits
 * peers are not read from, until less than a quarter is left; what is in their sockets then is all
 * that can still come.
 */
const QUEUE_MAX = 4_096;
const UNSYNCED_BYTES_MAX = 64 * 1024 * 1024;
const LOW_PART = 4;

export class Driver {
  readonly #replica: Replica;
  readonly #log: DriverLog;
  readonly #ports: DriverPorts;
  readonly #queue: Queued[] = [];
  #state: "starting" | "idle" | "running" | "rotating" | "stopped" = "starting";
  #timer: NodeJS.Timeout | undefined;
  #timerDueMs = Infinity;
  /** The segment that may be the oldest once the final blocks of its snapshot are in the store. */
  #dropping: Promise<void> | undefined;
  /** Before this moment no new segment is tried: there was no room for one. */
  #rotateFromMs = 0;
  #isCongested = false;
  rotations = 0;
  steps = 0;

  constructor(replica: Replica, log: DriverLog, ports: DriverPorts) {
    this.#replica = replica;
    this.#log = log;
    this.#ports = ports;
  }

  /** Inputs that came before are handled after it. */
  async start(how: Start): Promise<void> {
    let effects = this.#replica.start(how, readClock());
    if (!this.#log.isBegun) {
      const first = effects.find((effect) => effect.kind === "append");
      if (first !== undefined) {
        await this.#log.begin(first.record);
        effects = effects.filter((effect) => effect !== first);
      }
    }
    this.#state = "running";
    this.#guard(() => this.#carryOut(effects));
    this.#run();
    this.#dropOlder(this.#log.segmentId);
  }

  status(): ReplicaStatus {
    return this.#replica.status();
  }

  /** `onOutcome` may be called before this returns. */
  input(input: Input, onOutcome?: OnOutcome): void {
    if (this.#state === "stopped") return;
    this.#queue.push({ input, onOutcome });
    if (this.#state === "idle") this.#run();
    else if (this.#state !== "running") this.#watchBacklog();
  }

  /** Takes no more inputs. What was appended is made durable by closing the log. */
  async stop(): Promise<void> {
    this.#halt();
    await this.#dropping;
  }

  #halt(): void {
    this.#state = "stopped";
    this.#queue.length = 0;
    clearTimeout(this.#timer);
  }

  #run(): void {
    if (this.#state === "stopped") return;
    this.#state = "running";
    for (let at = 0; at < this.#queue.length && this.#isRunning(); at++) {
      const queued = this.#queue[at];
      if (queued === undefined) break;
      this.#guard(() => {
        this.#step(queued);
      });
    }
    this.#queue.length = 0;
    if (!this.#isRunning()) return;
    this.#watchBacklog();
    this.#state = "idle";
    if (this.#log.wantsRotation && performance.now() >= this.#rotateFromMs) this.#rotate();
    this.#arm();
  }

  #watchBacklog(): void {
    const [queued, unsynced] = [this.#queue.length, this.#log.unsyncedBytes];
    const isHigh = queued >= QUEUE_MAX || unsynced >= UNSYNCED_BYTES_MAX;
    const isLow = queued < QUEUE_MAX / LOW_PART && unsynced < UNSYNCED_BYTES_MAX / LOW_PART;
    if (this.#isCongested ? !isLow : !isHigh) return;
    this.#isCongested = !this.#isCongested;
    this.#ports.onCongested(this.#isCongested);
  }

  /** Another method may have stopped the driver meanwhile; the compiler cannot know. */
  #isRunning(): boolean {
    return (this.#state as string) === "running";
  }

  #step({ input, onOutcome }: Queued): void {
    this.steps++;
    const step = this.#replica.step(input, readClock());
    this.#carryOut(step.effects);
    onOutcome?.(step);
  }

  #carryOut(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case "append":
          this.#log.append(effect.record);
          break;
        case "sync":
          this.#sync(effect.lsn);
          break;
        case "send":
          this.#ports.send(effect.to, effect.message);
          break;
        case "finalize":
          this.#ports.finalize(effect.blocks, effect.certificate);
          break;
        case "serveBlocks":
          this.#ports.serveBlocks(effect.to, effect.fromHeight, effect.toHeight);
          break;
        case "checkpoint":
          this.#ports.checkpoint(effect.certificate);
          break;
        case "notice":
          this.#ports.notice(effect.notice);
          break;
        default:
          unreachable(effect);
      }
    }
  }

  #sync(lsn: number): void {
    this.#log.sync().then(
      () => this.input({ kind: "synced", lsn }),
      (error: unknown) => this.#die(error),
    );
  }

  /** A new segment begins with all that safety needs; inputs wait until it is there. */
  #rotate(): void {
    this.#state = "rotating";
    this.#log.begin(this.#replica.snapshot()).then(
      () => {
        if (this.#state === "stopped") return;
        this.rotations++;
        if (this.#rotateFromMs > 0) this.#ports.onLogFull(false);
        this.#rotateFromMs = 0;
        this.#dropOlder(this.#log.segmentId);
        this.#goOn();
      },
      (error: unknown) => {
        if (!(error instanceof CodedError) || error.code !== "DISK_FULL") {
          this.#die(error);
          return;
        }
        // The log goes on in its old segment, which has room as long as nothing new is let in.
        if (this.#rotateFromMs === 0) this.#ports.onLogFull(true);
        this.#rotateFromMs = performance.now() + DISK_RETRY_MS;
        this.#goOn();
      },
    );
  }

  #goOn(): void {
    if (this.#state === "stopped") return;
    this.#state = "idle";
    this.#run();
  }

  /** Older segments go once what they alone hold, the final blocks, is in the store. */
  #dropOlder(segmentId: number): void {
    this.#dropping = this.#ports
      .flushBlocks()
      .then(() => this.#log.sync())
      .then(() => this.#log.dropBefore(segmentId))
      // A full disk keeps old segments; the next rotation tries again.
      .catch(() => undefined);
  }

  #arm(): void {
    this.#log.prepareSpare().catch(() => undefined);
    const dueMs = this.#replica.wakeAtMs();
    // A timer that is due earlier looks again when it fires: most deadlines only move on.
    if (dueMs === undefined || dueMs >= this.#timerDueMs) return;
    clearTimeout(this.#timer);
    this.#timerDueMs = dueMs;
    const delayMs = Math.max(TIMER_MIN_MS, Math.ceil(dueMs - performance.now()));
    this.#timer = setTimeout(() => this.#onTimer(), delayMs);
  }

  /**
   * After what the sockets hold was read: a thread that had no turn for a while would else take its
   * peers for silent whose messages it has only not looked at.
   */
  #onTimer(): void {
    setImmediate(() => this.#tick());
  }

  #tick(): void {
    this.#timerDueMs = Infinity;
    if (this.#state !== "idle") return;
    const dueMs = this.#replica.wakeAtMs();
    if (dueMs === undefined) return;
    if (dueMs <= performance.now()) this.input({ kind: "tick" });
    else this.#arm();
  }

  #guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#die(error);
    }
  }

  #die(error: unknown): void {
    if (this.#state === "stopped") return;
    this.#halt();
    this.#ports.onFatal(error);
  }
}

function readClock(): Clock {
  return { nowMs: performance.now(), wallMs: Date.now() };
}
