/**
 * Log lines that wait for their endpoints, in order, on disk and within a limit (SPEC L5). All
 * endpoints share the lines; each has a place up to which it has taken them. When the limit is
 * reached the oldest lines go, and for each endpoint that had not taken them they are counted.
 *
 * Lines are written to the page cache without a sync: they survive a crash of the process, but not
 * of the machine. Places are written now and then, so that after a crash some lines are sent twice
 * and none is left out.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { FileSegment, type Lines, MemorySegment, type Segment } from "./shipper-segment.ts";

export type SpoolOptions = {
  /** Undefined: lines wait in memory only. */
  readonly directory: string | undefined;
  readonly sizeMax: number;
  /** Of what waits in memory because the disk takes nothing, or there is none. */
  readonly memoryMax: number;
  readonly segmentSize: number;
};

/** Where an endpoint stands: in this segment, so many bytes and lines into it. */
type Place = { sequence: number; offset: number; lineCount: number };

export type SpoolBatch = Lines & { readonly endpoint: string; readonly sequence: number };

const SEGMENT_NAME = /^lines-(\d{1,15})\.ndjson$/;
const PLACES_NAME = "places.json";

export class Spool {
  #options: SpoolOptions;
  #isDiskMissing = false;
  readonly #places = new Map<string, Place>();
  readonly #dropped = new Map<string, number>();
  #segments: Segment[] = [];
  #nextSequence = 1;
  #arePlacesNew = false;

  constructor(options: SpoolOptions, endpoints: readonly string[]) {
    this.#options = options;
    try {
      this.#openSegments();
    } catch {
      // Without a disk lines wait in memory: sending them is what matters.
      this.#options = { ...options, directory: undefined };
      this.#isDiskMissing = true;
    }
    const known = this.#loadPlaces();
    // Lines that all have taken may be gone with their segment: its number is not given twice.
    const lastPlace = Math.max(0, ...[...known.values()].map(({ sequence }) => sequence));
    this.#nextSequence = Math.max(this.#nextSequence, lastPlace + 1);
    const first = this.#segments[0]?.sequence ?? this.#nextSequence;
    for (const endpoint of endpoints) {
      const place = known.get(endpoint);
      const isThere = place !== undefined && place.sequence >= first;
      this.#places.set(endpoint, isThere ? place : { sequence: first, offset: 0, lineCount: 0 });
      this.#dropped.set(endpoint, 0);
    }
    this.#removeTaken();
  }

  append(lines: Lines): void {
    const last = this.#segments.at(-1);
    const isOnDisk = last instanceof FileSegment && last.size < this.#options.segmentSize;
    const isKept = isOnDisk ? last.append(lines) : this.#appendToNew(lines);
    if (!isKept) this.#segments.push(new MemorySegment(this.#nextSequence++, lines));
    this.#dropOverLimit();
  }

  /** The next lines for an endpoint; undefined when it has taken all. */
  next(
    endpoint: string,
    limits: { readonly sizeMax: number; readonly linesMax: number },
  ): SpoolBatch | undefined {
    const place = this.#places.get(endpoint);
    if (place === undefined) return undefined;
    for (;;) {
      const at = this.#segments.findIndex(({ sequence }) => sequence >= place.sequence);
      const segment = this.#segments[at];
      if (segment === undefined) return undefined;
      if (segment.sequence > place.sequence) moveTo(place, segment.sequence);
      if (place.offset < segment.size) {
        const lines = segment.read(place.offset, limits);
        if (lines.lineCount > 0) return { ...lines, endpoint, sequence: segment.sequence };
      }
      const following = this.#segments[at + 1];
      if (following === undefined) return undefined;
      moveTo(place, following.sequence);
    }
  }

  /** The endpoint has taken the batch, or will never. False: the lines went while it was sent. */
  take({ endpoint, sequence, bytes, lineCount }: SpoolBatch): boolean {
    const place = this.#places.get(endpoint);
    if (place?.sequence !== sequence) return false;
    place.offset += bytes.length;
    place.lineCount += lineCount;
    this.#arePlacesNew = true;
    this.#removeTaken();
    return true;
  }

  waitingLines(endpoint: string): number {
    const place = this.#places.get(endpoint);
    if (place === undefined) return 0;
    const ahead = this.#segments.filter(({ sequence }) => sequence >= place.sequence);
    const total = ahead.reduce((sum, { lineCount }) => sum + lineCount, 0);
    const isInside = ahead[0]?.sequence === place.sequence;
    return total - (isInside ? place.lineCount : 0);
  }

  droppedLines(endpoint: string): number {
    return this.#dropped.get(endpoint) ?? 0;
  }

  get size(): number {
    return this.#segments.reduce((sum, { size }) => sum + size, 0);
  }

