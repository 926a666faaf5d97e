/** JSON beyond what numbers of JavaScript hold: integers and ids are passed on exactly. */
import { isAscii } from "node:buffer";

declare global {
  // The compiler's library does not know these of ECMAScript yet.
  interface JSON {
    parse(text: string, reviver: Reviver): unknown;
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** A result that is JSON already: it goes into the answer as it is. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A list of what is JSON already. */
export function jsonList(texts: readonly string[]): JsonText {
  return new JsonText(`[${texts.join(",")}]`);
}

export function rawInteger(value: bigint): object {
  return JSON.rawJSON(value.toString());
}

/** Bytes that are no UTF-8 or no JSON are refused with a SyntaxError or TypeError. */
export function parseJsonText(bytes: Uint8Array): unknown {
  // Most bodies are ASCII, which needs no decoder.
  const text = isAscii(bytes) ? asciiText(bytes) : utf8.decode(bytes);
  const value: unknown = JSON.parse(text);
  // An id is given back as it came. Few callers have ids that a number cannot hold: only for them
  // is the text read a second time.
  return hasInexactId(value) ? JSON.parse(text, keepIdText) : value;
}

/** Whether `value` came from `parseJson` as a number that is kept as text. */
export function isNumberText(value: unknown): boolean {
  return JSON.isRawJSON(value);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function asciiText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("latin1");
}

function hasInexactId(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isIdInexact) : isIdInexact(value);
}

function isIdInexact(request: unknown): boolean {
  if (typeof request !== "object" || request === null || !("id" in request)) return false;
  return typeof request.id === "number" && !Number.isSafeInteger(request.id);
}

const keepIdText: Reviver = (key, value, { source }) => {
  if (key !== "id" || typeof value !== "number" || source === undefined) return value;
  return JSON.rawJSON(source);
};
