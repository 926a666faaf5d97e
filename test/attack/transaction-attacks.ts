/** Attacks by transactions: on the mempool, on the order, on those who wait. */
import { assemble } from "../unit/evm/bytecode.ts";
import {
  type Attack,
  call,
  isOver,
  openSocket,
  pause,
  post,
  repeat,
  requestText,
  signedTransfer,
} from "./attack-target.ts";

const BATCH = 50;
const LARGE = new Uint8Array(100_000);
/** Uses its gas up: about 16 million. */
const GAS_BURNER = assemble("JUMPDEST PUSH 4096 PUSH 0 KECCAK256 POP PUSH 0 JUMP");
const SYNC_WAITERS = 500;

function batchOf(raws: readonly string[]): string {
  return `[${raws.map((raw, id) => requestText("eth_sendRawTransaction", [raw], id)).join(",")}]`;
}

export const TRANSACTION_ATTACKS: Readonly<Record<string, Attack>> = {
  "gap-flood": (target) =>
    repeat(target, { width: 4, most: 2_000 }, (index) =>
      post(
        target,
        batchOf(
          Array.from({ length: BATCH }, (_, at) => signedTransfer(target, index * BATCH + at, 1)),
        ),
      ),
    ),
  "gap-flood-bytes": (target) =>
    repeat(target, { width: 4, most: 2_000 }, (index) =>
      call(target, "eth_sendRawTransaction", [signedTransfer(target, index, 1, { data: LARGE })]),
    ),
  "executable-flood": (target) =>
    repeat(target, { width: 8, most: 2_000 }, (index) =>
      post(
        target,
        batchOf(
          Array.from({ length: BATCH }, (_, at) =>
            signedTransfer(target, 1_000_000 + index * BATCH + at, 0),
          ),
        ),
      ),
    ),
  "executable-flood-one-account": (target) =>
    repeat(target, { width: 1, most: 400 }, (index) =>
      post(
        target,
        batchOf(
          Array.from({ length: BATCH }, (_, at) =>
            signedTransfer(target, 2_000_000, index * BATCH + at),
          ),
        ),
      ),
    ),
  "gas-flood": (target) =>
    repeat(target, { width: 4, most: 2_000 }, (index) =>
      call(target, "eth_sendRawTransaction", [
        signedTransfer(target, 3_000_000 + index, 0, {
          ...{ data: GAS_BURNER, gasLimit: 16_000_000n, isCreation: true },
        }),
      ]),
    ),
  "sync-waiters": async (target) => {
    const socket = await openSocket(target);
    socket.on("error", () => undefined);
    socket.resume();
    for (let index = 0; index < SYNC_WAITERS; index++) {
      const raw = signedTransfer(target, 4_000_000 + index, 7);
      const body = requestText("eth_sendRawTransactionSync", [raw, 60_000]);
      socket.write(
        `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n` +
          `content-length: ${body.length}\r\n\r\n${body}`,
      );
    }
    while (!isOver(target)) await pause(target, 500);
    socket.destroy();
  },
};
