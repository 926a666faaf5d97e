/**
 * Numbers between big-endian bytes and limbs of some width, without bigints, which are slow to make
 * and to take apart. Limbs are doubles that hold integers; `stride` is the distance between them.
 */
export type LimbPlace = {
  readonly limbs: Float64Array;
  readonly start: number;
  readonly stride: number;
  readonly count: number;
  readonly bits: number;
};

const POWERS = Float64Array.from({ length: 64 }, (_, exponent) => 2 ** exponent);

function power(exponent: number): number {
  return POWERS[exponent] ?? 0;
}

/** False if the bytes do not fit into the limbs; then these hold nothing of use. */
export function readLimbs(
  place: LimbPlace,
  bytes: Uint8Array,
  offset: number,
  size: number,
): boolean {
  const { limbs, start, stride, count, bits } = place;
  let limb = 0;
  let filled = 0;
  let sum = 0;
  for (let index = offset + size - 1; index >= offset; index--) {
    const byte = bytes[index] ?? 0;
    if (limb === count) {
      if (byte !== 0) return false;
      continue;
    }
    const room = bits - filled;
    if (room > 8) {
      sum += byte * power(filled);
      filled += 8;
      continue;
    }
    limbs[start + limb * stride] = sum + (byte & ((1 << room) - 1)) * power(filled);
    limb++;
    sum = byte >> room;
    filled = 8 - room;
    if (limb === count && sum !== 0) return false;
  }
  for (; limb < count; limb++) {
    limbs[start + limb * stride] = sum;
    sum = 0;
  }
  return true;
}

/** Writes limbs that are all in 0 .. 2^bits-1. */
export function writeLimbs(
  place: LimbPlace,
  bytes: Uint8Array,
  offset: number,
  size: number,
): void {
  const { limbs, start, stride, count, bits } = place;
  let limb = 0;
  let held = 0;
  let rest = 0;
  for (let index = offset + size - 1; index >= offset; index--) {
    if (held < 8) {
      const next = limb < count ? (limbs[start + limb * stride] ?? 0) : 0;
      limb++;
      // The low bits of the next limb complete this byte; what is left stays below 2^bits.
      const need = 8 - held;
      const high = Math.floor(next / power(need));
      bytes[index] = rest + (next - high * power(need)) * power(held);
      rest = high;
      held = bits - need;
      continue;
    }
    // Not by `%`, which is a slow loop for doubles.
    const high = Math.floor(rest / 256);
    bytes[index] = rest - high * 256;
    rest = high;
    held -= 8;
  }
}

/** Whether the number in limbs 0 .. 2^bits-1 is below that of another place of the same shape. */
export function isBelow(place: LimbPlace, limit: Float64Array): boolean {
  const { limbs, start, stride, count } = place;
  for (let limb = count - 1; limb >= 0; limb--) {
    const difference = (limbs[start + limb * stride] ?? 0) - (limit[limb] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

export function isZeroLimbs({ limbs, start, stride, count }: LimbPlace): boolean {
  for (let limb = 0; limb < count; limb++) if (limbs[start + limb * stride] !== 0) return false;
  return true;
}

/** From any limbs of a number that is a few primes off at most to the limbs of 0 .. prime-1. */
export function normaliseLimbs(place: LimbPlace, prime: Float64Array): void {
  while (carryLimbs(place) < 0) addLimbs(place, prime, 1);
  while (!isBelow(place, prime)) {
    addLimbs(place, prime, -1);
    carryLimbs(place);
  }
}

/** Brings the limbs into 0 .. 2^bits-1 but the top one, which it returns: it has the sign. */
function carryLimbs({ limbs, start, stride, count, bits }: LimbPlace): number {
  const unit = power(bits);
  let carry = 0;
  for (let limb = 0; limb < count - 1; limb++) {
    const sum = (limbs[start + limb * stride] ?? 0) + carry;
    carry = Math.floor(sum / unit);
    limbs[start + limb * stride] = sum - carry * unit;
  }
  const top = (limbs[start + (count - 1) * stride] ?? 0) + carry;
  limbs[start + (count - 1) * stride] = top;
  return top;
}

function addLimbs(place: LimbPlace, prime: Float64Array, sign: number): void {
  for (let limb = 0; limb < place.count; limb++) {
    const at = place.start + limb * place.stride;
    place.limbs[at] = (place.limbs[at] ?? 0) + sign * (prime[limb] ?? 0);
  }
}

export function limbsOf(value: bigint, count: number, bits: number): Float64Array {
  return Float64Array.from({ length: count }, (_, limb) =>
    Number(BigInt.asUintN(bits, value >> BigInt(bits * limb))),
  );
}
