/**
 * One keep-alive HTTP connection with one request under way at a time, as a plain socket: the load
 * must cost the machine as little as it can, since it shares it with what it measures.
 */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

type Waiter = { readonly resolve: (body: string) => void; readonly reject: (e: Error) => void };

const HTTP_PORT = 80;
const HTTPS_PORT = 443;
const HEADERS_END = "\r\n\r\n";
/** Of a request that was refused: its method is at the beginning. */
const SHOWN_MAX = 120;

type Answer = { readonly result?: unknown; readonly error?: { readonly message: string } };

/** One request is under way at a time, and of a batch only errors matter: the id tells nothing. */
export function requestBody(method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

function resultOf({ result, error }: Answer, body: string): unknown {
  if (error === undefined) return result;
  throw new Error(`${error.message}, to ${body.slice(0, SHOWN_MAX)}`);
}

/** Where requests go. A plain URL stands for the strict dialect of a network of ours. */
export type RpcTarget = {
  readonly url: string;
  /** The value of the Authorization header. */
  readonly authorization?: string;
};

export class RpcConnection {
  readonly #head: string;
  readonly #socket: Socket;
  #received = "";
  #waiter: Waiter | undefined;
  #isClosed = false;

  private constructor(head: string, socket: Socket) {
    this.#head = head;
    this.#socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => this.#onText(text));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => {
      this.#isClosed = true;
      this.#fail(new Error("the connection was closed"));
    });
  }

  static open(target: RpcTarget | string): Promise<RpcConnection> {
    const { url, authorization } =
      typeof target === "string" ? { url: `${target}/standard` } : target;
    const { protocol, hostname, port, host, pathname, search } = new URL(url);
    const isTls = protocol === "https:";
    const options = { host: hostname.replace(/^\[|\]$/g, ""), noDelay: true };
    const portNumber = Number(port === "" ? (isTls ? HTTPS_PORT : HTTP_PORT) : port);
    const head =
      `POST ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n` +
      (authorization === undefined ? "" : `Authorization: ${authorization}\r\n`) +
      "Content-Type: application/json\r\nAccept: application/json\r\n";
    return new Promise((resolve, reject) => {
      const socket = isTls
        ? connectTls({ ...options, port: portNumber, servername: hostname })
        : connect({ ...options, port: portNumber });
      socket.once("error", reject);
      socket.once(isTls ? "secureConnect" : "connect", () =>
        resolve(new RpcConnection(head, socket)),
      );
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Throws what the node answers instead of a result. */
  call(method: string, params: readonly unknown[]): Promise<unknown> {
    return this.send(requestBody(method, params));
  }

  async send(body: string): Promise<unknown> {
    return resultOf(JSON.parse(await this.#post(body)) as Answer, body);
  }

  /** Several as one batch. */
  async sendAll(bodies: readonly string[]): Promise<void> {
    const [only, ...others] = bodies;
    if (only === undefined) return;
    if (others.length === 0) {
      await this.send(only);
      return;
    }
    const batch = `[${bodies.join(",")}]`;
    const answers = JSON.parse(await this.#post(batch)) as Answer | readonly Answer[];
    for (const answer of [answers].flat()) resultOf(answer, batch);
  }

  close(): void {
    this.#waiter = undefined;
    this.#socket.destroy();
  }

  #post(body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(new Error("the connection was closed"));
        return;
      }
      this.#waiter = { resolve, reject };
      const length = `Content-Length: ${body.length}\r\n\r\n`;
      this.#socket.write(this.#head + length + body, "latin1");
    });
  }

  #onText(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf(HEADERS_END);
    if (headEnd < 0) return;
    const head = this.#received.slice(0, headEnd);
    const bodyStart = headEnd + HEADERS_END.length;
    const answer = /transfer-encoding: *chunked/i.test(head)
      ? chunkedBody(this.#received, bodyStart)
      : sizedBody(this.#received, bodyStart, head);
    if (answer === undefined) return;
    if (answer instanceof Error) {
      this.#fail(answer);
      return;
    }
    this.#received = this.#received.slice(answer.end);
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.resolve(answer.body);
  }

  #fail(error: Error): void {
    this.#waiter?.reject(error);
    this.#waiter = undefined;
  }
}

type Body = { readonly body: string; readonly end: number };

/** Undefined while it is not whole. */
function sizedBody(text: string, start: number, head: string): Body | Error | undefined {
  const length = /content-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) return new Error("an answer without a length");
  const end = start + Number(length);
  return text.length < end ? undefined : { body: text.slice(start, end), end };
}

/** Pieces, each behind its length in hex, until one of no length (RFC 9112, 7.1). */
function chunkedBody(text: string, start: number): Body | Error | undefined {
  let body = "";
  let at = start;
  for (;;) {
    const lineEnd = text.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (Number.isNaN(size)) return new Error("an answer in pieces of no length");
    const pieceEnd = lineEnd + 2 + size;
    if (text.length < pieceEnd + 2) return undefined;
    if (size === 0) return { body, end: pieceEnd + 2 };
    body += text.slice(lineEnd + 2, pieceEnd);
    at = pieceEnd + 2;
  }
}
