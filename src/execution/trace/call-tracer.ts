/** The calls of a transaction, one inside the other. */
import { bytesToHex, type Hex, numberToHex, wordToHex } from "../../base/hex.ts";
import { invariant } from "../../base/invariant.ts";
import { addressToHex } from "../../chain/address.ts";
import { revertReason } from "../../chain/revert-reason.ts";
import type { CallTracerOptions } from "../../api/trace-options.ts";
import type { Fault, FrameEntry, FrameExit, Step } from "../../evm/tracer.ts";
import type { ExecutedTransaction } from "../transaction-request.ts";
import type { ExecutionTrace, Json, TraceSetting } from "./execution-trace.ts";
import { failureText, faultText, REVERTED_TEXT } from "./failure-text.ts";
import { logOfStep } from "./step-log.ts";

/** Of the fields that every call has. */
const CALL_BYTES = 300;

type Call = {
  readonly entry: Omit<FrameEntry, "input">;
  readonly input: Hex;
  /** Who calls: for a DELEGATECALL the account that runs it, not the sender that its code sees. */
  readonly from: bigint;
  /** The account that runs. */
  readonly address: bigint;
  readonly calls: Call[];
  readonly logs: CallLog[];
  exit: (Omit<FrameExit, "output"> & { readonly output: Uint8Array }) | undefined;
  /** The opcode that failed it, if one did. */
  fault: Fault | undefined;
};

type CallLog = {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  /** How many calls came before it in its frame. */
  readonly position: Hex;
};

export function createCallTracer(
  options: CallTracerOptions,
  setting: TraceSetting,
): ExecutionTrace {
  const tracer = new CallTracer(options, setting);
  const steps = options.hasLogs
    ? {
        onStep: (step: Step) => tracer.onStep(step),
        onStepEnd: () => tracer.onStepEnd(),
      }
    : {};
  return {
    hooks: {
      ...steps,
      onFault: (fault) => tracer.onFault(fault),
      onEnter: (entry) => tracer.onEnter(entry),
      onExit: (exit) => tracer.onExit(exit),
    },
    result: (executed) => tracer.result(executed),
  };
}

class CallTracer {
  readonly #options: CallTracerOptions;
  readonly #setting: TraceSetting;
  readonly #open: Call[] = [];
  #top: Call | undefined;
  #log: CallLog | undefined;
  /** Of the frame that ends next. */
  #fault: Fault | undefined;

  constructor(options: CallTracerOptions, setting: TraceSetting) {
    this.#options = options;
    this.#setting = setting;
  }

  onEnter(entry: FrameEntry): void {
    const isSeen = entry.depth === 0 || !this.#options.isTopOnly;
    const input = isSeen ? bytesToHex(entry.input) : "0x";
    const call: Call = {
      entry: { ...entry },
      input,
      ...this.#accountsOf(entry),
      calls: [],
      logs: [],
      exit: undefined,
      fault: undefined,
    };
    if (isSeen) {
      this.#setting.room.take(CALL_BYTES + input.length);
      this.#open.at(-1)?.calls.push(call);
    }
    this.#top ??= call;
    this.#open.push(call);
  }

  onExit(exit: FrameExit): void {
    const call = this.#open.pop();
    invariant(call !== undefined, "a frame is entered before it ends");
    call.exit = { ...exit, output: Uint8Array.from(exit.output) };
    call.fault = this.#fault;
    this.#fault = undefined;
    this.#setting.room.take(2 * exit.output.length);
    if (exit.status !== "success") forgetLogs(call);
  }

  onStep(step: Step): void {
    this.#log = this.#logOf(step);
  }

  onStepEnd(): void {
    if (this.#log !== undefined) this.#open.at(-1)?.logs.push(this.#log);
    this.#log = undefined;
  }

  onFault(fault: Fault): void {
    this.#log = undefined;
    this.#fault = fault;
  }

  result({ gasUsed }: ExecutedTransaction): Json {
    const { transaction } = this.#setting.request;
    if (this.#top === undefined) return {};
    const shown = formatCall(this.#top);
    return { ...shown, gas: numberToHex(transaction.gasLimit), gasUsed: numberToHex(gasUsed) };
  }

  #accountsOf({ kind, caller, to }: FrameEntry): Pick<Call, "from" | "address"> {
    const outer = this.#open.at(-1)?.address ?? caller;
    // Borrowed code runs as the account that borrows it.
    if (kind === "DELEGATECALL") return { from: outer, address: outer };
    return kind === "CALLCODE" ? { from: caller, address: outer } : { from: caller, address: to };
  }

  #logOf(step: Step): CallLog | undefined {
    const log = logOfStep(step);
    if (log === undefined) return undefined;
    this.#setting.room.take(CALL_BYTES + 2 * log.data.length);
    return {
      address: addressToHex(log.address),
      topics: log.topics.map(wordToHex),
      data: bytesToHex(log.data),
      position: numberToHex(this.#open.at(-1)?.calls.length ?? 0),
    };
  }
}

function formatCall({
  entry,
  input,
  from,
  calls,
  logs,
  exit,
  fault,
}: Call): Readonly<Record<string, Json>> {
  const { kind, to, value, gas } = entry;
  const isCreation = kind === "CREATE" || kind === "CREATE2";
  const hasFailed = exit?.status !== "success";
  return {
    type: kind,
    from: addressToHex(from),
    ...(!(isCreation && hasFailed) && { to: addressToHex(to) }),
    ...(kind !== "STATICCALL" && { value: numberToHex(value) }),
    gas: numberToHex(gas),
    gasUsed: numberToHex(exit?.gasUsed ?? 0),
    input,
    ...(exit !== undefined && formatExit(exit, fault)),
    ...(calls.length > 0 && { calls: calls.map(formatCall) }),
    ...(logs.length > 0 && { logs }),
  };
}

function formatExit(
  { status, reason, output }: FrameExit,
  fault: Fault | undefined,
): Readonly<Record<string, Json>> {
  const shown = output.length > 0 ? { output: bytesToHex(output) } : {};
  switch (status) {
    case "success":
      return shown;
    case "revert": {
      const text = revertReason(output);
      return { ...shown, error: REVERTED_TEXT, ...(text !== undefined && { revertReason: text }) };
    }
    case "failure":
      if (fault !== undefined) return { error: faultText(fault) };
      return { error: reason === undefined ? "failed" : failureText(reason) };
    case "stopped":
      return { error: "stopped" };
  }
}

/** What failed logged nothing, and neither did what it called. */
function forgetLogs(call: Call): void {
  call.logs.length = 0;
  for (const inner of call.calls) forgetLogs(inner);
}
