/**
 * What an attack is aimed at, and the means that all attacks share. They call from another loopback
 * address than the honest caller does, as another machine would.
 */
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";
import { bytesToHex, hexToBytes } from "../../src/base/hex.ts";
import { encodeTransaction } from "../../src/chain/transaction-encoder.ts";
import { signTransaction } from "../../src/chain/transaction-sender.ts";

export type AttackTarget = {
  readonly host: string;
  readonly port: number;
  readonly chainId: string;
  /** Of this machine: where the attack comes from. */
  readonly localAddress: string;
  /** When it must be over, as milliseconds since 1970. */
  readonly endMs: number;
};

export type Attack = (target: AttackTarget) => Promise<void>;

const SOCKETS_MAX = 64;
const REQUEST_MS_MAX = 10_000;

export function isOver({ endMs }: AttackTarget): boolean {
  return Date.now() >= endMs;
}

/** Waits, but not beyond the end. */
export function pause({ endMs }: AttackTarget, ms: number): Promise<void> {
  const waitMs = Math.max(0, Math.min(ms, endMs - Date.now()));
  return new Promise((resolve) => {
    setTimeout(resolve, waitMs);
  });
}

/** Some at a time, one after the other, until the end or until so many were done. */
export async function repeat(
  target: AttackTarget,
  { width, most }: { readonly width: number; readonly most: number },
  act: (index: number) => Promise<unknown>,
): Promise<void> {
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < most && !isOver(target)) await act(begun++).catch(() => undefined);
  };
  await Promise.all(Array.from({ length: width }, work));
}

let agent: Agent | undefined;

/** The length of the answer; rejects where there is none. */
export function post(target: AttackTarget, body: string | Uint8Array): Promise<number> {
  const { host, port, localAddress } = target;
  agent ??= new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX });
  const headers = { "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const sent = request(
      { host, port, localAddress, agent, method: "POST", headers, timeout: REQUEST_MS_MAX },
      (response) => {
        let length = 0;
        response.on("data", (chunk: Buffer) => (length += chunk.length));
        response.on("end", () => resolve(length));
        response.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.on("timeout", () => sent.destroy(new Error("timed out")));
    sent.end(body);
  });
}

export function requestText(method: string, params: readonly unknown[], id = 1): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

export function call(
  target: AttackTarget,
  method: string,
  params: readonly unknown[],
): Promise<number> {
  return post(target, requestText(method, params));
}

/** A bare connection; it may be closed by the other side at any time. */
export function openSocket({ host, port, localAddress }: AttackTarget): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, localAddress }, () => resolve(socket));
    socket.on("error", reject);
  });
}

export function openWebSocket({ host, port, localAddress }: AttackTarget): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://${host}:${port}/`, { localAddress });
    socket.on("error", reject);
    socket.on("open", () => resolve(socket));
  });
}

/** A key of an account that has nothing: gas is free. */
export function attackerKey(index: number): Uint8Array {
  return hexToBytes(
    `0x${(0xa77ac4_0000n * 2n ** 64n + BigInt(index)).toString(16).padStart(64, "0")}`,
  );
}

export function signedTransfer(
  { chainId }: AttackTarget,
  account: number,
  nonce: number,
  more: {
    readonly data?: Uint8Array;
    readonly gasLimit?: bigint;
    readonly isCreation?: boolean;
  } = {},
): string {
  const { data = new Uint8Array(0), gasLimit = 21_000n + 40n * BigInt(data.length) } = more;
  const transaction = {
    ...({
      type: 0,
      chainId: BigInt(chainId),
      nonce: BigInt(nonce),
      gasPrice: 0n,
      gasLimit,
    } as const),
    ...{ to: more.isCreation === true ? undefined : 0xdeadn, value: 0n, data },
  };
  return bytesToHex(encodeTransaction(signTransaction(transaction, attackerKey(account))));
}
