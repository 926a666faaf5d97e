/**
 * JSON-RPC 2.0 over any transport: bytes in, text out. A request that JSON-RPC understands is
 * answered with HTTP status 200 even if the answer is an error, as all Ethereum clients expect; 400
 * is for what is no request at all, 413 for too much, 204 where there is no answer.
 */
import { type Awaitable, whenThere } from "../../api/awaitable.ts";
import { EventLoopTurn } from "./event-loop-turn.ts";
import { isNumberText, JsonText, parseJsonText } from "../json-text.ts";
import type { Dialect, MethodContext, MethodTable } from "../method.ts";
import { isObject } from "../params/parameters.ts";
import { type RequestTrace, transactionOf } from "./request-trace.ts";
import type { RequestAdmission } from "./rate-limit.ts";
import type { RpcLimits } from "../rpc-options.ts";
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  RESPONSE_TOO_LARGE,
  RpcError,
} from "../rpc-error.ts";

export type DispatcherDependencies = {
  readonly methods: MethodTable;
  /** Something threw that is no RpcError: our fault. The caller learns only that. */
  readonly onInternalError?:
    ((method: string, error: unknown, correlationId?: string) => void) | undefined;
  /** For metrics. The code is that of the error, if it is one; only known methods are named. */
  readonly onAnswered?:
    | ((method: string | undefined, durationMs: number, code: number | undefined) => void)
    | undefined;
  /** For the log. */
  readonly trace?: RequestTrace | undefined;
};

/** `text` is undefined when all that came were notifications. */
export type Answer = {
  readonly status: number;
  readonly text: string | undefined;
  /** When to retry, of an answer that says so. */
  readonly retryAfterMs?: number;
};

/** Who asks, and how it can be answered. */
export type Caller = Omit<MethodContext, "dialect" | "limits"> & {
  /** Undefined where requests are not counted. */
  readonly admit?: RequestAdmission | undefined;
};

type Request = {
  readonly id: unknown;
  readonly isNotification: boolean;
  readonly method: string;
  readonly params: readonly unknown[];
};

/** A request under way. */
type Asked = {
  readonly request: Request;
  readonly context: MethodContext;
  readonly startedMs: number;
};

/** What the results of one body may still take up. */
type ResponseRoom = { lengthLeft: number };

const METHOD_SHOWN_MAX = 80;
/** For a body that cannot be parsed. */
const NO_JSON = Symbol("no JSON");

export class Dispatcher {
  readonly #limits: RpcLimits;
  readonly #dependencies: DispatcherDependencies;

  constructor(limits: RpcLimits, dependencies: DispatcherDependencies) {
    this.#limits = limits;
    this.#dependencies = dependencies;
  }

