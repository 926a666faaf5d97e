/** Every step with what it saw: the default of debug_trace*. */
import { bytesToHex, type Hex, numberToHex, wordToHex } from "../../base/hex.ts";
import type { StructLoggerOptions } from "../../api/trace-options.ts";
import type { Fault, Step } from "../../evm/tracer.ts";
import { WordMap } from "../../state/word-map.ts";
import type { ExecutedTransaction } from "../transaction-request.ts";
import type { ExecutionTrace, Json, TraceSetting } from "./execution-trace.ts";
import { faultText, opcodeName } from "./failure-text.ts";

const SLOAD = 0x54;
const SSTORE = 0x55;
/** Of the fields that every step has. */
const STEP_BYTES = 80;
const WORD_TEXT_BYTES = 70;

type MutableStep = { -readonly [Name in keyof StepRecord]: StepRecord[Name] };
type StepRecord = {
  readonly pc: number;
  readonly op: string;
  readonly gas: number;
  readonly gasCost: number;
  readonly depth: number;
  readonly error?: string;
  readonly stack?: readonly Hex[];
  readonly memory?: readonly Hex[];
  readonly storage?: Readonly<Record<string, Hex>>;
  readonly refund?: number;
  readonly returnData?: Hex;
};

export function createStructLogger(
  options: StructLoggerOptions,
  setting: TraceSetting,
): ExecutionTrace {
  const logger = new StructLogger(options, setting);
  return {
    hooks: {
      onStep: (step) => logger.onStep(step),
      onStepEnd: (cost) => logger.onStepEnd(cost),
      onFault: (fault) => logger.onFault(fault),
    },
    result: (executed) => logger.result(executed),
  };
}

class StructLogger {
  readonly #options: StructLoggerOptions;
  readonly #setting: TraceSetting;
  readonly #steps: MutableStep[] = [];
  /** What was seen of the storage of each account so far. */
  readonly #storages = new WordMap<Record<string, Hex>>();
  /** The step that has not ended; undefined if it is not recorded. */
  #open: MutableStep | undefined;

  constructor(options: StructLoggerOptions, setting: TraceSetting) {
    this.#options = options;
    this.#setting = setting;
  }

  onStep(step: Step): void {
    const { stepsMax } = this.#options;
    this.#open = undefined;
    if (stepsMax > 0 && this.#steps.length >= stepsMax) return;
    const record: MutableStep = {
      pc: step.pc,
      op: opcodeName(step.op),
      gas: step.gas,
      gasCost: 0,
      depth: step.depth + 1,
    };
    this.#setting.room.take(STEP_BYTES);
    this.#addViews(record, step);
    this.#steps.push(record);
    this.#open = record;
  }

  onStepEnd(cost: number): void {
    if (this.#open !== undefined) this.#open.gasCost = cost;
    this.#open = undefined;
  }

  onFault(fault: Fault): void {
    if (this.#open !== undefined) {
      this.#open.gasCost = fault.cost;
      this.#open.error = faultText(fault);
    }
    this.#open = undefined;
  }

  result({ status, gasUsed, output }: ExecutedTransaction): Json {
    return {
      gas: Number(gasUsed),
      failed: status !== "success",
      returnValue: status === "failure" ? "0x" : bytesToHex(output),
      structLogs: this.#steps,
    };
  }

  #addViews(record: MutableStep, step: Step): void {
    const { hasStack, hasMemory, hasStorage, hasReturnData } = this.#options;
    const { room } = this.#setting;
    const refund = step.refund();
    if (refund > 0) record.refund = refund;
    if (hasStack) {
      record.stack = step.stack().map((word) => numberToHex(word));
      for (const word of record.stack) room.take(word.length + 3);
    }
    if (hasMemory) {
      record.memory = memoryWords(step.memory());
      room.take(record.memory.length * WORD_TEXT_BYTES);
    }
    if (hasReturnData && step.returnData().length > 0) {
      record.returnData = bytesToHex(step.returnData());
      room.take(record.returnData.length);
    }
    if (hasStorage && (step.op === SLOAD || step.op === SSTORE)) {
      record.storage = { ...this.#storageAfter(step) };
      room.take(2 * WORD_TEXT_BYTES * Object.keys(record.storage).length);
    }
  }

  #storageAfter(step: Step): Record<string, Hex> {
    const storage = this.#storages.get(step.address) ?? {};
    this.#storages.set(step.address, storage);
    const slot = step.peek(0);
    if (slot === undefined) return storage;
    const value =
      step.op === SSTORE ? step.peek(1) : this.#setting.journal.storage(step.address, slot);
    if (value !== undefined) storage[wordToHex(slot)] = wordToHex(value);
    return storage;
  }
}

function memoryWords(memory: Uint8Array): Hex[] {
  const words: Hex[] = [];
  for (let at = 0; at < memory.length; at += 32) {
    words.push(bytesToHex(memory.subarray(at, at + 32)));
  }
  return words;
}
