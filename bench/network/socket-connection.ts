/** One WebSocket with one request under way at a time, to measure with. */
import { once } from "node:events";
import { WebSocket } from "ws";

export class SocketConnection {
  readonly #socket: WebSocket;
  #resolve: ((text: string) => void) | undefined;
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => this.#resolve?.(data.toString("latin1")));
  }

  static async open(url: string): Promise<SocketConnection> {
    const socket = new WebSocket(url.replace("http", "ws"), { perMessageDeflate: false });
    await once(socket, "open");
    return new SocketConnection(socket);
  }

  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    const id = ++this.#lastId;
    const answered = new Promise<string>((resolve) => (this.#resolve = resolve));
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    const answer = JSON.parse(await answered) as { result?: unknown; error?: { message: string } };
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  }

  close(): void {
    this.#socket.terminate();
  }
}
