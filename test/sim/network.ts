/**
 * The simulated network: connections between endpoints, each direction with its own delay and its
 * own faults. A connection keeps its frames in order unless the run draws reordering; a frame in
 * flight is lost with its connection.
 */
import type { Prng } from "../../src/base/prng.ts";
import type { Coverage } from "./coverage.ts";
import type { EventQueue } from "./event-queue.ts";

/** How often each thing happens to a frame, as probabilities, and how long frames travel. */
export type LinkQuality = {
  readonly delayUs: number;
  readonly jitterUs: number;
  readonly loss: number;
  readonly duplication: number;
  readonly reordering: number;
  readonly corruption: number;
};

/** A replica, a twin of one, or nothing while it is down. */
export type Endpoint = {
  readonly isAlive: () => boolean;
  readonly onFrame: (from: number, frame: Uint8Array) => void;
  readonly onLink: (peer: number, isUp: boolean) => void;
};

type Direction = {
  quality: LinkQuality;
  isCut: boolean;
  /** What the sender of this direction believes. */
  isUp: boolean;
  lastArrivalUs: number;
  readonly prng: Prng;
};

const SWEEP_US = 20_000;
const RESET_US = 300;
const REORDER_MAX_US = 20_000;

export class Network {
  readonly #queue: EventQueue;
  readonly #coverage: Coverage;
  readonly #endpoints: readonly Endpoint[];
  readonly #directions: Direction[][];
  readonly #generation: number[][];
  /** Which pairs may talk at all: twins share the connections of one replica. */
  isWired: (a: number, b: number) => boolean = () => true;
  /** False once the run has healed: messages then arrive as sent. */
  isFaulty = true;

