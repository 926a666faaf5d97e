/**
 * A log endpoint that takes lines, refuses them, falls silent or breaks off, as the test sets it.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TlsIdentity } from "../../src/crypto/certificate.ts";

/** A number is a status; the rest is what HTTP servers do when they are ill. */
export type Mood = number | "reset" | "silence" | "slow" | "lost answer";

export class FaultyLogServer {
  /** For the next requests, one each; then `mood`. */
  readonly moods: Mood[] = [];
  mood: Mood = 200;
  readonly lines: string[] = [];
  readonly requests: { readonly headers: IncomingMessage["headers"]; readonly lines: number }[] =
    [];
  /** Lines that it answers with 400. */
  isPoison: (line: string) => boolean = () => false;
  linesMax = Number.POSITIVE_INFINITY;
  /** What comes with an answer that refuses: when to try again. */
  retryAfter: (() => string) | undefined;
  readonly #identity: TlsIdentity | undefined;
  #server: Server | undefined;
  #port = 0;

  private constructor(identity: TlsIdentity | undefined) {
    this.#identity = identity;
  }

  /** With an identity over TLS, as localhost. */
  static async open(identity?: TlsIdentity): Promise<FaultyLogServer> {
    const server = new FaultyLogServer(identity);
    await server.listen();
    return server;
  }

  get url(): string {
    if (this.#identity !== undefined) return `https://localhost:${this.#port}`;
    return `http://127.0.0.1:${this.#port}`;
  }

  /** On the port that it had before. */
  async listen(): Promise<void> {
    const onRequest = (request: IncomingMessage, response: ServerResponse): void =>
      void this.#answer(request, response);
    const server = this.#createServer(onRequest);
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#server = server;
    const address = server.address() as AddressInfo;
    this.#port = address.port;
  }

  async goAway(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  #createServer(onRequest: (request: IncomingMessage, response: ServerResponse) => void): Server {
    if (this.#identity === undefined) return createServer(onRequest);
    const { certificatePem: cert, privateKeyPem: key } = this.#identity;
    return createTlsServer({ cert, key }, onRequest);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const mood = this.moods.shift() ?? this.mood;
    request.on("error", () => undefined);
    if (mood === "reset") {
      request.socket.resetAndDestroy();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const lines = Buffer.concat(chunks).toString().split("\n");
    const whole = lines.slice(0, -1);
    this.requests.push({ headers: request.headers, lines: whole.length });
    if (mood === "silence") return;
    if (mood === "slow") await new Promise((resolve) => setTimeout(resolve, 300));
    if (whole.length > this.linesMax) response.writeHead(413).end();
    else if (whole.some(this.isPoison)) response.writeHead(400).end();
    else if (typeof mood === "number" && mood >= 300) {
      if (this.retryAfter !== undefined) response.setHeader("retry-after", this.retryAfter());
      response.writeHead(mood).end("no");
    } else {
      this.lines.push(...whole);
      if (mood === "lost answer") request.socket.resetAndDestroy();
      else response.writeHead(200).end("ok");
    }
  }
}

export async function until(condition: () => boolean, withinMs = 10_000): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > deadlineMs) throw new Error("it did not happen in time");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
