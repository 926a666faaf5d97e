/**
 * A connection that sends the same bytes again and again, one request under way at a time, and
 * only counts what comes back: what a load costs, the servers that it measures do not have.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export type Transport = "http" | "websocket";

/** How long an answer is of which `received` has the beginning; undefined until that is known. */
type Measure = (received: Buffer) => { readonly start: number; readonly size: number } | undefined;

const HEAD_END = "\r\n\r\n";

export class RawConnection {
  readonly #socket: Socket;
  readonly #request: Buffer;
  readonly #measure: Measure;
  /** Of an answer whose head is not whole. */
  #held: Buffer | undefined;
  #missing = 0;
  #size = 0;
  #onAnswer: ((size: number) => void) | undefined;

  private constructor(socket: Socket, request: Buffer, measure: Measure) {
    this.#socket = socket;
    this.#request = request;
    this.#measure = measure;
    socket.on("data", (chunk: Buffer) => this.#onData(chunk));
  }

  static async open(transport: Transport, url: string, body: string): Promise<RawConnection> {
    const { hostname, port, host, pathname } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, "connect");
    if (transport === "http") {
      const head =
        `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}${HEAD_END}`;
      return new RawConnection(socket, Buffer.from(head + body), measureHttp);
    }
    socket.write(
      `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\n` +
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
        `Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==${HEAD_END}`,
    );
    const [answer] = (await once(socket, "data")) as [Buffer];
    const status = answer.toString("latin1").split("\r\n", 1)[0];
    if (status?.includes(" 101 ") !== true) throw new Error(`no WebSocket: ${status}`);
    return new RawConnection(socket, clientFrame(Buffer.from(body)), measureFrame);
  }

  /** The size of the answer, given when all of it is there. */
  ask(onAnswer: (size: number) => void): void {
    this.#onAnswer = onAnswer;
    this.#socket.write(this.#request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #onData(chunk: Buffer): void {
    if (this.#missing > 0) {
      this.#missing -= chunk.length;
      if (this.#missing === 0) this.#onAnswer?.(this.#size);
      return;
    }
    const received = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk]);
    const measured = this.#measure(received);
    this.#held = measured === undefined ? received : undefined;
    if (measured === undefined) return;
    this.#size = measured.size;
    this.#missing = measured.start + measured.size - received.length;
    if (this.#missing === 0) this.#onAnswer?.(this.#size);
  }
}

const measureHttp: Measure = (received) => {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = received.toString("latin1", 0, headEnd);
  const size = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (!head.startsWith("HTTP/1.1 200") || size === undefined) {
    throw new Error(`an answer of another kind: ${head}`);
  }
  return { start: headEnd + HEAD_END.length, size: Number(size) };
};

const FINAL_TEXT = 0x81;

const measureFrame: Measure = (received) => {
  const [kind, length] = received;
  if (kind === undefined || length === undefined) return undefined;
  if (kind !== FINAL_TEXT) throw new Error(`a frame of another kind: ${kind}`);
  if (length < 126) return { start: 2, size: length };
  const start = length === 126 ? 4 : 10;
  if (received.length < start) return undefined;
  const size = length === 126 ? received.readUInt16BE(2) : Number(received.readBigUInt64BE(2));
  return { start, size };
};

/** Masked, as frames of clients are (RFC 6455 §5.3), with a mask that changes nothing. */
function clientFrame(body: Buffer): Buffer {
  const MASK = Buffer.alloc(4);
  const head = body.length < 126 ? Buffer.alloc(2) : Buffer.alloc(4);
  head[0] = FINAL_TEXT;
  head[1] = 0x80 | Math.min(body.length, 126);
  if (head.length === 4) head.writeUInt16BE(body.length, 2);
  return Buffer.concat([head, MASK, body]);
}
