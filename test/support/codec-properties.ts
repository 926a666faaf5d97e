/** What must hold of every codec: one encoding per value, and nothing but that is taken. */
import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { Prng } from "../../src/base/prng.ts";
import type { Result } from "../../src/base/result.ts";

export type Codec<Message> = {
  readonly encode: (message: Message) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => Result<Message, { readonly code: string }>;
};

const DAMAGED_COUNT = 20_000;
/** Most damage falls on values that may be any: fewer accepted ones would prove little. */
const ACCEPTED_MIN = 1_000;

/** For messages of any size; damage goes to the first bytes, where the form is. */
const DAMAGED_SIZE = 200;

/** Inside a `describe`. `byKind` has an arbitrary for each kind of message. */
export function itKeepsToItsCodec<Message>(
  byKind: Readonly<Record<string, fc.Arbitrary<Message>>>,
  { encode, decode }: Codec<Message>,
  seed: number,
): void {
  const arbitrary = fc.oneof(...Object.values(byKind));

  for (const [kind, one] of Object.entries(byKind)) {
    it(`${kind} comes back as it was sent`, () => {
      const property = fc.property(one, (message) => {
        assert.deepStrictEqual(decode(encode(message)), { ok: true, value: message });
      });
      fc.assert(property, { numRuns: 60, seed });
    });
  }

  it("every proper prefix is refused, and every extension for its tail", () => {
    const property = fc.property(arbitrary, fc.nat(), (message, cut) => {
      const whole = encode(message);
      assert.ok(!decode(whole.subarray(0, cut % whole.length)).ok);
      const extended = decode(Uint8Array.from([...whole, 0]));
      assert.ok(!extended.ok);
      assert.equal(extended.error.code, "WIRE_TRAILING_BYTES");
    });
    fc.assert(property, { numRuns: 300, seed });
  });

  it("never throws on damaged bytes and accepts only what it would write itself", () => {
    const prng = new Prng(seed);
    const originals = fc.sample(arbitrary, { numRuns: 200, seed }).map(encode);
    let accepted = 0;
    for (let round = 0; round < DAMAGED_COUNT; round++) {
      const damaged = Uint8Array.from(prng.pick(originals));
      for (let flips = prng.between(1, 3); flips > 0; flips--) {
        damaged[prng.below(Math.min(damaged.length, DAMAGED_SIZE))] = prng.below(256);
      }
      const decoded = decode(damaged);
      if (!decoded.ok) continue;
      accepted++;
      assert.deepEqual(encode(decoded.value), damaged, `round ${round}`);
    }
    assert.ok(accepted > ACCEPTED_MIN, `accepted ${accepted}`);
  });
}
