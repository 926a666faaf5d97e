/**
 * The id of one request in the log: the caller's own if it gave a valid one, so that its logs and
 * ours can be read together, else a random one. Made when it is first asked for: most requests are
 * never logged.
 */
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** No spaces, quotes or control characters: it is shown to operators as it came. */
const DECENT = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;
/** W3C trace context: version, trace, parent, flags. */
const TRACE_PARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

export class RequestCorrelation {
  readonly #headers: IncomingHttpHeaders;
  #id: string | undefined;

  constructor(headers: IncomingHttpHeaders) {
    this.#headers = headers;
  }

  get id(): string {
    this.#id ??= givenId(this.#headers) ?? randomUUID();
    return this.#id;
  }
}

function givenId(headers: IncomingHttpHeaders): string | undefined {
  const own = headers["x-correlation-id"];
  if (typeof own === "string" && DECENT.test(own)) return own;
  const parent = headers["traceparent"];
  return typeof parent === "string" ? TRACE_PARENT.exec(parent)?.[1] : undefined;
}
