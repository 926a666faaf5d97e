/** One WebSocket: requests in, answers and notifications out, all of it bounded. */
import type { RawData, WebSocket } from "ws";
import type { Socket } from "node:net";
import type { BudgetShare } from "./byte-budget.ts";
import { CheckedNotices } from "../logs/checked-notices.ts";
import type { CallerNamer } from "../../api/chain-reader.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Dialect, MethodCheck } from "../method.ts";
import type { RequestAdmission } from "./rate-limit.ts";
import type { RequestCorrelation } from "./request-correlation.ts";
import { RpcError } from "../rpc-error.ts";
import type { RpcLimits } from "../rpc-options.ts";
import type { SubscriberConnection } from "../logs/subscriber-connection.ts";
import type { RequestWaits } from "./waiting-room.ts";
import { ArrivingBytes, OutgoingMessages } from "./web-socket-bytes.ts";

export type WebSocketConnectionDependencies = {
  readonly dispatcher: Dispatcher;
  /** Undefined where requests are not counted. Notifications do not count as requests. */
  readonly admit: RequestAdmission | undefined;
  readonly caller: CallerNamer;
  /** A check for one message; undefined where everyone may do everything. */
  readonly createCheck: (() => MethodCheck) | undefined;
  /** For one message. */
  readonly createCorrelation: () => RequestCorrelation;
  readonly waits: RequestWaits;
  readonly budget: BudgetShare;
  /** Under the WebSocket: its bytes count while a message is not yet whole. */
  readonly transport: Pick<Socket, "on">;
  /** Something threw that is our fault. */
  readonly onInternalError: (error: unknown) => void;
};

/** The connection breaks a limit (RFC 6455). */
const POLICY_VIOLATION = 1008;
const GOING_AWAY = 1001;
const TRY_AGAIN_LATER = 1013;
/** How long the closing handshake may take. */
const CLOSE_MS_MAX = 2_000;

export class WebSocketConnection {
  readonly #socket: WebSocket;
  readonly #dialect: Dialect;
  readonly #limits: RpcLimits;
  readonly #dependencies: WebSocketConnectionDependencies;
  readonly #onClose: (() => void)[] = [];
  readonly #ping: NodeJS.Timeout;
  readonly #notices: CheckedNotices | undefined;
  #underWay = 0;
  /** Of requests that are being answered. */
  #bytesUnderWay = 0;
  readonly #arriving: ArrivingBytes;
  readonly #outgoing: OutgoingMessages;
  #isAlive = true;
  #isEnding = false;
  #hasSubscribed = false;
  /** When the last request came, or the connection. */
  #usedMs = performance.now();

