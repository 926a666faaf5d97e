/**
 * Damaged encodings against the codec. Whatever the bytes are, decoding must not throw; and what it
 * accepts must encode to exactly the same bytes, so that there is one encoding per value. Accepted
 * messages also go through an authenticator that believes every signature, which walks all of it.
 */
import fc from "fast-check";
import { equalBytes } from "../../src/base/bytes.ts";
import { bytesToHex } from "../../src/base/hex.ts";
import { Prng } from "../../src/base/prng.ts";
import type { Result } from "../../src/base/result.ts";
import type { Header } from "../../src/consensus/block.ts";
import { createPeerMessageAuthenticator } from "../../src/wire/authenticate.ts";
import { decodeLogRecord, encodeLogRecord } from "../../src/wire/log-record-codec.ts";
import { decodeMessage, encodeMessage } from "../../src/wire/message-codec.ts";
import { WIRE_CODES, type WireError } from "../../src/wire/reader.ts";
import { arbitraryLogRecord, arbitraryMessage } from "../support/arbitrary-messages.ts";
import { plainHeader } from "../support/plain-header.ts";

export type WireFuzzReport = {
  readonly inputs: number;
  readonly accepted: number;
  /** How often each code refused an input. */
  readonly refused: ReadonlyMap<string, number>;
  readonly failures: readonly string[];
};

const CORPUS_COUNT = 400;
const INPUTS_PER_CORPUS = 20_000;
const FAILURES_MAX = 5;

/** Values that a count or a size is attacked with. */
const BOMBS = [0, 1, 2, 63, 64, 65, 255, 4_096, 65_536, 0x20_0000, 0x7fff_ffff, 0xffff_ffff];

const GENESIS: Header = plainHeader();

export async function fuzzWire(options: {
  readonly seconds: number;
  readonly seed: number;
}): Promise<number> {
  const endMs = performance.now() + options.seconds * 1_000;
  const prng = new Prng(options.seed);
  let inputs = 0;
  let accepted = 0;
  while (performance.now() < endMs) {
    const report = fuzzCodecs(prng.uint32(), INPUTS_PER_CORPUS);
    inputs += report.inputs;
    accepted += report.accepted;
    for (const failure of report.failures) process.stdout.write(`${failure}\n`);
    if (report.failures.length > 0) return 1;
    await Promise.resolve();
  }
  process.stdout.write(`wire: ${inputs} damaged inputs, ${accepted} accepted, 0 failures\n`);
  return 0;
}

/** Damages a corpus drawn from the seed `inputs` times. Equal seeds do equal things. */
export function fuzzCodecs(seed: number, inputs: number): WireFuzzReport {
  const prng = new Prng(seed);
  const runs = { numRuns: CORPUS_COUNT, seed: seed | 0 };
  const messages = fc.sample(arbitraryMessage, runs).map(encodeMessage);
  const records = fc.sample(arbitraryLogRecord, runs).map(encodeLogRecord);
  const refused = new Map<string, number>();
  const failures: string[] = [];
  let accepted = 0;
  for (let index = 0; index < inputs && failures.length < FAILURES_MAX; index++) {
    const isRecord = prng.chance(0.25);
    const bytes = damage(prng, isRecord ? records : messages);
    const outcome = isRecord ? checkRecord(bytes) : checkMessage(bytes);
    if (outcome === "accepted") accepted++;
    else if (outcome.startsWith("WIRE_")) refused.set(outcome, (refused.get(outcome) ?? 0) + 1);
    else failures.push(`SEED=${seed} input ${index}: ${outcome}: ${bytesToHex(bytes)}`);
  }
  return { inputs, accepted, refused, failures };
}

function checkMessage(bytes: Uint8Array): string {
  return outcomeOf(bytes, decodeMessage, (message) => {
    // One authenticator per message: what an earlier one left in its cache must not matter.
    const authenticator = createPeerMessageAuthenticator(
      { net: new Uint8Array(32), replicaCount: 64, genesis: GENESIS, window: 4 },
      { verify: () => true },
    );
    authenticator.authenticate(message, 0);
    return encodeMessage(message);
  });
}

function checkRecord(bytes: Uint8Array): string {
  return outcomeOf(bytes, decodeLogRecord, encodeLogRecord);
}

function outcomeOf<Value>(
  bytes: Uint8Array,
  decode: (bytes: Uint8Array) => Result<Value, WireError>,
  encode: (value: Value) => Uint8Array,
): string {
  try {
    const decoded = decode(bytes);
    if (decoded.ok) {
      return equalBytes(encode(decoded.value), bytes) ? "accepted" : "not canonical";
    }
    const { code, offset } = decoded.error;
    const isInside = offset >= 0 && offset <= bytes.length;
    return WIRE_CODES.includes(code) && isInside ? code : `bad error ${code} at ${offset}`;
  } catch (error) {
    return `threw ${String(error)}`;
  }
}

function damage(prng: Prng, corpus: readonly Uint8Array[]): Uint8Array {
  let bytes = Uint8Array.from(prng.pick(corpus));
  const rounds = prng.chance(0.7) ? 1 : prng.between(2, 5);
  for (let round = 0; round < rounds; round++) bytes = damageOnce(prng, bytes, corpus);
  return bytes;
}

function damageOnce(
  prng: Prng,
  bytes: Uint8Array<ArrayBuffer>,
  corpus: readonly Uint8Array[],
): Uint8Array<ArrayBuffer> {
  const at = prng.below(bytes.length + 1);
  switch (prng.below(9)) {
    case 0:
      if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << prng.below(8));
      return bytes;
    case 1:
      if (at < bytes.length) bytes[at] = prng.pick([0, 1, 2, 3, 0x7f, 0x80, 0xff]);
      return bytes;
    case 2:
      return bytes.slice(0, at);
    case 3:
      return Uint8Array.from([...bytes, ...prng.bytes(prng.between(1, 20))]);
    case 4: {
      const bomb = at & ~3;
      if (bomb + 4 <= bytes.length) new DataView(bytes.buffer).setUint32(bomb, prng.pick(BOMBS));
      return bytes;
    }
    case 5: {
      // The head of one message and the tail of another.
      const other = prng.pick(corpus);
      return Uint8Array.from([...bytes.subarray(0, at), ...other.subarray(prng.below(200))]);
    }
    case 6:
      return Uint8Array.from([
        ...bytes.subarray(0, at),
        ...bytes.subarray(at + prng.between(1, 140)),
      ]);
    case 7:
      return Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(prng.below(at + 1))]);
    default:
      if (bytes.length > 1) bytes[prng.below(2)] = prng.below(24);
      return bytes;
  }
}
