/** Opcodes that ask about the account, the transaction and the block. */
import { accountAccessGas } from "../account-access.ts";
import type { Frame } from "../frame.ts";
import type { Machine } from "../machine.ts";
import { CONTINUE, OUT_OF_GAS, type Signal } from "../signal.ts";
import type { SlowWork } from "../slow-work.ts";
import { ADDRESS_MASK, countToWord, readCountedWord } from "../word.ts";

/** For the one word that reaches beyond the end of the calldata. */
const padded = new Uint8Array(32);
const paddedView = new DataView(padded.buffer);

export function balance(frame: Frame, machine: Machine): Signal {
  const address = topAddress(frame);
  frame.gas -= accountAccessGas(machine, address);
  if (frame.gas < 0) return OUT_OF_GAS;
  return replaceTop(frame, machine.world.balance(address));
}

export function extCodeSize(frame: Frame, machine: Machine): Signal {
  const address = topAddress(frame);
  frame.gas -= accountAccessGas(machine, address);
  if (frame.gas < 0) return OUT_OF_GAS;
  return replaceTop(frame, countToWord(machine.world.code(address).bytes.length));
}

/** EIP-1052: 0 for an account that is empty, else the hash of its code, even if that is none. */
export function extCodeHash(frame: Frame, machine: Machine): Signal {
  const address = topAddress(frame);
  frame.gas -= accountAccessGas(machine, address);
  if (frame.gas < 0) return OUT_OF_GAS;
  const { world } = machine;
  return replaceTop(frame, world.isEmpty(address) ? 0n : world.code(address).hash);
}

/** The opcodes of 2 gas that push what was known before the frame began. */
export function environmentWord(op: number, frame: Frame, machine: Machine): bigint {
  switch (op) {
    case 0x32: // ORIGIN
      return machine.tx.origin;
    case 0x34: // CALLVALUE
      return frame.value;
    case 0x38: // CODESIZE
      return countToWord(frame.code.size);
    case 0x3a: // GASPRICE
      return machine.tx.gasPrice;
    case 0x3d: // RETURNDATASIZE
      return countToWord(frame.returnData.length);
    case 0x41: // COINBASE
      return machine.block.coinbase;
    case 0x42: // TIMESTAMP
      return machine.block.timestamp;
    case 0x43: // NUMBER
      return machine.block.number;
    case 0x44: // PREVRANDAO
      return machine.block.prevRandao;
    case 0x45: // GASLIMIT
      return machine.block.gasLimit;
    case 0x46: // CHAINID
      return machine.chainId;
    case 0x48: // BASEFEE
      return machine.block.baseFee;
    default: // BLOBBASEFEE
      return machine.block.blobBaseFee;
  }
}

/** CALLDATALOAD: bytes beyond the end of the calldata read as zeros. */
export function loadCallData(frame: Frame, work: SlowWork, offset: number): bigint {
  const { data } = frame;
  if (offset + 32 <= data.length) {
    frame.dataView ??= new DataView(data.buffer, data.byteOffset, data.byteLength);
    return readCountedWord(frame.dataView, offset, work);
  }
  if (offset >= data.length) return 0n;
  const available = data.length - offset;
  for (let index = 0; index < available; index++) padded[index] = data[offset + index] ?? 0;
  for (let index = available; index < 32; index++) padded[index] = 0;
  return readCountedWord(paddedView, 0, work);
}

/** The hashes of the 256 blocks before this one; 0 for any other number. */
export function blockHash(frame: Frame, machine: Machine): Signal {
  const { block } = machine;
  const number = frame.stack[frame.stackSize - 1] ?? 0n;
  const isKnown = number < block.number && number + 256n >= block.number;
  return replaceTop(frame, isKnown ? block.blockHash(number) : 0n);
}

export function blobHash(frame: Frame, machine: Machine): Signal {
  const index = Number(frame.stack[frame.stackSize - 1]);
  return replaceTop(frame, machine.tx.blobHashes[index] ?? 0n);
}

function topAddress(frame: Frame): bigint {
  return (frame.stack[frame.stackSize - 1] ?? 0n) & ADDRESS_MASK;
}

function replaceTop(frame: Frame, word: bigint): Signal {
  frame.stack[frame.stackSize - 1] = word;
  return CONTINUE;
}
