/** The HTTP server under ethrpc, with TLS if it is configured and with its time limits. */
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import { createSecureContext } from "node:tls";
import { CodedError } from "../base/coded-error.ts";
import type { RpcLimits, RpcOptions, RpcTlsOptions } from "./rpc-options.ts";

export type HttpServer = Server | TlsServer;

const HEADERS_MAX = 100;
/** How often Node looks for connections that are too slow. */
const CHECK_INTERVAL_MS = 1_000;

/** Throws RPC_TLS_INVALID. */
export function createHttpServer({ limits, tls }: RpcOptions): HttpServer {
  const options = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
  };
  const server =
    tls === undefined
      ? createServer(options)
      : createTlsServer({ ...options, ...secureOptions(tls, limits) });
  server.maxConnections = limits.connectionsMax;
  server.maxHeadersCount = HEADERS_MAX;
  server.timeout = limits.idleTimeoutMs;
  return server;
}

function secureOptions(tls: RpcTlsOptions, limits: RpcLimits): object {
  const { cert, key, clientCa, isClientCertRequired } = tls;
  const ca = clientCa === undefined ? {} : { ca: clientCa };
  try {
    createSecureContext({ cert, key, ...ca });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CodedError("RPC_TLS_INVALID", { reason }, error);
  }
  return {
    ...{ cert, key, ...ca },
    minVersion: "TLSv1.2",
    handshakeTimeout: limits.headersTimeoutMs,
    requestCert: clientCa !== undefined,
    // Where it is not required, one that does not hold is as good as none: `authorized` is false.
    rejectUnauthorized: clientCa !== undefined && isClientCertRequired,
  };
}