  /** Whether lines wait in memory because the disk does not take them. */
  get isDegraded(): boolean {
    if (this.#options.directory === undefined) return this.#isDiskMissing;
    return this.#segments.some(({ isInMemory }) => isInMemory);
  }

  savePlaces(): void {
    const { directory } = this.#options;
    if (directory === undefined || !this.#arePlacesNew) return;
    const file = path.join(directory, PLACES_NAME);
    try {
      writeFileSync(`${file}.new`, JSON.stringify(Object.fromEntries(this.#places)));
      renameSync(`${file}.new`, file);
      this.#arePlacesNew = false;
    } catch {
      // Lines are sent twice rather than lost.
    }
  }

  close(): void {
    this.savePlaces();
    for (const segment of this.#segments) if (segment instanceof FileSegment) segment.close();
  }

  #openSegments(): void {
    const { directory } = this.#options;
    if (directory === undefined) return;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const sequences = readdirSync(directory)
      .flatMap((name) => SEGMENT_NAME.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
    this.#segments = sequences.map((sequence) => new FileSegment(sequence, this.#path(sequence)));
    this.#nextSequence = (sequences.at(-1) ?? 0) + 1;
  }

  #appendToNew(lines: Lines): boolean {
    if (this.#options.directory === undefined) return false;
    try {
      const segment = new FileSegment(this.#nextSequence, this.#path(this.#nextSequence));
      if (!segment.append(lines)) {
        segment.remove();
        return false;
      }
      this.#nextSequence += 1;
      this.#segments.push(segment);
      return true;
    } catch {
      return false;
    }
  }

  #path(sequence: number): string {
    return path.join(this.#options.directory ?? "", `lines-${sequence}.ndjson`);
  }

  /** What every endpoint has taken. The last file stays while it is being filled. */
  #removeTaken(): void {
    const places = [...this.#places.values()];
    for (;;) {
      const [segment] = this.#segments;
      if (segment === undefined) return;
      const isTaken = places.every(
        ({ sequence, offset }) =>
          sequence > segment.sequence || (sequence === segment.sequence && offset >= segment.size),
      );
      const isFull = segment.isInMemory || segment.size >= this.#options.segmentSize;
      const isOld = this.#segments.length > 1;
      if (!isTaken || !(isFull || isOld)) return;
      this.#remove(0, segment);
    }
  }

  #dropOverLimit(): void {
    while (this.size > this.#options.sizeMax && this.#segments.length > 1) this.#drop(0);
    for (;;) {
      const inMemory = this.#segments.filter(({ isInMemory }) => isInMemory);
      const memorySize = inMemory.reduce((sum, { size }) => sum + size, 0);
      const [oldest] = inMemory;
      if (oldest === undefined || memorySize <= this.#options.memoryMax) return;
      this.#drop(this.#segments.indexOf(oldest));
    }
  }

  #drop(index: number): void {
    const segment = this.#segments[index];
    if (segment === undefined) return;
    for (const [endpoint, place] of this.#places) {
      if (place.sequence > segment.sequence) continue;
      const taken = place.sequence === segment.sequence ? place.lineCount : 0;
      this.#dropped.set(endpoint, this.droppedLines(endpoint) + segment.lineCount - taken);
    }
    this.#remove(index, segment);
  }

  #remove(index: number, segment: Segment): void {
    segment.remove();
    this.#segments.splice(index, 1);
    const next = this.#segments[index]?.sequence ?? this.#nextSequence;
    for (const place of this.#places.values()) {
      if (place.sequence === segment.sequence) moveTo(place, next);
    }
    this.#arePlacesNew = true;
  }

  #loadPlaces(): ReadonlyMap<string, Place> {
    const file = path.join(this.#options.directory ?? "", PLACES_NAME);
    if (this.#options.directory === undefined || !existsSync(file)) return new Map();
    try {
      const value: unknown = JSON.parse(readFileSync(file, "utf8"));
      const entries = Object.entries(typeof value === "object" && value !== null ? value : {});
      return new Map(entries.flatMap(([name, place]) => this.#parsePlace(name, place)));
    } catch {
      return new Map();
    }
  }

  /** A place that does not fit its segment is not believed: its lines are sent again. */
  #parsePlace(name: string, value: unknown): [string, Place][] {
    if (typeof value !== "object" || value === null) return [];
    const { sequence, offset, lineCount }: Record<string, unknown> = { ...value };
    if (typeof sequence !== "number" || typeof offset !== "number") return [];
    if (typeof lineCount !== "number") return [];
    const segment = this.#segments.find((one) => one.sequence === sequence);
    if (segment !== undefined && offset > segment.size) return [];
    return [[name, { sequence, offset, lineCount }]];
  }
}

function moveTo(place: Place, sequence: number): void {
  place.sequence = sequence;
  place.offset = 0;
  place.lineCount = 0;
}
