/** CREATE and CREATE2. */
import { allButOne64th } from "./call-opcodes.ts";
import { create2Address, createAddress } from "../create-address.ts";
import { EMPTY_BYTES, type Frame } from "../frame.ts";
import { CALL_DEPTH_MAX, enterCreate, NONCE_MAX } from "../frame-entry.ts";
import { settleCreate } from "../frame-exit.ts";
import { coverMemory, viewMemory } from "../frame-memory.ts";
import type { Machine } from "../machine.ts";
import * as signal from "../signal.ts";

/** EIP-3860: twice the largest code. */
const INIT_CODE_BYTES_MAX = 49_152;
const INIT_CODE_WORD_GAS = 2;
const KECCAK_WORD_GAS = 6;

export function createOpcode(
  frame: Frame,
  machine: Machine,
  kind: "CREATE" | "CREATE2",
): signal.Signal {
  if (frame.isStatic) return signal.STATIC_VIOLATION;
  const { stack, address: caller } = frame;
  const { memory, world } = machine;
  const value = stack[--frame.stackSize] ?? 0n;
  const offset = Number(stack[--frame.stackSize]);
  const size = Number(stack[--frame.stackSize]);
  const salt = kind === "CREATE2" ? (stack[--frame.stackSize] ?? 0n) : 0n;
  if (size > INIT_CODE_BYTES_MAX) return signal.INIT_CODE_TOO_LARGE;
  const wordGas = kind === "CREATE2" ? INIT_CODE_WORD_GAS + KECCAK_WORD_GAS : INIT_CODE_WORD_GAS;
  frame.gas -= wordGas * Math.ceil(size / 32);
  if (frame.gas < 0 || !coverMemory(frame, memory, offset, size)) return signal.OUT_OF_GAS;
  frame.returnData = EMPTY_BYTES;

  const nonce = world.nonce(caller);
  if (frame.depth >= CALL_DEPTH_MAX || nonce === NONCE_MAX || world.balance(caller) < value) {
    // Refused before it begins: it costs no more than was paid, and the nonce stays.
    stack[frame.stackSize++] = 0n;
    return signal.CONTINUE;
  }
  const gas = allButOne64th(frame.gas);
  frame.gas -= gas;
  const initCode = viewMemory(frame, memory, offset, size);
  const isSalted = kind === "CREATE2";
  const address = isSalted ? create2Address(caller, salt, initCode) : createAddress(caller, nonce);
  // The nonce and the warmth last even if the creation fails.
  world.setNonce(caller, nonce + 1n);
  world.warmAddress(address);
  const outcome = enterCreate(machine, frame, { kind, caller, address, value, initCode, gas });
  if (outcome === signal.ENTERED) {
    frame.pc++;
    return signal.ENTERED;
  }
  settleCreate(frame, machine, outcome, address);
  return signal.CONTINUE;
}
