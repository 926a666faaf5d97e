/** Reads a JSON record field by field and notes every problem with its path. */
import { isRecord } from "../base/parse-json.ts";
import { parseHex } from "../base/hex.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { ConfigProblem } from "./config-problem.ts";

export type JsonRecord = Readonly<Record<string, unknown>>;

const WHOLE = /^(0|[1-9][0-9]{0,77})$/;

export class JsonFields {
  readonly #record: JsonRecord;
  readonly #path: string;
  readonly #problems: ConfigProblem[];
  readonly #read = new Set<string>();

  constructor(record: JsonRecord, path: string, problems: ConfigProblem[]) {
    this.#record = record;
    this.#path = path;
    this.#problems = problems;
  }

  text(name: string): string {
    const value = this.#take(name);
    if (typeof value === "string" && value !== "") return value;
    return this.#report(name, "must be a text", "");
  }

  has(name: string): boolean {
    return this.#record[name] !== undefined;
  }

  texts(name: string): string[] {
    return this.list(name).map((value, at) =>
      typeof value === "string" && value !== ""
        ? value
        : this.#report(`${name}[${at}]`, "must be a text", ""),
    );
  }

  integer(name: string, min: number, max: number): number {
    const value = this.#take(name);
    const isInRange =
      typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max;
    return isInRange ? value : this.#report(name, `must be a whole number, ${min} to ${max}`, min);
  }

  /** A JSON integer, or decimal digits in quotes where it may be above 2^53. */
  bigint(name: string): bigint {
    const value = this.#take(name);
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) {
      return BigInt(value);
    }
    if (typeof value === "string" && WHOLE.test(value)) return BigInt(value);
    return this.#report(name, "must be a whole number that is not negative", 0n);
  }

  boolean(name: string): boolean {
    const value = this.#take(name);
    return typeof value === "boolean" ? value : this.#report(name, "must be true or false", false);
  }

  /** 0x-hex of so many bytes. */
  bytes(name: string, size: number): Uint8Array {
    return this.#bytesOf(this.#take(name), name, size);
  }

  bytesList(name: string, size: number): Uint8Array[] {
    return this.list(name).map((value, at) => this.#bytesOf(value, `${name}[${at}]`, size));
  }

  records(name: string): JsonFields[] {
    return this.list(name).map((value, at) => this.#fields(value, `${name}[${at}]`));
  }

  record(name: string): JsonFields {
    return this.#fields(this.#take(name), name);
  }

  /** The fields of a record whose names are not known beforehand. */
  entries(name: string): readonly (readonly [string, unknown])[] {
    const value = this.#take(name);
    return Object.entries(isRecord(value) ? value : this.#report(name, "must be a record", {}));
  }

  report(name: string, message: string): void {
    this.#problems.push({ path: this.#path + name, message });
  }

  /** After all fields were read: what is left is a mistake. */
  end(): void {
    for (const name of Object.keys(this.#record)) {
      if (!this.#read.has(name)) this.report(name, "is not known");
    }
  }

  list(name: string): readonly unknown[] {
    const value = this.#take(name);
    return Array.isArray(value) ? value : this.#report(name, "must be a list", []);
  }

  #fields(value: unknown, name: string): JsonFields {
    const record = isRecord(value) ? value : this.#report(name, "must be a record", {});
    return new JsonFields(record, `${this.#path}${name}.`, this.#problems);
  }

  #bytesOf(value: unknown, name: string, size: number): Uint8Array {
    const bytes = typeof value === "string" ? parseHex(value) : undefined;
    if (bytes?.length === size) return bytes;
    return this.#report(name, `must be 0x-hex of ${size} bytes`, new Uint8Array(size));
  }

  #take(name: string): unknown {
    this.#read.add(name);
    return this.#record[name];
  }

  /** Reading continues with a placeholder, so that every problem is found at once. */
  #report<Value>(name: string, message: string, standIn: Value): Value {
    const isMissing = this.#record[name] === undefined && !name.endsWith("]");
    this.report(name, isMissing ? "is missing" : message);
    return standIn;
  }
}

export function parseJsonRecord(text: string): Result<JsonRecord, ConfigProblem> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return err({ path: "", message: "it is not JSON" });
  }
  return isRecord(value) ? ok(value) : err({ path: "", message: "it is not a JSON record" });
}
