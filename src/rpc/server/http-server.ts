/** The HTTP server under ethrpc, with TLS if it is configured and with its time limits. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer, Server as TlsServer } from "node:https";
import type { Duplex } from "node:stream";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { CodedError } from "../../base/coded-error.ts";
import { invariant } from "../../base/invariant.ts";
import { ConnectionLimit } from "./connection-limit.ts";
import type { RpcLimits, RpcOptions, RpcTlsOptions } from "../rpc-options.ts";

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
    // Clients offer HTTP/2 (h2c) with a request that is complete: it is answered as it is.
    shouldUpgradeCallback: ({ headers }: IncomingMessage): boolean =>
      headers.upgrade?.toLowerCase() === "websocket",
  };
  const server =
    tls === undefined
      ? createServer(options)
      : createTlsServer({ ...options, ...secureOptions(tls, limits) });
  new ConnectionLimit(limits.connectionsMax).watch(server);
  server.maxHeadersCount = HEADERS_MAX;
  server.timeout = limits.idleTimeoutMs;
  server.on("clientError", onClientError);
  return server;
}

/** Node's own answers have no length: some clients wait for a body. */
function onClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = statusOf(error.code ?? "");
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** By the codes of Node and of its parser. */
function statusOf(code: string): string {
  if (code.endsWith("TIMEOUT")) return "408 Request Timeout";
  return code.endsWith("OVERFLOW") ? "431 Request Header Fields Too Large" : "400 Bad Request";
}

/**
 * For connections from now on; those that are open keep theirs. Throws RPC_TLS_INVALID, and then
 * all stays as it was.
 */
export function replaceTls(server: HttpServer, tls: RpcTlsOptions): void {
  invariant(server instanceof TlsServer, "TLS is not switched on while the server runs");
  server.setSecureContext(secureContext(tls));
}

function secureOptions(tls: RpcTlsOptions, limits: RpcLimits): object {
  const { clientCa, isClientCertRequired } = tls;
  return {
    ...secureContext(tls),
    handshakeTimeout: limits.headersTimeoutMs,
    requestCert: clientCa !== undefined,
    // Where it is not required, one that does not hold is as good as none: `authorized` is false.
    rejectUnauthorized: clientCa !== undefined && isClientCertRequired,
  };
}

function secureContext({ cert, key, clientCa }: RpcTlsOptions): SecureContextOptions {
  const ca = clientCa === undefined ? {} : { ca: clientCa };
  const context: SecureContextOptions = { cert, key, ...ca, minVersion: "TLSv1.2" };
  try {
    createSecureContext(context);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CodedError("RPC_TLS_INVALID", { reason }, error);
  }
  return context;
}
