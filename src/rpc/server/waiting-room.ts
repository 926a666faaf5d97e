/**
 * Requests that wait until a transaction is final or rejected. Waiting costs no work, so it takes
 * no slot from requests that work; it has places of its own, of which one connection and one client
 * address have a share. The wait of a connection that is gone ends at once.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { clientOfAddress } from "./client-name.ts";
import type { RequestSlot } from "./request-slots.ts";
import { LIMIT_EXCEEDED, RpcError } from "../rpc-error.ts";
import type { RpcLimits } from "../rpc-options.ts";

export type WaitLimits = Pick<
  RpcLimits,
  "waitersMax" | "clientWaitersMax" | "connectionWaitersMax"
>;

/** What one request can do. */
export type RequestWaits = {
  /** Undefined if the caller has as many places as it may. */
  enter(): WaitPlace | undefined;
};

export type WaitPlace = {
  /** Aborted when the caller is gone. */
  readonly gone: AbortSignal | undefined;
  /** Once. */
  leave(): void;
};

type Connection = { waiters: number; readonly gone: AbortController };

export class WaitingRoom {
  readonly #limits: WaitLimits;
  readonly #connections = new WeakMap<Socket, Connection>();
  /** Only clients that wait. */
  readonly #byClient = new Map<string, number>();
  #count = 0;

  constructor(limits: WaitLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#count;
  }

  /** `slot` is given up for the time of the wait; undefined where the request has none. */
  waitsOf({ socket }: IncomingMessage, slot?: RequestSlot): RequestWaits {
    return { enter: () => this.#enter(socket, slot) };
  }

  #enter(socket: Socket, slot: RequestSlot | undefined): WaitPlace | undefined {
    const { waitersMax, clientWaitersMax, connectionWaitersMax } = this.#limits;
    const connection = this.#connectionOf(socket);
    const client = clientOfAddress(socket.remoteAddress);
    const ofClient = this.#byClient.get(client) ?? 0;
    const isFull =
      this.#count >= waitersMax ||
      ofClient >= clientWaitersMax ||
      connection.waiters >= connectionWaitersMax;
    if (isFull) return undefined;
    this.#count++;
    connection.waiters++;
    this.#byClient.set(client, ofClient + 1);
    slot?.pause();
    return {
      gone: connection.gone.signal,
      leave: () => {
        slot?.resume();
        this.#count--;
        connection.waiters--;
        this.#leaveClient(client);
      },
    };
  }

  #leaveClient(client: string): void {
    const left = (this.#byClient.get(client) ?? 1) - 1;
    if (left === 0) this.#byClient.delete(client);
    else this.#byClient.set(client, left);
  }

  #connectionOf(socket: Socket): Connection {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const connection = { waiters: 0, gone: new AbortController() };
    this.#connections.set(socket, connection);
    if (socket.destroyed) connection.gone.abort();
    else socket.once("close", () => connection.gone.abort());
    return connection;
  }
}

/** Without a limit, every request may wait. Throws RpcError -32005. */
export function requirePlace(waits: RequestWaits | undefined): WaitPlace {
  const place = waits === undefined ? FREE_PLACE : waits.enter();
  if (place !== undefined) return place;
  const message =
    "too many requests of this client wait for transactions; use eth_sendRawTransaction";
  throw new RpcError(LIMIT_EXCEEDED, message);
}

export const FREE_PLACE: WaitPlace = { gone: undefined, leave: () => undefined };
