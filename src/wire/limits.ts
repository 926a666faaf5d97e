/**
 * The largest things that may stand on the wire. They bound what one frame of a peer can cost, and
 * they are fixed: parameters of a network must stay below them, or its own messages would be
 * refused. A decoder never reserves more than a small multiple of the bytes it was given.
 */
import { invariant } from "../base/invariant.ts";
import { REPLICAS_MAX } from "../chain/genesis.ts";

/** Headers in one list: a correct replica needs at most twice the window. */
export const HEADERS_MAX = 64;

export const BODY_TRANSACTIONS_MAX = 4_096;
/** The sum of the sizes of a body's transactions. */
export const BODY_PAYLOAD_SIZE_MAX = 2 * 1024 * 1024;

/** Blocks in a response, hashes in a request, blocks in a snapshot. */
export const BLOCKS_MAX = 64;

/** Eight full blocks, which is twice the default window, and their certificates. */
export const MESSAGE_SIZE_MAX = 24 * 1024 * 1024;
export const LOG_RECORD_SIZE_MAX = 32 * 1024 * 1024;

/** Every signature scheme behind the ports makes signatures of Ed25519's size. */
export const SIGNATURE_SIZE = 64;

/** A network whose parameters exceed the limits could not talk: refuse it when it is configured. */
export function assertWithinWireLimits(parameters: {
  readonly replicaCount: number;
  readonly window: number;
  readonly blockTransactionsMax: number;
  readonly blockBytesMax: number;
}): void {
  invariant(parameters.replicaCount <= REPLICAS_MAX, "too many replicas for the wire format");
  invariant(2 * parameters.window <= HEADERS_MAX, "the window is too large for the wire format");
  invariant(
    parameters.blockTransactionsMax <= BODY_TRANSACTIONS_MAX,
    "blocks of too many transactions for the wire format",
  );
  invariant(parameters.blockBytesMax <= BODY_PAYLOAD_SIZE_MAX, "blocks too large for the wire");
  const blockSizeMax = parameters.blockBytesMax + 12 * parameters.blockTransactionsMax + 1_024;
  invariant(
    2 * parameters.window * blockSizeMax <= MESSAGE_SIZE_MAX - 1024 * 1024,
    "a window of full blocks does not fit into one message",
  );
}
