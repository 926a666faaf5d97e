import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { concatBytes } from "../../../src/base/bytes.ts";
import { TokenBucket } from "../../../src/base/token-bucket.ts";
import { BackOff } from "../../../src/transport/back-off.ts";
import { BEAT, GREETING } from "../../../src/transport/frame.ts";
import { CHUNK_SIZE, FrameQueue } from "../../../src/transport/frame-queue.ts";
import { FrameReader } from "../../../src/transport/frame-reader.ts";

type Item = number | Uint8Array;

const control = fc.constantFrom(GREETING, BEAT);
const smallFrame = fc.uint8Array({ maxLength: 40 });
const largeFrame = fc
  .tuple(fc.constantFrom(CHUNK_SIZE - 5, CHUNK_SIZE - 4, CHUNK_SIZE, 3 * CHUNK_SIZE), fc.nat(255))
  .map(([size, fill]) => new Uint8Array(size).fill(fill));
const item: fc.Arbitrary<Item> = fc.oneof(
  { weight: 8, arbitrary: smallFrame },
  { weight: 2, arbitrary: control },
  { weight: 1, arbitrary: largeFrame },
);

function readAll(stream: Uint8Array, cuts: readonly number[], frameSizeMax: number): Item[] {
  const items: Item[] = [];
  const reader = new FrameReader(frameSizeMax, {
    onFrame: (frame) => items.push(Uint8Array.from(frame)) > 0,
    onControl: (word) => items.push(word) > 0,
  });
  let at = 0;
  for (const cut of [...cuts.toSorted((a, b) => a - b), stream.length]) {
    const end = Math.min(cut, stream.length);
    if (end <= at) continue;
    assert.equal(reader.read(stream.subarray(at, end)), undefined);
    at = end;
  }
  return items;
}

describe("framing", () => {
  it("what is queued is what is read, however the stream is cut", () => {
    fc.assert(
      fc.property(
        fc.array(item, { maxLength: 60 }),
        fc.array(fc.nat(300_000), { maxLength: 30 }),
        fc.nat(5),
        (items, cuts, partSize) => {
          const queue = new FrameQueue();
          for (const entry of items) {
            if (typeof entry === "number") queue.pushControl(entry);
            else queue.pushFrame(splitUp(entry, partSize), entry.length);
          }
          const waiting = queue.size;
          const chunks: Uint8Array[] = [];
          for (let chunk = queue.shift(); chunk !== undefined; chunk = queue.shift()) {
            assert.ok(chunk.length > 0, "no empty write");
            chunks.push(chunk);
          }
          const stream = concatBytes(...chunks);
          assert.equal(stream.length, waiting, "the queue knows its size");
          assert.equal(queue.size, 0);
          assert.deepEqual(readAll(stream, cuts, 4 * CHUNK_SIZE), items);
        },
      ),
      { numRuns: 150 },
    );
  });

  it("one byte at a time is enough, and a header alone reserves little", () => {
    const queue = new FrameQueue();
    queue.pushFrame(Uint8Array.of(1, 2, 3), 3);
    queue.pushControl(BEAT);
    queue.pushFrame([], 0);
    const stream = queue.shift() ?? new Uint8Array(0);
    const everywhere = Array.from(stream, (_, index) => index);
    assert.deepEqual(readAll(stream, everywhere, 3), [
      Uint8Array.of(1, 2, 3),
      BEAT,
      new Uint8Array(0),
    ]);
    const before = process.memoryUsage().arrayBuffers;
    const readers = Array.from({ length: 50 }, () => {
      const reader = new FrameReader(32 * 1024 * 1024, {
        onFrame: () => true,
        onControl: () => true,
      });
      reader.read(Uint8Array.of(0x02, 0, 0, 0, 9)); // claims 32 MiB, brings one byte
      return reader;
    });
    const grown = process.memoryUsage().arrayBuffers - before;
    assert.ok(grown < readers.length * 300 * 1024, `${grown} bytes for ${readers.length} claims`);
  });

  it("a frame that outgrows its first buffer keeps every byte that came before", () => {
    const frame = Uint8Array.from({ length: 1024 * 1024 }, (_, index) => index % 251);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(frame.length);
    const stream = concatBytes(head, frame);
    const [read] = readAll(stream, [200_000, 400_000, 900_000], frame.length);
    assert.ok(read instanceof Uint8Array && Buffer.from(frame).equals(read));
  });

  it("small frames leave in one chunk, large ones are not copied", () => {
    const queue = new FrameQueue();
    for (let count = 0; count < 100; count++) queue.pushFrame(new Uint8Array(120), 120);
    assert.equal(queue.shift()?.length, 100 * 124);
    assert.equal(queue.shift(), undefined);
    const large = new Uint8Array(CHUNK_SIZE);
    queue.pushFrame(large, large.length);
    assert.equal(queue.shift()?.length, 4);
    assert.equal(queue.shift(), large);
  });

  it("a frame above the limit ends the stream; a sink that stops gets nothing more", () => {
    const sizes: number[] = [];
    const reader = new FrameReader(10, {
      onFrame: (frame) => sizes.push(frame.length) < 2,
      onControl: () => true,
    });
    assert.equal(reader.read(Uint8Array.of(0, 0, 0, 11)), "LINK_FRAME_TOO_LARGE");
    const other = new FrameReader(10, {
      onFrame: (frame) => sizes.push(frame.length) < 2,
      onControl: () => true,
    });
    assert.equal(other.read(Uint8Array.of(0, 0, 0, 1, 9, 0, 0, 0, 0, 0, 0, 0, 1, 9)), undefined);
    assert.deepEqual(sizes, [1, 0]);
  });
});

describe("token bucket", () => {
  it("lets a second's worth through at once and then asks to wait as the rate demands", () => {
    const bucket = new TokenBucket(1_000, 0);
    assert.equal(bucket.take(1_000, 0), 0);
    assert.equal(bucket.take(10, 0), 10);
    assert.equal(bucket.take(0, 10), 0);
    assert.equal(bucket.take(5_000, 10), 5_000, "a large helping passes and is paid afterwards");
    assert.equal(bucket.take(0, 3_010), 2_000);
    assert.equal(bucket.take(1_000, 60_000), 0, "no more than a second's worth is saved up");
    assert.equal(bucket.take(1, 60_000), 1);
    assert.equal(bucket.take(0, 50_000), 1, "a clock that goes back earns nothing");
  });
});

describe("back-off", () => {
  it("doubles from the least to the most, with jitter over the upper half", () => {
    const most = new BackOff(10, 1_000, () => 1);
    const least = new BackOff(10, 1_000, () => 0);
    const draw = (backOff: BackOff): number[] => Array.from({ length: 10 }, () => backOff.nextMs());
    assert.deepEqual(draw(most), [10, 20, 40, 80, 160, 320, 640, 1_000, 1_000, 1_000]);
    assert.deepEqual(draw(least), [5, 10, 20, 40, 80, 160, 320, 500, 500, 500]);
    most.reset();
    assert.equal(most.nextMs(), 10);
  });
});

function splitUp(bytes: Uint8Array, partSize: number): Uint8Array | Uint8Array[] {
  if (partSize === 0 || bytes.length > 1_000) return bytes;
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += partSize) parts.push(bytes.subarray(at, at + partSize));
  return parts;
}
