/** All logs of an execution, with transfers of the chain's own coin as if a token had made them. */
import { writeBigEndian } from "../../base/big-endian.ts";
import type { FrameEntry, FrameExit, Step, Tracer } from "../../evm/tracer.ts";
import type { EvmLog } from "../../evm/world-state.ts";
import { logOfStep } from "./step-log.ts";

const COIN_ADDRESS = 0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeen;
/** keccak256 of Transfer(address,address,uint256). */
const TRANSFER_TOPIC = 0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3efn;

export function createTransferLogs(): { readonly hooks: Tracer; readonly logs: readonly EvmLog[] } {
  const logs: EvmLog[] = [];
  /** How many there were when each open frame began. */
  const marks: number[] = [];
  let open: EvmLog | undefined;
  return {
    logs,
    hooks: {
      onEnter({ kind, caller, to, value }: FrameEntry): void {
        marks.push(logs.length);
        const isTransfer = kind !== "DELEGATECALL" && kind !== "CALLCODE" && kind !== "STATICCALL";
        if (isTransfer && value > 0n) logs.push(transferLog(caller, to, value));
      },
      onStep(step: Step): void {
        open = logOfStep(step);
      },
      onStepEnd(): void {
        if (open !== undefined) logs.push(open);
        open = undefined;
      },
      onFault(): void {
        open = undefined;
      },
      onExit({ status }: FrameExit): void {
        const mark = marks.pop() ?? 0;
        if (status !== "success") logs.length = mark;
      },
    },
  };
}

function transferLog(from: bigint, to: bigint, value: bigint): EvmLog {
  const data = new Uint8Array(32);
  writeBigEndian(value, data, 0, 32);
  return { address: COIN_ADDRESS, topics: [TRANSFER_TOPIC, from, to], data };
}
