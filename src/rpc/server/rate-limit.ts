/** How many requests one client may send in a second (SPEC E9), counted for so many clients. */
import { TokenBucket } from "../../base/token-bucket.ts";
import { type Awaitable, whenThere } from "../../api/awaitable.ts";
import type { CallerNamer } from "../../api/chain-reader.ts";
import { LIMIT_EXCEEDED, RpcError } from "../rpc-error.ts";
import type { RpcLimits } from "../rpc-options.ts";

/** Charges for so many requests of one body. The error says when to retry. */
export type RequestAdmission = (requestCount: number) => Awaitable<RateExceeded | undefined>;

export type RateExceeded = { readonly error: RpcError; readonly retryAfterMs: number };

export class RateLimit {
  readonly #perSecond: number;
  readonly #clientsMax: number;
  readonly #now: () => number;
  /** The one that was silent for longest is the first. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(
    { clientRateMax, ratedClientsMax }: Pick<RpcLimits, "clientRateMax" | "ratedClientsMax">,
    now: () => number = () => performance.now(),
  ) {
    this.#perSecond = clientRateMax;
    this.#clientsMax = ratedClientsMax;
    this.#now = now;
  }

  get clientCount(): number {
    return this.#buckets.size;
  }

  /** Nothing is charged for what is refused: a client that keeps asking still gets its share. */
  admit(client: string, requestCount: number): RateExceeded | undefined {
    const nowMs = this.#now();
    const bucket = this.#bucketOf(client, nowMs);
    const waitMs = Math.ceil(bucket.waitMs(nowMs));
    if (waitMs === 0) {
      bucket.take(requestCount, nowMs);
      return undefined;
    }
    const message =
      `too many requests: at most ${this.#perSecond} per second from one client; ` +
      `try again in ${waitMs} ms`;
    const error = new RpcError(LIMIT_EXCEEDED, message, { retryAfterMs: waitMs });
    return { error, retryAfterMs: waitMs };
  }

  #bucketOf(client: string, nowMs: number): TokenBucket {
    const known = this.#buckets.get(client);
    this.#buckets.delete(client);
    if (known === undefined && this.#buckets.size >= this.#clientsMax) {
      const [longestSilent] = this.#buckets.keys();
      if (longestSilent !== undefined) this.#buckets.delete(longestSilent);
    }
    const bucket = known ?? new TokenBucket(this.#perSecond, nowMs);
    this.#buckets.set(client, bucket);
    return bucket;
  }
}

/** Undefined where there is no limit: then callers are not identified for it. */
export function createRateLimit(limits: RpcLimits): RateLimit | undefined {
  return limits.clientRateMax === 0 ? undefined : new RateLimit(limits);
}

/** Charges the caller under its name. */
export function createAdmission(rate: RateLimit, caller: CallerNamer): RequestAdmission {
  return (count) => whenThere(caller(), (name) => rate.admit(name, count));
}
