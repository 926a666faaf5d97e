/**
 * One keep-alive HTTP connection with one request under way at a time, as a plain socket: the load
 * must cost the machine as little as it can, since it shares it with what it measures.
 */
import { connect, type Socket } from "node:net";

type Waiter = { readonly resolve: (body: string) => void; readonly reject: (e: Error) => void };

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

export class RpcConnection {
  readonly #host: string;
  readonly #path: string;
  readonly #socket: Socket;
  #received = "";
  #waiter: Waiter | undefined;

  private constructor(host: string, path: string, socket: Socket) {
    this.#host = host;
    this.#path = path;
    this.#socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => this.#onText(text));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("the connection was closed")));
  }

  static open(url: string, path = "/standard"): Promise<RpcConnection> {
    const { hostname, port, host } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => resolve(new RpcConnection(host, path, socket)));
    });
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
    const head =
      `POST ${this.#path} HTTP/1.1\r\nHost: ${this.#host}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      this.#socket.write(head + body, "latin1");
    });
  }

  #onText(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf(HEADERS_END);
    if (headEnd < 0) return;
    const length = /content-length: *(\d+)/i.exec(this.#received.slice(0, headEnd))?.[1];
    if (length === undefined) {
      this.#fail(new Error("an answer without a length"));
      return;
    }
    const bodyStart = headEnd + HEADERS_END.length;
    const end = bodyStart + Number(length);
    if (this.#received.length < end) return;
    const body = this.#received.slice(bodyStart, end);
    this.#received = this.#received.slice(end);
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.resolve(body);
  }

  #fail(error: Error): void {
    this.#waiter?.reject(error);
    this.#waiter = undefined;
  }
}
