import type { Awaitable } from "../api/awaitable.ts";
import type { CallerNamer } from "../api/chain-reader.ts";
import type { RequestCorrelation } from "./server/request-correlation.ts";
import type { RpcLimits } from "./rpc-options.ts";
import type { SubscriberConnection } from "./logs/subscriber-connection.ts";
import { INVALID_PARAMS, RpcError } from "./rpc-error.ts";
import type { RequestWaits } from "./server/waiting-room.ts";

/** `legacy`: blocks in the shape of SPEC E3, E4. `standard`: execution-apis, strictly. */
export type Dialect = "legacy" | "standard";

/** The parameters to run the method with. Throws RpcError if the caller may not do this. */
export type MethodCheck = (
  method: string,
  params: readonly unknown[],
) => Promise<readonly unknown[]>;

export type MethodContext = {
  readonly dialect: Dialect;
  readonly limits: RpcLimits;
  /** Undefined where the caller can only be answered. */
  readonly connection?: SubscriberConnection | undefined;
  /** Undefined where everyone may do everything. */
  readonly check?: MethodCheck | undefined;
  /** Undefined where all callers are one. */
  readonly caller?: CallerNamer | undefined;
  /** Undefined where waiting requests are not limited. */
  readonly waits?: RequestWaits | undefined;
  /** The id of the request in the log. */
  readonly correlation?: RequestCorrelation | undefined;
};

/** One method of the interface, and the reader that it needs. */
export type Method<Reader, Params> = {
  readonly name: string;
  readonly paramsMax: number;
  /** Throws RpcError -32602 that names the parameter and says what is expected. */
  parse(params: readonly unknown[], context: MethodContext): Params;
  /** Returns what JSON can hold; throws RpcError. */
  handle(reader: Reader, params: Params, context: MethodContext): Awaitable<unknown>;
};

/** A method together with its reader: all that a server knows of it. */
export type BoundMethod = {
  readonly name: string;
  run(params: readonly unknown[], context: MethodContext): Awaitable<unknown>;
};

export type MethodTable = ReadonlyMap<string, BoundMethod>;

export function bindMethod<Reader, Params>(
  method: Method<Reader, Params>,
  reader: Reader,
): BoundMethod {
  const { name, paramsMax } = method;
  return {
    name,
    run(params, context) {
      if (params.length > paramsMax) {
        const message = `${name} takes at most ${paramsMax} parameters, got ${params.length}`;
        throw new RpcError(INVALID_PARAMS, message);
      }
      return method.handle(reader, method.parse(params, context), context);
    },
  };
}