  constructor(
    socket: WebSocket,
    dialect: Dialect,
    limits: RpcLimits,
    dependencies: WebSocketConnectionDependencies,
  ) {
    this.#socket = socket;
    this.#dialect = dialect;
    this.#limits = limits;
    this.#dependencies = dependencies;
    this.#notices = this.#createNotices();
    this.#arriving = new ArrivingBytes(dependencies.budget);
    this.#outgoing = new OutgoingMessages(socket, dependencies.budget, limits.answerReadMs);
    dependencies.transport.on("data", (chunk: Buffer) => {
      // Closed without a handshake: further messages would have to be buffered meanwhile.
      if (!this.#arriving.add(chunk.length)) socket.terminate();
    });
    this.#ping = setInterval(() => this.#checkAlive(), limits.socketPingMs);
    this.#ping.unref();
    socket.on("message", (data: RawData) => {
      const body = bytesOf(data);
      this.#arriving.clear();
      this.#answer(body).catch((error: unknown) => {
        dependencies.onInternalError(error);
        socket.terminate();
      });
    });
    socket.on("ping", (data: Buffer) => {
      this.#arriving.take(data.length);
      this.#outgoing.pong(data);
    });
    socket.on("pong", (data: Buffer) => {
      this.#arriving.take(data.length);
      this.#isAlive = true;
    });
    // A malformed or too long message ends the connection; the library has sent the reason.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      clearInterval(this.#ping);
      this.#arriving.clear();
      this.#outgoing.clear();
      for (const action of this.#onClose.splice(0)) action();
    });
  }

  get usedMs(): number {
    return this.#usedMs;
  }

  /** It waits for nothing: neither for an answer nor for news. */
  get isIdle(): boolean {
    return this.#underWay === 0 && !this.#hasSubscribed;
  }

  onClose(action: () => void): void {
    this.#onClose.push(action);
  }

  /** Sends the reason, and ends the connection if the peer does not close it. */
  end(reason: string, code = GOING_AWAY): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#socket.close(code, reason);
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_MS_MAX);
    timer.unref();
  }

  async #answer(body: Uint8Array): Promise<void> {
    const { budget } = this.#dependencies;
    if (this.#isEnding) return;
    this.#isAlive = true;
    this.#usedMs = performance.now();
    if (!budget.reserve(body.length)) {
      this.#endCrowded();
      return;
    }
    this.#underWay++;
    this.#bytesUnderWay += body.length;
    // What is not read stays in the peer's own buffers.
    if (this.#isBusy()) this.#socket.pause();
    const afterAnswer: (() => void)[] = [];
    try {
      const connection = this.#subscriber(afterAnswer);
      const { admit, caller, dispatcher, createCheck, createCorrelation, waits } =
        this.#dependencies;
      const correlation = createCorrelation();
      const context = { admit, caller, connection, check: createCheck?.(), correlation, waits };
      const { text } = await dispatcher.answer(body, this.#dialect, context);
      if (text !== undefined) this.#send(text);
      for (const action of afterAnswer) action();
    } finally {
      budget.release(body.length);
      this.#underWay--;
      this.#bytesUnderWay -= body.length;
      if (!this.#isBusy() && this.#socket.isPaused) this.#socket.resume();
    }
  }

  #isBusy(): boolean {
    const { socketRequestsMax, socketBufferedBytesMax } = this.#limits;
    return this.#underWay >= socketRequestsMax || this.#bytesUnderWay >= socketBufferedBytesMax;
  }

  #endCrowded(): void {
    this.end("too much is waiting in the node; try again in a moment", TRY_AGAIN_LATER);
  }

  /** The same for the whole connection but for what waits for the answer to one request. */
  #subscriber(afterAnswer: (() => void)[]): SubscriberConnection {
    return {
      owner: this,
      send: (text) => this.#notify(text),
      end: (reason) => this.end(reason, POLICY_VIOLATION),
      afterAnswer: (action) => afterAnswer.push(action),
      onClose: (action) => {
        this.#hasSubscribed = true;
        this.onClose(action);
      },
    };
  }

  #notify(text: string): void {
    if (this.#notices === undefined) this.#send(text);
    else if (!this.#isEnding) this.#notices.add(text);
  }

  #createNotices(): CheckedNotices | undefined {
    const { createCheck, onInternalError } = this.#dependencies;
    if (createCheck === undefined) return undefined;
    return new CheckedNotices(this.#limits.socketBufferedBytesMax, {
      check: () => createCheck()("eth_subscribe", []),
      send: (text) => this.#send(text),
      onDenied: (error) => {
        if (!(error instanceof RpcError)) onInternalError(error);
        this.end(error instanceof RpcError ? error.message : "internal error", POLICY_VIOLATION);
      },
      onTooMany: () => this.#endSlow(),
    });
  }

  #endSlow(): void {
    this.end("too slow: more is waiting than a connection may have", POLICY_VIOLATION);
  }

  #send(text: string): void {
    const socket = this.#socket;
    if (this.#isEnding || socket.readyState !== socket.OPEN) return;
    // One answer may be larger than the limit; what comes while it is not read is too much.
    if (socket.bufferedAmount > this.#limits.socketBufferedBytesMax) this.#endSlow();
    else if (!this.#outgoing.send(text)) this.#endCrowded();
  }

  #checkAlive(): void {
    if (!this.#isAlive) {
      this.#socket.terminate();
      return;
    }
    this.#isAlive = false;
    this.#socket.ping();
  }
}

function bytesOf(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
}
