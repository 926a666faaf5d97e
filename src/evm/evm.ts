import { delegateOf } from "./account-access.ts";
import { AnalyzedCodeCache } from "./analyzed-code.ts";
import { createAddress } from "./create-address.ts";
import { type EvmFork, rulesOf } from "./fork.ts";
import type { Frame } from "./frame.ts";
import { enterCall, enterCreate } from "./frame-entry.ts";
import { leaveFrame, resumeParent } from "./frame-exit.ts";
import { runFrame } from "./interpreter.ts";
import { Machine } from "./machine.ts";
import type { BlockContext, ExecutionResult, EvmMessage, TransactionContext } from "./message.ts";
import type { Precompile } from "./precompile.ts";
import * as signal from "./signal.ts";
import { stepStatusOf } from "./step-trace.ts";
import type { Tracer } from "./tracer.ts";
import type { Code, WorldState } from "./world-state.ts";

export type EvmOptions = {
  readonly fork: EvmFork;
  readonly chainId: bigint;
  /** How many bytes the analyses of code may hold. */
  readonly codeCacheBytesMax?: number;
};

export type EvmDependencies = {
  readonly world: WorldState;
  readonly precompiles: ReadonlyMap<bigint, Precompile>;
  /** Analyses shared with other machines; by default an Evm keeps its own. */
  readonly codes?: AnalyzedCodeCache | undefined;
  /** Looked at after every few thousand gas: true ends the execution with status "stopped". */
  readonly shouldStop?: () => boolean;
  /** For execution that a thread can take up elsewhere; never for the blocks of the chain. */
  readonly preemption?: Preemption | undefined;
};

/**
 * Ends an execution by the work it does, with status "stopped". Code without a single jump can hash
 * for seconds, so the flag is looked at after every opcode that can be dear, once a frame has spent
 * some gas, and at every entry into a frame. It is separate from `shouldStop`, because how much
 * slow work a block has done depends on where that one is looked at (slow-work-meter.ts).
 */
export type Preemption = {
  readonly isPreempted: () => boolean;
  /** The most bytes that one hash may take: a hash cannot be interrupted. */
  readonly bulkBytesMax: number;
  /** The most opcodes in a row at which the flag is not looked at: longer code is not begun. */
  readonly runMax: number;
};

export type ExecutionContext = {
  readonly block: BlockContext;
  readonly tx: TransactionContext;
  readonly tracer?: Tracer | undefined;
};

/**
 * The Ethereum Virtual Machine: runs one message at a time against a world, synchronously.
 *
 * Calls inside the EVM are frames on a stack of our own, so depth 1024 needs no JavaScript stack.
 * Keep one Evm for many transactions: frames, memory and the analysis of code are reused.
 * Whatever a failed or reverted message did to the world is undone; everything about the
 * transaction around it (fee, nonce, warm addresses of EIP-2929 and EIP-3651, refund) is not here.
 */
export class Evm {
  readonly #machine: Machine;

  constructor(options: EvmOptions, dependencies: EvmDependencies) {
    this.#machine = new Machine({
      rules: rulesOf(options.fork),
      chainId: options.chainId,
      world: dependencies.world,
      precompiles: dependencies.precompiles,
      codes:
        dependencies.codes ??
        new AnalyzedCodeCache(options.codeCacheBytesMax ?? CODE_CACHE_BYTES_MAX),
      shouldStop: dependencies.shouldStop ?? neverStop,
      isPreempted: dependencies.preemption?.isPreempted ?? neverStop,
      bulkBytesMax: dependencies.preemption?.bulkBytesMax ?? Infinity,
      runMax: dependencies.preemption?.runMax ?? Infinity,
    });
  }

  get precompiles(): ReadonlyMap<bigint, Precompile> {
    return this.#machine.precompiles;
  }

  /** The least gas that slow opcodes cost in the execution that runs or ran last (slow-work.ts). */
  get slowGas(): number {
    return this.#machine.slowGas;
  }

  execute(message: EvmMessage, context: ExecutionContext): ExecutionResult {
    const machine = this.#machine;
    machine.reset();
    machine.block = context.block;
    machine.tx = context.tx;
    machine.tracer = context.tracer;
    const mark = machine.world.snapshot();
    const createdAddress =
      message.kind === "create" ? createAddress(message.caller, message.nonce) : undefined;
    const entered = this.#enter(message, createdAddress);
    const outcome = entered === signal.ENTERED ? this.#drive() : entered;
    if (outcome === signal.STOPPED) machine.world.revertTo(mark);
    return {
      status: stepStatusOf(outcome),
      reason: signal.isFailure(outcome) ? signal.failureReason(outcome) : undefined,
      gasLeft: machine.settledGas,
      output: machine.settledOutput,
      createdAddress,
    };
  }

  #enter(message: EvmMessage, createdAddress: bigint | undefined): signal.Signal {
    const { caller, value, data, gas } = message;
    if (message.kind === "create") {
      const address = createdAddress ?? 0n;
      if (this.#machine.world.balance(caller) < value) return this.#refuse(gas);
      this.#machine.world.warmAddress(address);
      const initCode = data;
      const request = { kind: "CREATE", caller, address, value, initCode, gas } as const;
      return enterCreate(this.#machine, undefined, request);
    }
    return enterCall(this.#machine, undefined, {
      kind: "CALL",
      caller,
      address: message.to,
      to: message.to,
      code: this.#codeOf(message.to),
      value,
      isValueOwn: true,
      data,
      gas,
      isStatic: message.isStatic ?? false,
      outputOffset: 0,
      outputSize: 0,
    });
  }

  #refuse(gas: number): signal.Signal {
    this.#machine.settledGas = gas;
    this.#machine.settledOutput = new Uint8Array(0);
    return signal.INSUFFICIENT_BALANCE;
  }

  /** EIP-7702: a transaction to an account that delegates runs, and warms, the delegate's code. */
  #codeOf(to: bigint): Code {
    const { world, rules } = this.#machine;
    const code = world.code(to);
    const delegate = rules.hasDelegation ? delegateOf(code) : undefined;
    if (delegate === undefined) return code;
    world.warmAddress(delegate);
    return world.code(delegate);
  }

  /** Runs frames until the first one has ended. */
  #drive(): signal.Signal {
    const machine = this.#machine;
    let frame: Frame | undefined = machine.top;
    let ended: signal.Signal = signal.RETURNED;
    let runCount = 0;
    while (frame !== undefined) {
      if ((++runCount & POLL_FRAMES_MASK) === 0 && machine.shouldStop()) return signal.STOPPED;
      if (machine.isPreempted()) return signal.STOPPED;
      const outcome = runFrame(frame, machine);
      if (outcome === signal.STOPPED) return signal.STOPPED;
      if (outcome !== signal.ENTERED) {
        const child = frame;
        ended = leaveFrame(child, machine, outcome);
        const parent = machine.top;
        if (parent !== undefined) resumeParent(parent, child, machine, ended);
      }
      frame = machine.top;
    }
    return ended;
  }
}

const CODE_CACHE_BYTES_MAX = 0x400_0000;
/** The stop flag is also looked at once every 16 entries into the interpreter's loop. */
const POLL_FRAMES_MASK = 15;

function neverStop(): boolean {
  return false;
}
