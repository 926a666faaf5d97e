import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { decodeLogRecord, encodeLogRecord } from "../../../src/wire/log-record-codec.ts";
import { decodeMessage, encodeMessage } from "../../../src/wire/message-codec.ts";
import type { Message } from "../../../src/consensus/message.ts";
import type { LogRecord } from "../../../src/consensus/log-record.ts";
import {
  arbitraryMessage,
  ARBITRARY_LOG_RECORDS,
  ARBITRARY_MESSAGES,
} from "../../support/arbitrary-messages.ts";

const RUNS = { numRuns: 60, seed: 20_260_101 };

describe("messages on the wire", () => {
  for (const [kind, arbitrary] of Object.entries<fc.Arbitrary<Message>>(ARBITRARY_MESSAGES)) {
    it(`${kind} comes back as it was sent`, () => {
      fc.assert(
        fc.property(arbitrary, (message) => {
          assert.deepStrictEqual(decodeMessage(encodeMessage(message)), {
            ok: true,
            value: message,
          });
        }),
        RUNS,
      );
    });
  }

  it("every proper prefix is refused as truncated, and every extension for its tail", () => {
    fc.assert(
      fc.property(arbitraryMessage, fc.nat(), (message, cut) => {
        const bytes = encodeMessage(message);
        const prefix = decodeMessage(bytes.subarray(0, cut % bytes.length));
        assert.ok(!prefix.ok);
        assert.equal(prefix.error.code, "WIRE_TRUNCATED");
        const extended = decodeMessage(Uint8Array.from([...bytes, 0]));
        assert.ok(!extended.ok);
        assert.equal(extended.error.code, "WIRE_TRAILING_BYTES");
      }),
      { numRuns: 300, seed: 7 },
    );
  });

  it("what was decoded shares no memory with what it was decoded from", () => {
    fc.assert(
      fc.property(arbitraryMessage, (message) => {
        // Inside a larger Buffer, as it comes from a socket: Buffer's own slice would alias.
        const chunk = Buffer.concat([Buffer.of(1, 2, 3), encodeMessage(message), Buffer.of(4)]);
        const decoded = decodeMessage(chunk.subarray(3, chunk.length - 1));
        chunk.fill(0xee);
        assert.deepStrictEqual(decoded, { ok: true, value: message });
      }),
      { numRuns: 200, seed: 8 },
    );
  });

  it("an encoding is not changed by encoding the next message", () => {
    const [first, second] = fc.sample(arbitraryMessage, { numRuns: 2, seed: 9 });
    assert.ok(first !== undefined && second !== undefined);
    const bytes = encodeMessage(first);
    const kept = Uint8Array.from(bytes);
    encodeMessage(second);
    assert.deepEqual(bytes, kept);
  });
});

describe("records in the log", () => {
  for (const [kind, arbitrary] of Object.entries<fc.Arbitrary<LogRecord>>(ARBITRARY_LOG_RECORDS)) {
    it(`${kind} comes back as it was written`, () => {
      fc.assert(
        fc.property(arbitrary, (record) => {
          assert.deepStrictEqual(decodeLogRecord(encodeLogRecord(record)), {
            ok: true,
            value: record,
          });
        }),
        RUNS,
      );
    });
  }
});
