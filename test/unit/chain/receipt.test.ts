import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Bloom, encodeReceipt as encodeTheirs } from "@ethereumjs/vm";
import fc from "fast-check";
import { hexToBytes } from "../../../src/base/hex.ts";
import { addressToBytes, addressToHex } from "../../../src/chain/address.ts";
import {
  bloomOfLogs,
  addressBits,
  mayHave,
  topicBits,
  mergeBlooms,
  type Log,
} from "../../../src/chain/bloom.ts";
import { listRoot } from "../../../src/chain/list-root.ts";
import {
  createReceipt,
  decodeReceipt,
  encodeReceipt,
  type Receipt,
  receiptsRoot,
} from "../../../src/chain/receipt.ts";

const word = (value: bigint): Uint8Array => hexToBytes(`0x${value.toString(16).padStart(64, "0")}`);

const log: fc.Arbitrary<Log> = fc
  .tuple(
    fc.bigInt({ min: 0n, max: 2n ** 160n - 1n }),
    fc.array(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), { maxLength: 4 }),
    fc.uint8Array({ maxLength: 80 }),
  )
  .map(([address, topics, data]) => ({ address, topics, data }));

const receipt: fc.Arbitrary<Receipt> = fc
  .tuple(
    fc.constantFrom(0 as const, 1 as const, 2 as const, 4 as const),
    fc.boolean(),
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    fc.array(log, { maxLength: 3 }),
  )
  .map(([type, succeeded, cumulativeGasUsed, logs]) =>
    createReceipt({ type, succeeded, cumulativeGasUsed, logs }),
  );

describe("receipt", () => {
  it("goes into the root of its list as it is encoded", () => {
    fc.assert(
      fc.property(fc.array(receipt, { maxLength: 40 }), (receipts) => {
        assert.deepEqual(receiptsRoot(receipts), listRoot(receipts.map(encodeReceipt)));
      }),
    );
  });

  it("is encoded whatever the size of its logs", () => {
    for (const size of [0, 1, 55, 56, 255, 256, 5000, 65_536, 70_000]) {
      const data = new Uint8Array(size).fill(0x7f);
      const logs = [
        { address: 1n, topics: [1n, 2n, 3n, 4n], data },
        { address: 2n, topics: [], data: Uint8Array.of(0x80) },
      ];
      const ours = createReceipt({ type: 2, succeeded: true, cumulativeGasUsed: 0x7fn, logs });
      const decoded = decodeReceipt(encodeReceipt(ours));
      assert.deepEqual(decoded, { ok: true, value: ours }, `${size} bytes`);
    }
  });

  it("is encoded as @ethereumjs/vm encodes it, bloom included", () => {
    fc.assert(
      fc.property(receipt, (ours) => {
        // Theirs writes a gas of 0, which no transaction has, as a zero byte instead of nothing.
        fc.pre(ours.cumulativeGasUsed > 0n);
        const bloom = new Bloom();
        for (const { address, topics } of ours.logs) {
          bloom.add(addressToBytes(address));
          for (const topic of topics) bloom.add(word(topic));
        }
        assert.deepEqual(ours.logsBloom, bloom.bitvector);
        const theirs = encodeTheirs(
          {
            status: ours.succeeded ? 1 : 0,
            cumulativeBlockGasUsed: ours.cumulativeGasUsed,
            bitvector: bloom.bitvector,
            logs: ours.logs.map(({ address, topics, data }) => [
              addressToBytes(address),
              topics.map(word),
              data,
            ]),
          },
          ours.type,
        );
        assert.deepEqual(encodeReceipt(ours), theirs);
      }),
      { numRuns: 60 },
    );
  });

  it("decodes what it encoded, and never throws on changed bytes", () => {
    fc.assert(
      fc.property(receipt, fc.nat(), fc.nat(255), (ours, place, byte) => {
        const encoded = encodeReceipt(ours);
        assert.deepEqual(decodeReceipt(encoded), { ok: true, value: ours });
        encoded[place % encoded.length] = byte;
        const decoded = decodeReceipt(encoded);
        if (decoded.ok) assert.deepEqual(encodeReceipt(decoded.value), encoded);
      }),
      { numRuns: 100 },
    );
  });

  it("refuses a bloom that is not of its logs, an unknown type and a status above 1", () => {
    const ours = createReceipt({ type: 0, succeeded: true, cumulativeGasUsed: 9n, logs: [] });
    const code = (bytes: Uint8Array): string => {
      const decoded = decodeReceipt(bytes);
      return decoded.ok ? "accepted" : decoded.error.code;
    };
    const filled = { ...ours, logsBloom: new Uint8Array(256).fill(1) };
    assert.equal(code(encodeReceipt(filled)), "RECEIPT_BLOOM_WRONG");
    assert.equal(code(Uint8Array.of(3, ...encodeReceipt(ours))), "RECEIPT_TYPE_UNKNOWN");
    assert.equal(code(new Uint8Array(0)), "RECEIPT_TYPE_UNKNOWN");
    const status = encodeReceipt(ours);
    const place = status.indexOf(1, 3);
    status[place] = 2;
    assert.equal(code(status), "RECEIPT_STATUS_INVALID");
  });
});

describe("bloom", () => {
  it("has what was put in, also after merging, and lacks most of what was not", () => {
    fc.assert(
      fc.property(fc.array(log, { minLength: 1, maxLength: 4 }), (logs) => {
        const merged = mergeBlooms(logs.map((each) => bloomOfLogs([each])));
        assert.deepEqual(merged, bloomOfLogs(logs));
        for (const { address, topics } of logs) {
          assert.ok(mayHave(merged, addressBits(address)), addressToHex(address));
          for (const topic of topics) assert.ok(mayHave(merged, topicBits(topic)), String(topic));
        }
      }),
      { numRuns: 30 },
    );
    const bloom = bloomOfLogs([{ address: 1n, topics: [2n], data: new Uint8Array(0) }]);
    const present = Array.from({ length: 200 }, (_, index) => BigInt(index + 10)).filter((topic) =>
      mayHave(bloom, topicBits(topic)),
    );
    assert.deepEqual(present, []);
    assert.ok(!mayHave(bloom, addressBits(2n)));
  });
});