  constructor(
    options: { readonly endpoints: readonly Endpoint[]; readonly quality: () => LinkQuality },
    dependencies: { readonly queue: EventQueue; readonly prng: Prng; readonly coverage: Coverage },
  ) {
    this.#queue = dependencies.queue;
    this.#coverage = dependencies.coverage;
    this.#endpoints = options.endpoints;
    this.#generation = options.endpoints.map(() => options.endpoints.map(() => 0));
    this.#directions = options.endpoints.map(() =>
      options.endpoints.map(() => ({
        quality: options.quality(),
        isCut: false,
        isUp: false,
        lastArrivalUs: 0,
        prng: dependencies.prng.fork(),
      })),
    );
  }

  start(): void {
    this.#sweep();
  }

  /** Hands a frame to the connection; lost at once if the sender's side is down. */
  send(from: number, to: number, frame: Uint8Array): void {
    const direction = this.#direction(from, to);
    if (!direction.isUp) return;
    const { prng, quality } = direction;
    const drops = this.#draw(prng, quality.loss);
    const isDuplicated = this.#draw(prng, quality.duplication);
    const isCorrupted = this.#draw(prng, quality.corruption);
    if (direction.isCut) {
      this.#coverage.count("cut: frame into a cut link");
      return;
    }
    if (drops) {
      this.#coverage.count("network: frame lost");
      return;
    }
    if (isDuplicated) {
      this.#coverage.count("network: frame duplicated");
      this.#dispatch(from, to, frame, direction);
    }
    if (isCorrupted) {
      this.#coverage.count("network: frame corrupted");
      this.#dispatch(from, to, corrupt(frame, prng), direction);
      return;
    }
    this.#dispatch(from, to, frame, direction);
  }

  setCut(from: number, to: number, isCut: boolean): void {
    this.#direction(from, to).isCut = isCut;
  }

  setQuality(from: number, to: number, change: Partial<LinkQuality>): void {
    const direction = this.#direction(from, to);
    direction.quality = { ...direction.quality, ...change };
  }

  qualityOf(from: number, to: number): LinkQuality {
    return this.#direction(from, to).quality;
  }

  /** The connection breaks; each side in `sides` notices now, the other one after a reset. */
  disconnect(a: number, b: number, sides: "both" | "first"): void {
    this.#bump(a, b);
    this.#noticeDown(a, b);
    if (sides === "both") this.#noticeDown(b, a);
    else this.#laterDown(b, a, 30_000);
  }

  /** An endpoint is gone. Peers learn of it by a reset, unless its machine died silently. */
  detach(endpoint: number, isSilent: boolean): void {
    for (let peer = 0; peer < this.#endpoints.length; peer++) {
      if (peer === endpoint) continue;
      this.#bump(endpoint, peer);
      this.#direction(endpoint, peer).isUp = false;
      if (!isSilent) {
        const travelUs = this.#direction(endpoint, peer).quality.delayUs;
        this.#laterDown(peer, endpoint, travelUs + RESET_US);
      }
    }
  }

  isConnected(a: number, b: number): boolean {
    return this.#direction(a, b).isUp && this.#direction(b, a).isUp;
  }

  isCut(from: number, to: number): boolean {
    return this.#direction(from, to).isCut;
  }

  /** Ends every fault; broken connections come back with the next sweep. */
  heal(): void {
    this.isFaulty = false;
    for (const row of this.#directions) for (const direction of row) direction.isCut = false;
  }

  #draw(prng: Prng, probability: number): boolean {
    // Drawn even when it cannot bite, so that healing or shrinking does not shift later draws.
    const hit = prng.chance(probability);
    return hit && this.isFaulty;
  }

  #dispatch(from: number, to: number, frame: Uint8Array, direction: Direction): void {
    const { prng, quality } = direction;
    const jitterUs = quality.jitterUs === 0 ? 0 : prng.below(quality.jitterUs);
    let arrivalUs = this.#queue.nowUs() + quality.delayUs + jitterUs;
    if (this.#draw(prng, quality.reordering)) {
      this.#coverage.count("network: frame reordered");
      arrivalUs += prng.below(REORDER_MAX_US);
    } else {
      arrivalUs = Math.max(arrivalUs, direction.lastArrivalUs + 1);
      direction.lastArrivalUs = arrivalUs;
    }
    const generation = this.#generation[from]![to]!;
    this.#queue.at(arrivalUs, () => {
      const isCurrent = this.#generation[from]![to] === generation;
      if (!isCurrent || !this.#endpoints[to]!.isAlive()) return;
      this.#endpoints[to]!.onFrame(from, frame);
    });
  }

  #sweep(): void {
    for (let a = 0; a < this.#endpoints.length; a++) {
      for (let b = a + 1; b < this.#endpoints.length; b++) this.#reconcile(a, b);
    }
    this.#queue.after(SWEEP_US, () => this.#sweep());
  }

  #reconcile(a: number, b: number): void {
    const [there, back] = [this.#direction(a, b), this.#direction(b, a)];
    if (there.isUp && back.isUp && this.isWired(a, b)) return;
    if (!this.isWired(a, b)) {
      if (there.isUp || back.isUp) this.disconnect(a, b, "both");
      return;
    }
    const canConnect =
      this.#endpoints[a]!.isAlive() && this.#endpoints[b]!.isAlive() && !there.isCut && !back.isCut;
    if (!canConnect) return;
    this.#bump(a, b);
    this.#noticeDown(a, b);
    this.#noticeDown(b, a);
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      if (!this.#endpoints[from]!.isAlive()) continue;
      const direction = this.#direction(from, to);
      direction.isUp = true;
      direction.lastArrivalUs = 0;
      this.#endpoints[from]!.onLink(to, true);
    }
  }

  #laterDown(at: number, peer: number, delayUs: number): void {
    const generation = this.#generation[at]![peer]!;
    this.#queue.after(delayUs, () => {
      if (this.#generation[at]![peer] === generation) this.#noticeDown(at, peer);
    });
  }

  #noticeDown(at: number, peer: number): void {
    const direction = this.#direction(at, peer);
    if (!direction.isUp) return;
    direction.isUp = false;
    if (this.#endpoints[at]!.isAlive()) this.#endpoints[at]!.onLink(peer, false);
  }

  #bump(a: number, b: number): void {
    const generation = this.#generation[a]![b]! + 1;
    this.#generation[a]![b] = generation;
    this.#generation[b]![a] = generation;
  }

  #direction(from: number, to: number): Direction {
    return this.#directions[from]![to]!;
  }
}

function corrupt(frame: Uint8Array, prng: Prng): Uint8Array {
  const copy = new Uint8Array(frame);
  switch (prng.below(3)) {
    case 0: {
      const at = prng.below(copy.length);
      copy[at] = copy[at]! ^ (1 << prng.below(8));
      return copy;
    }
    case 1:
      return copy.slice(0, prng.below(copy.length));
    default:
      for (let count = prng.between(1, 8); count > 0; count--) {
        copy[prng.below(copy.length)] = prng.below(256);
      }
      return copy;
  }
}
