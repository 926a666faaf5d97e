/**
 * Blocks that a Byzantine leader proposes: other valid ones, and ones that no correct replica may
 * vote.
 */
import type { Prng } from "../../../src/base/prng.ts";
import {
  bodySize,
  type Block,
  type Body,
  type Hash,
  type Header,
} from "../../../src/consensus/block.ts";
import type { Ports } from "../../../src/consensus/parameters.ts";
import { createTransaction } from "../../../src/wire/block-codec.ts";

export const SPOILT_KINDS = [
  "wrong execution result",
  "transaction twice",
  "timestamp far ahead",
  "timestamp not after parent",
  "unsigned transaction",
  "body of another header",
  "hash of another header",
  "execution height ahead",
  "unknown parent",
  "wrong epoch",
] as const;
export type SpoiltKind = (typeof SPOILT_KINDS)[number];

/** Another block that is just as valid. */
export function varyBlock(block: Block, ports: Ports, prng: Prng): Block {
  const { header, body } = block;
  if (body.transactions.length > 1 && prng.chance(0.5)) {
    return rebuild(header, { ...body, transactions: body.transactions.slice(1) }, ports);
  }
  return rebuild({ ...header, timestampMs: header.timestampMs + 1 }, body, ports);
}

export function spoilBlock(kind: SpoiltKind, block: Block, ports: Ports, prng: Prng): Block {
  const { header, body } = block;
  const other: Hash = `0x${"a5".repeat(32)}`;
  switch (kind) {
    case "wrong execution result":
      return rebuild({ ...header, execResult: other }, body, ports);
    case "transaction twice": {
      const transactions = [...body.transactions, ...body.transactions.slice(0, 1)];
      return rebuild(header, { ...body, transactions }, ports);
    }
    case "timestamp far ahead":
      return rebuild({ ...header, timestampMs: header.timestampMs + 3_600_000 }, body, ports);
    case "timestamp not after parent":
      return rebuild({ ...header, timestampMs: 1 }, body, ports);
    case "unsigned transaction": {
      const transactions = [...body.transactions, createTransaction(prng.bytes(40), 21_000)];
      return rebuild(header, { ...body, transactions }, ports);
    }
    case "body of another header":
      return { ...block, body: { ...body, transactions: body.transactions.slice(1) } };
    case "hash of another header":
      return { ...block, hash: other };
    case "execution height ahead":
      return rebuild({ ...header, execHeight: header.height }, body, ports);
    case "unknown parent":
      return rebuild({ ...header, parent: other }, body, ports);
    case "wrong epoch":
      return rebuild({ ...header, epoch: header.epoch + 1 }, body, ports);
  }
}

function rebuild(header: Header, body: Body, ports: Ports): Block {
  const fitting: Header = {
    ...header,
    payloadHash: ports.hashBody(body),
    txCount: body.transactions.length,
    payloadSize: bodySize(body),
  };
  return { hash: ports.hashHeader(fitting), header: fitting, body };
}
