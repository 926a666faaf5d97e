import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import type { Block } from "../../../src/consensus/block.ts";
import type { FinalCert } from "../../../src/consensus/certificate.ts";
import type { BlockResponse } from "../../../src/consensus/message.ts";
import { ClientSessions } from "../../../src/replica/peers/client-sessions.ts";
import { FinalBlocks } from "../../../src/replica/final-blocks.ts";
import { BlockStore } from "../../../src/storage/block-store.ts";
import { createTransaction } from "../../../src/wire/block-codec.ts";
import {
  decodeClientMessage,
  encodeClientMessage,
  type ClientRequest,
} from "../../../src/wire/client-codec.ts";
import { ZERO_HASH_TEXT } from "../../../src/wire/hash-text.ts";
import { decodeMessage } from "../../../src/wire/message-codec.ts";
import { until } from "../../support/following-client.ts";
import { plainHeader } from "../../support/plain-header.ts";

const WINDOW = 4;
const HEIGHT = 100;
const BOUNDARY = 50;
const CLIENT = 8;

/** Certificates only at every tenth height and at the end of the epoch. */
describe("final blocks", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-blocks-"));
  let store: BlockStore;
  let blocks: FinalBlocks;

  before(async () => {
    store = await BlockStore.open(directory);
    blocks = new FinalBlocks(store, WINDOW);
    for (let height = 1; height <= HEIGHT; height += 10) {
      const group = Array.from({ length: 10 }, (_, at) => blockAt(height + at));
      blocks.append(group, certificateOf(group.at(-1)!));
    }
  });
  after(async () => {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const heights = (from: number, to: number): number[] | undefined => {
    const parts = blocks.response(from, to);
    if (parts === undefined) return undefined;
    const decoded = decodeMessage(Buffer.concat(parts));
    assert.ok(decoded.ok);
    const response = decoded.value as BlockResponse;
    const found = response.blocks.map(({ header }) => header.height);
    assert.equal(response.certificate.height, found.at(-1), "the last one is proved");
    return found;
  };

  it("a response goes on to the next block that has a proof of its own", () => {
    assert.deepEqual(heights(5, 7), [5, 6, 7, 8, 9, 10]);
    assert.deepEqual(heights(5, 10), [5, 6, 7, 8, 9, 10]);
    assert.equal(heights(1, 11)!.at(-1), 20);
  });

  it("a response never crosses the end of an epoch", () => {
    assert.equal(heights(45, 70)!.at(-1), BOUNDARY);
    assert.equal(heights(BOUNDARY + 1, 70)!.at(-1), 70);
  });

  it("a response has no more blocks than a receiver takes, and ends with a proof", () => {
    assert.equal(heights(BOUNDARY + 1, HEIGHT)!.at(-1), BOUNDARY + 40);
    assert.equal(heights(HEIGHT + 1, HEIGHT + 2), undefined);
  });

  it("heights that are there already are left alone", () => {
    blocks.append([blockAt(HEIGHT)], certificateOf(blockAt(HEIGHT)));
    assert.equal(blocks.latestHeight, HEIGHT);
  });

  describe("as a client follows them", () => {
    const open = (room: number): Session => {
      const session: Session = { room, seen: [], sessions: undefined };
      session.sessions = new ClientSessions({
        blocks,
        execHeight: () => 30,
        links: {
          send: (_client, parts) => {
            if (session.room === 0) return false;
            session.room--;
            const decoded = decodeClientMessage(Buffer.concat(parts.slice(1)));
            assert.ok(decoded.ok);
            const { value } = decoded;
            if (value.kind === "finalBlock") session.seen.push(`b${value.block.header.height}`);
            if (value.kind === "execVote") session.seen.push(`r${value.vote.height}`);
            return true;
          },
        },
        transactions: { submit: () => undefined },
        reporter: { report: () => assert.fail() },
        signResult: (vote) => ({ ...vote, sender: 0, signature: new Uint8Array(64) }),
        router: { onRefused: (_client, code) => session.seen.push(code) },
      });
      session.sessions.onUp(CLIENT);
      return session;
    };
    const ask = (session: Session, request: ClientRequest): void =>
      session.sessions!.onFrame(CLIENT, encodeClientMessage(request));

    before(() => {
      for (let height = 1; height <= 30; height++) {
        // A crash took one.
        if (height !== 12) blocks.putResult(height, new Uint8Array(32).fill(height));
      }
    });

    it("comes in order, each result after its block, a lost one left out", async () => {
      const session = open(Infinity);
      ask(session, { kind: "follow", fromHeight: 10 });
      await until(() => session.seen.at(-1) === `b${HEIGHT}`, "all is sent");
      assert.deepEqual(session.seen.slice(0, 6), ["b10", "r10", "b11", "r11", "b12", "b13"]);
      const sentBlocks = session.seen.filter((text) => text.startsWith("b"));
      assert.equal(sentBlocks.length, HEIGHT - 9);
      assert.equal(session.seen.filter((text) => text.startsWith("r")).length, 20);
    });

    it("stops when the client takes nothing, and goes on where it stopped", async () => {
      const session = open(5);
      ask(session, { kind: "follow", fromHeight: 31 });
      session.sessions!.onProgress();
      assert.deepEqual(session.seen, ["b31", "b32", "b33", "b34", "b35"]);
      session.room = 1_000;
      session.sessions!.onDrain(CLIENT);
      await until(() => session.seen.at(-1) === `b${HEIGHT}`, "the rest is sent");
      assert.deepEqual(session.seen[5], "b36");
      assert.equal(session.seen.length, HEIGHT - 30);
    });

    it("can be asked for once, up to the next proof", async () => {
      const session = open(Infinity);
      ask(session, { kind: "blocksRequest", fromHeight: 64, toHeight: 66 });
      await until(() => session.seen.at(-1) === "b70", "it ends with a proof");
      session.sessions!.onProgress();
      assert.deepEqual(session.seen, ["b64", "b65", "b66", "b67", "b68", "b69", "b70"]);
    });

    it("a client that answers instead of asking is refused", () => {
      const session = open(Infinity);
      const answer = { kind: "refused", transactionId: ZERO_HASH_TEXT, code: "X" } as const;
      session.sessions!.onFrame(CLIENT, encodeClientMessage(answer));
      session.sessions!.onFrame(CLIENT, Uint8Array.of(9, 9));
      assert.deepEqual(session.seen, ["MESSAGE_UNWANTED", "WIRE_UNKNOWN_VERSION"]);
    });
  });
});

type Session = { room: number; readonly seen: string[]; sessions: ClientSessions | undefined };

function blockAt(height: number): Block {
  const transactions = [createTransaction(Uint8Array.of(height), height)];
  const rejoin = {
    kind: "rejoin",
    member: 1,
    epoch: 0,
    nonce: ZERO_HASH_TEXT,
    signature: new Uint8Array(64),
  } as const;
  const isBoundary = height === BOUNDARY;
  return {
    hash: `0x${height.toString(16).padStart(64, "0")}`,
    header: plainHeader({ height, txCount: 1, payloadSize: 1, timestampMs: height }),
    body: isBoundary ? { transactions: [], rejoin } : { transactions, rejoin: undefined },
  };
}

function certificateOf({ hash, header }: Block): FinalCert {
  const { epoch, height } = header;
  return { kind: "fast", epoch, view: 0, height, blockHash: hash, votes: [] };
}
