import type { PairingEngine } from "./pairing-engine.ts";

/**
 * Sums of two encoded points, bytes to bytes without bigints: additions are the cheapest curve
 * operations that contracts can buy, so here the conversions count.
 */
export class EncodedAddition {
  readonly #engine: PairingEngine;
  readonly #coordinateSize: number;
  readonly #one: number;
  readonly #oneBoth: number;
  readonly #points: number;
  readonly #others: number;
  readonly #work: number;

  /** `coordinateSize`: bytes of an encoded number of the prime field. */
  constructor(engine: PairingEngine, coordinateSize: number) {
    this.#engine = engine;
    this.#coordinateSize = coordinateSize;
    this.#one = engine.allocate(1);
    this.#oneBoth = engine.allocate(1);
    this.#points = engine.allocate(3);
    this.#others = engine.allocate(3);
    this.#work = engine.allocate(3);
    engine.write(this.#one, [1n, 0n]);
    engine.write(this.#oneBoth, [1n, 1n]);
  }

  /** Two points over the prime field, one after the other; each has a lane. */
  addG1(input: Uint8Array): Uint8Array | undefined {
    const engine = this.#engine;
    const size = this.#coordinateSize;
    const element = engine.elementSize;
    const [points, others, work] = [this.#points, this.#others, this.#work];
    for (let index = 0; index < 4; index++) {
      const place = points + (index % 2) * element;
      if (!engine.load(place, index >> 1, input, index * size, size)) return undefined;
    }
    engine.enter(points);
    engine.enter(points + element);
    engine.copy(points + 2 * element, this.#oneBoth, 1);
    engine.function("laneCurveError")(work, points, this.#oneBoth);
    engine.leave(work, work);
    const first = input.subarray(0, 2 * size);
    const second = input.subarray(2 * size, 4 * size);
    const isFirstInfinity = isZeroBytes(first);
    const isSecondInfinity = isZeroBytes(second);
    if (!isFirstInfinity && !engine.isZeroLane(work, 0)) return undefined;
    if (!isSecondInfinity && !engine.isZeroLane(work, 1)) return undefined;
    if (isFirstInfinity) return second.slice();
    if (isSecondInfinity) return first.slice();
    for (let index = 0; index < 3; index++) {
      engine.function("swap")(others + index * element, points + index * element);
    }
    engine.function("laneAdd")(points, points, others);
    return this.#writeG1();
  }

  /** Two points of the twist; the order of coefficients is that of EIP-2537, real part first. */
  addG2(input: Uint8Array): Uint8Array | undefined {
    const engine = this.#engine;
    const size = this.#coordinateSize;
    const element = engine.elementSize;
    const pointSize = 4 * size;
    for (const [index, place] of [this.#points, this.#others].entries()) {
      for (let part = 0; part < 4; part++) {
        const address = place + (part >> 1) * element;
        const offset = index * pointSize + part * size;
        if (!engine.load(address, part % 2, input, offset, size)) return undefined;
      }
      engine.enter(place);
      engine.enter(place + element);
      engine.copy(place + 2 * element, this.#one, 1);
    }
    const first = input.subarray(0, pointSize);
    const second = input.subarray(pointSize, 2 * pointSize);
    const isFirstInfinity = isZeroBytes(first);
    const isSecondInfinity = isZeroBytes(second);
    if (!isFirstInfinity && !this.#isOnTwist(this.#points)) return undefined;
    if (!isSecondInfinity && !this.#isOnTwist(this.#others)) return undefined;
    if (isFirstInfinity) return second.slice();
    if (isSecondInfinity) return first.slice();
    engine.function("twistAdd")(this.#points, this.#points, this.#others);
    return this.#writeG2();
  }

  #isOnTwist(point: number): boolean {
    this.#engine.function("twistCurveError")(this.#work, point, this.#one);
    return this.#engine.isZero(this.#work);
  }

  #writeG1(): Uint8Array {
    const engine = this.#engine;
    const size = this.#coordinateSize;
    const [points, work, element] = [this.#points, this.#work, engine.elementSize];
    const bytes = new Uint8Array(2 * size);
    if (engine.isZero(points + 2 * element)) return bytes;
    engine.invert(work, points + 2 * element);
    // x in one lane and y in the other, times 1/z.
    engine.function("join")(points, points, points + element);
    engine.function("multiplyLanes")(points, points, work);
    engine.leave(points, points);
    engine.save(points, 0, bytes, 0, size);
    engine.save(points, 1, bytes, size, size);
    return bytes;
  }

  #writeG2(): Uint8Array {
    const engine = this.#engine;
    const size = this.#coordinateSize;
    const [points, work, element] = [this.#points, this.#work, engine.elementSize];
    const bytes = new Uint8Array(4 * size);
    const z = points + 2 * element;
    if (engine.isZero(z)) return bytes;
    // 1/z is the conjugate over the norm.
    engine.function("multiplyLanes")(work, z, z);
    engine.function("swap")(work + element, work);
    engine.function("add")(work, work, work + element);
    engine.invert(work, work);
    engine.function("conjugate")(z, z);
    engine.function("multiplyLanes")(z, z, work);
    for (let index = 0; index < 2; index++) {
      const place = points + index * element;
      engine.function("multiply")(place, place, z);
      engine.leave(place, place);
      engine.save(place, 0, bytes, 2 * index * size, size);
      engine.save(place, 1, bytes, (2 * index + 1) * size, size);
    }
    return bytes;
  }
}

function isZeroBytes(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte !== 0) return false;
  return true;
}