  /**
   * `connection` is there for callers that can receive notifications, `check` where access is
   * restricted.
   */
  answer(body: Uint8Array, dialect: Dialect, caller: Caller = {}): Awaitable<Answer> {
    let value: unknown = NO_JSON;
    try {
      value = parseJsonText(body);
    } catch {
      // It is counted as a request all the same, and refused below.
    }
    const { admit } = caller;
    if (admit === undefined) return this.#answerValue(value, dialect, caller);
    return this.#refuse(admit, value).then(
      (refused) => refused ?? this.#answerValue(value, dialect, caller),
    );
  }

  #answerValue(
    value: unknown,
    dialect: Dialect,
    { connection, caller, check, correlation, waits }: Caller,
  ): Awaitable<Answer> {
    if (value === NO_JSON) {
      return refusal(400, new RpcError(PARSE_ERROR, "parse error: the body is not valid JSON"));
    }
    const limits = this.#limits;
    const context = { dialect, limits, connection, caller, check, correlation, waits };
    if (Array.isArray(value)) return this.#answerBatch(value, context);
    const request = readRequest(value);
    if (request instanceof InvalidRequest) return refusal(400, request.error, request.id);
    const room = { lengthLeft: this.#limits.responseLengthMax };
    return whenThere(this.#answerOne(request, context, room), (text) =>
      text === undefined ? NO_CONTENT : { status: 200, text },
    );
  }

  /** A body is taken whole or not at all: nothing of a batch that is refused was carried out. */
  async #refuse(admit: RequestAdmission, value: unknown): Promise<Answer | undefined> {
    const exceeded = await admit(Array.isArray(value) ? value.length : 1);
    if (exceeded === undefined) return undefined;
    const { error, retryAfterMs } = exceeded;
    this.#dependencies.onAnswered?.(undefined, 0, error.code);
    const id = isObject(value) && isId(value["id"]) ? value["id"] : null;
    return { ...refusal(429, error, id), retryAfterMs };
  }

  /** Requests start in the order of the batch and answers stand in it, too. */
  async #answerBatch(batch: readonly unknown[], context: MethodContext): Promise<Answer> {
    const { batchLengthMax, concurrentBatchItemsMax, responseLengthMax } = this.#limits;
    if (batch.length === 0) {
      return refusal(400, new RpcError(INVALID_REQUEST, "invalid request: the batch is empty"));
    }
    if (batch.length > batchLengthMax) {
      const message = `batch too large: at most ${batchLengthMax} requests, got ${batch.length}`;
      return refusal(413, new RpcError(INVALID_REQUEST, message));
    }
    const texts = new Array<string | undefined>(batch.length).fill(undefined);
    const room = { lengthLeft: responseLengthMax };
    const turn = new EventLoopTurn();
    const waiting = new Set<Promise<void>>();
    for (const [index, value] of batch.entries()) {
      while (waiting.size >= concurrentBatchItemsMax) await Promise.race(waiting);
      // One after the other: requests that were begun together would all run in one turn.
      await turn.next();
      const request = readRequest(value);
      const answered =
        request instanceof InvalidRequest
          ? errorText(request.id, request.error)
          : this.#answerOne(request, context, room);
      if (!(answered instanceof Promise)) {
        texts[index] = answered;
        continue;
      }
      const done = answered.then((text) => {
        texts[index] = text;
        waiting.delete(done);
      });
      waiting.add(done);
      await turn.whileBusy(done);
    }
    await Promise.all(waiting);
    const said = texts.filter((text) => text !== undefined);
    return said.length === 0 ? NO_CONTENT : { status: 200, text: `[${said.join(",")}]` };
  }

  /** Undefined for a notification: it is carried out and gets no answer. */
  #answerOne(
    request: Request,
    context: MethodContext,
    room: ResponseRoom,
  ): Awaitable<string | undefined> {
    const asked = { request, context, startedMs: performance.now() };
    let result: Awaitable<unknown>;
    try {
      result = this.#run(request, context);
    } catch (error) {
      return this.#onFailed(asked, error);
    }
    if (!(result instanceof Promise)) return this.#onDone(asked, result, room);
    return result.then(
      (value: unknown) => this.#onDone(asked, value, room),
      (error: unknown) => this.#onFailed(asked, error),
    );
  }

  #onDone(asked: Asked, result: unknown, room: ResponseRoom): string | undefined {
    const { id, method, isNotification } = asked.request;
    let text: string | undefined;
    if (!isNotification) {
      try {
        const echo = asked.context.dialect === "legacy" ? method : undefined;
        text = resultText(id, echo, result);
        if (text.length > room.lengthLeft) {
          throw new RpcError(RESPONSE_TOO_LARGE, "response too large; ask for less at a time");
        }
      } catch (error) {
        return this.#onFailed(asked, error);
      }
      room.lengthLeft -= text.length;
    }
    this.#note(asked, undefined, result);
    return text;
  }

  #onFailed(asked: Asked, error: unknown): string | undefined {
    const { id, method, isNotification } = asked.request;
    const code = error instanceof RpcError ? error.code : INTERNAL_ERROR;
    if (!(error instanceof RpcError)) {
      this.#dependencies.onInternalError?.(method, error, asked.context.correlation?.id);
    }
    this.#note(asked, code, undefined);
    return isNotification ? undefined : errorText(id, error);
  }

  #note({ request, context, startedMs }: Asked, code: number | undefined, result: unknown): void {
    const { methods, onAnswered, trace } = this.#dependencies;
    const { method } = request;
    const known = methods.has(method) ? method : undefined;
    const ms = performance.now() - startedMs;
    onAnswered?.(known, ms, code);
    if (trace?.isOn() !== true) return;
    const transaction = transactionOf(method, request.params, result);
    const correlationId = context.correlation?.id;
    trace.note({ correlationId, method: known, ms, code, transaction });
  }

  #run({ method, params }: Request, context: MethodContext): Awaitable<unknown> {
    const bound = this.#dependencies.methods.get(method);
    if (bound === undefined) {
      const name = method.slice(0, METHOD_SHOWN_MAX);
      const message = `the method ${name} does not exist/is not available`;
      throw new RpcError(METHOD_NOT_FOUND, message);
    }
    const { check } = context;
    if (check === undefined) return bound.run(params, context);
    return check(method, params).then((checked) => bound.run(checked, context));
  }
}

/** The answer to what cannot be carried out at all. */
export function refusal(status: number, error: RpcError, id: unknown = null): Answer {
  return { status, text: errorText(id, error) };
}

const NO_CONTENT: Answer = { status: 204, text: undefined };

class InvalidRequest {
  readonly id: unknown;
  readonly error: RpcError;

  constructor(id: unknown, message: string, code: number = INVALID_REQUEST) {
    this.id = id;
    this.error = new RpcError(code, message);
  }
}

function readRequest(value: unknown): Request | InvalidRequest {
  if (!isObject(value)) return new InvalidRequest(null, "invalid request: expected an object");
  const { id = null, jsonrpc, method } = value;
  // Some clients say null where there are none.
  const params = value["params"] ?? [];
  if (!isId(id)) return new InvalidRequest(null, "invalid request: id is a string or a number");
  if (jsonrpc !== "2.0") return new InvalidRequest(id, 'invalid request: jsonrpc must be "2.0"');
  if (typeof method !== "string") {
    return new InvalidRequest(id, "invalid request: method must be a string");
  }
  if (isObject(params)) {
    return new InvalidRequest(
      id,
      "invalid params: give them by position, in an array",
      INVALID_PARAMS,
    );
  }
  if (!Array.isArray(params)) {
    return new InvalidRequest(id, "invalid request: params must be an array");
  }
  return { id, isNotification: !Object.hasOwn(value, "id"), method, params };
}

function isId(id: unknown): boolean {
  return id === null || typeof id === "string" || typeof id === "number" || isNumberText(id);
}

/** `echo` is the method, in the dialect that says it back. */
function resultText(id: unknown, echo: string | undefined, result: unknown): string {
  const method = echo === undefined ? "" : `"method":${JSON.stringify(echo)},`;
  const text = result instanceof JsonText ? result.text : JSON.stringify(result ?? null);
  return `{"id":${JSON.stringify(id)},"jsonrpc":"2.0",${method}"result":${text}}`;
}

/** No text of ours that was not meant for callers, and no stack (SPEC E8). */
function errorText(id: unknown, error: unknown): string {
  const shown = error instanceof RpcError ? error : new RpcError(INTERNAL_ERROR, "internal error");
  const { code, message, data } = shown;
  return JSON.stringify({ id, jsonrpc: "2.0", error: { code, message, data } });
}
