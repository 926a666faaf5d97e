/** Opcodes that move bytes: copies, KECCAK256, logs and the two ways to return. */
import { keccak256Word } from "../../crypto/keccak256.ts";
import { accountAccessGas } from "../account-access.ts";
import { EMPTY_BYTES, type Frame } from "../frame.ts";
import { copyGas, copyMemory, coverMemory, fillMemory } from "../frame-memory.ts";
import type { Machine } from "../machine.ts";
import {
  CONTINUE,
  OUT_OF_GAS,
  RETURN_DATA_OUT_OF_BOUNDS,
  type Signal,
  STATIC_VIOLATION,
  STOPPED,
} from "../signal.ts";
import { ADDRESS_MASK } from "../word.ts";

const EMPTY_HASH = keccak256Word(EMPTY_BYTES, 0, 0);

export function keccak(frame: Frame, { memory, bulkBytesMax }: Machine): Signal {
  const offset = pop(frame);
  const size = Number(frame.stack[frame.stackSize - 1]);
  frame.gas -= 6 * Math.ceil(size / 32);
  if (frame.gas < 0 || !coverMemory(frame, memory, offset, size)) return OUT_OF_GAS;
  if (size > bulkBytesMax) return STOPPED;
  frame.stack[frame.stackSize - 1] =
    size === 0 ? EMPTY_HASH : keccak256Word(memory.bytes, frame.memoryBase + offset, size);
  return CONTINUE;
}

export function callDataCopy(frame: Frame, machine: Machine): Signal {
  return copyFrom(frame, machine, frame.data, frame.data.length);
}

export function codeCopy(frame: Frame, machine: Machine): Signal {
  return copyFrom(frame, machine, frame.code.bytes, frame.code.size);
}

export function extCodeCopy(frame: Frame, machine: Machine): Signal {
  const address = (frame.stack[--frame.stackSize] ?? 0n) & ADDRESS_MASK;
  frame.gas -= accountAccessGas(machine, address);
  if (frame.gas < 0) return OUT_OF_GAS;
  const { bytes } = machine.world.code(address);
  return copyFrom(frame, machine, bytes, bytes.length);
}

/** EIP-211: unlike all other copies it fails when it reads beyond the end, even of no bytes. */
export function returnDataCopy(frame: Frame, machine: Machine): Signal {
  const sourceOffset = Number(frame.stack[frame.stackSize - 2]);
  const size = Number(frame.stack[frame.stackSize - 3]);
  if (sourceOffset + size > frame.returnData.length) return RETURN_DATA_OUT_OF_BOUNDS;
  return copyFrom(frame, machine, frame.returnData, frame.returnData.length);
}

/** EIP-5656. The ranges may overlap. */
export function memoryCopy(frame: Frame, { memory }: Machine): Signal {
  const offset = pop(frame);
  const sourceOffset = pop(frame);
  const size = pop(frame);
  frame.gas -= copyGas(size);
  if (frame.gas < 0) return OUT_OF_GAS;
  if (!coverMemory(frame, memory, Math.max(offset, sourceOffset), size)) return OUT_OF_GAS;
  if (size === 0) return CONTINUE;
  const source = frame.memoryBase + sourceOffset;
  memory.bytes.copyWithin(frame.memoryBase + offset, source, source + size);
  return CONTINUE;
}

export function log(frame: Frame, machine: Machine, topicCount: number): Signal {
  if (frame.isStatic) return STATIC_VIOLATION;
  const offset = pop(frame);
  const size = pop(frame);
  frame.gas -= 8 * size;
  if (frame.gas < 0 || !coverMemory(frame, machine.memory, offset, size)) return OUT_OF_GAS;
  const topics: bigint[] = [];
  for (let index = 0; index < topicCount; index++) {
    topics.push(frame.stack[--frame.stackSize] ?? 0n);
  }
  const data = copyMemory(frame, machine.memory, offset, size);
  machine.world.addLog({ address: frame.address, topics, data });
  return CONTINUE;
}

/** RETURN and REVERT, which differ only in what the driver does next. */
export function end(frame: Frame, { memory }: Machine, outcome: Signal): Signal {
  const offset = pop(frame);
  const size = pop(frame);
  if (!coverMemory(frame, memory, offset, size)) return OUT_OF_GAS;
  frame.output = copyMemory(frame, memory, offset, size);
  return outcome;
}

function copyFrom(
  frame: Frame,
  { memory }: Machine,
  source: Uint8Array,
  sourceSize: number,
): Signal {
  const offset = pop(frame);
  const sourceOffset = pop(frame);
  const size = pop(frame);
  frame.gas -= copyGas(size);
  if (frame.gas < 0 || !coverMemory(frame, memory, offset, size)) return OUT_OF_GAS;
  if (size > 0) fillMemory(frame, memory, { source, sourceSize, sourceOffset, offset, size });
  return CONTINUE;
}

/** An offset or a size. Beyond 2^53 it is rounded, which no gas can tell from the exact number. */
function pop(frame: Frame): number {
  return Number(frame.stack[--frame.stackSize]);
}
