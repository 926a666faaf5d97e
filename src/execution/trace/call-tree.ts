/** The calls of a transaction as they happen, one inside the other. */
import { bytesToHex, type Hex, numberToHex, wordToHex } from "../../base/hex.ts";
import { invariant } from "../../base/invariant.ts";
import { addressToHex } from "../../chain/address.ts";
import type { Fault, FrameEntry, FrameExit, Step, Tracer } from "../../evm/tracer.ts";
import type { TraceRoom } from "./execution-trace.ts";
import { logOfStep } from "./step-log.ts";

/** Of the fields that every call has. */
const CALL_BYTES = 300;

export type TracedCallFrame = {
  readonly entry: Omit<FrameEntry, "input">;
  readonly input: Hex;
  /** Who calls: for a DELEGATECALL the account that runs it, not the sender that its code sees. */
  readonly from: bigint;
  /** The account that runs. */
  readonly address: bigint;
  readonly calls: TracedCallFrame[];
  readonly logs: CallLog[];
  exit: (Omit<FrameExit, "output"> & { readonly output: Uint8Array }) | undefined;
  /** The opcode that failed it, if one did. */
  fault: Fault | undefined;
};

export type CallLog = {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  /** How many calls came before it in its frame. */
  readonly position: Hex;
};

export type CallTreeOptions = {
  readonly isTopOnly: boolean;
  readonly hasLogs: boolean;
  /** What the depth of a call adds to its text, for each level. */
  readonly depthBytes: number;
};

export class CallTree {
  readonly #options: CallTreeOptions;
  readonly #room: TraceRoom;
  readonly #open: TracedCallFrame[] = [];
  #top: TracedCallFrame | undefined;
  #log: CallLog | undefined;
  /** Of the frame that ends next. */
  #fault: Fault | undefined;

  constructor(options: CallTreeOptions, room: TraceRoom) {
    this.#options = options;
    this.#room = room;
  }

  /** The call that the transaction makes; undefined before it began. */
  get top(): TracedCallFrame | undefined {
    return this.#top;
  }

  get hooks(): Tracer {
    const steps = this.#options.hasLogs
      ? {
          onStep: (step: Step) => this.#onStep(step),
          onStepEnd: () => this.#onStepEnd(),
        }
      : {};
    return {
      ...steps,
      onFault: (fault) => this.#onFault(fault),
      onEnter: (entry) => this.#onEnter(entry),
      onExit: (exit) => this.#onExit(exit),
    };
  }

  #onEnter(entry: FrameEntry): void {
    const { isTopOnly, depthBytes } = this.#options;
    const isSeen = entry.depth === 0 || !isTopOnly;
    const input = isSeen ? bytesToHex(entry.input) : "0x";
    const call: TracedCallFrame = {
      entry: { ...entry },
      input,
      ...this.#accountsOf(entry),
      calls: [],
      logs: [],
      exit: undefined,
      fault: undefined,
    };
    if (isSeen) {
      this.#room.take(CALL_BYTES + input.length + depthBytes * entry.depth);
      this.#open.at(-1)?.calls.push(call);
    }
    this.#top ??= call;
    this.#open.push(call);
  }

  #onExit(exit: FrameExit): void {
    const call = this.#open.pop();
    invariant(call !== undefined, "a frame is entered before it ends");
    call.exit = { ...exit, output: Uint8Array.from(exit.output) };
    call.fault = this.#fault;
    this.#fault = undefined;
    this.#room.take(2 * exit.output.length);
    if (exit.status !== "success") forgetLogs(call);
  }

  #onStep(step: Step): void {
    this.#log = this.#logOf(step);
  }

  #onStepEnd(): void {
    if (this.#log !== undefined) this.#open.at(-1)?.logs.push(this.#log);
    this.#log = undefined;
  }

  #onFault(fault: Fault): void {
    this.#log = undefined;
    this.#fault = fault;
  }

  #accountsOf({ kind, caller, to }: FrameEntry): Pick<TracedCallFrame, "from" | "address"> {
    const outer = this.#open.at(-1)?.address ?? caller;
    // Borrowed code runs as the account that borrows it.
    if (kind === "DELEGATECALL") return { from: outer, address: outer };
    return kind === "CALLCODE" ? { from: caller, address: outer } : { from: caller, address: to };
  }

  #logOf(step: Step): CallLog | undefined {
    const log = logOfStep(step);
    if (log === undefined) return undefined;
    this.#room.take(CALL_BYTES + 2 * log.data.length);
    return {
      address: addressToHex(log.address),
      topics: log.topics.map(wordToHex),
      data: bytesToHex(log.data),
      position: numberToHex(this.#open.at(-1)?.calls.length ?? 0),
    };
  }
}

function forgetLogs(call: TracedCallFrame): void {
  call.logs.length = 0;
  for (const inner of call.calls) forgetLogs(inner);
}
