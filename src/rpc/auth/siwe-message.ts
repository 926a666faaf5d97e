/**
 * The text of Sign-In with Ethereum (EIP-4361): what a wallet shows its owner and signs. Parsed to
 * the letter of its grammar, so that what is checked here is what the owner saw.
 */
import { addressToChecksumHex, parseAddress } from "../../chain/address.ts";
import { err, ok, type Result } from "../../base/result.ts";

export type SiweMessage = {
  readonly scheme: string | undefined;
  readonly domain: string;
  readonly address: bigint;
  readonly statement: string | undefined;
  readonly uri: string;
  readonly chainId: bigint;
  readonly nonce: string;
  readonly issuedAtMs: number;
  readonly expirationMs: number | undefined;
  readonly notBeforeMs: number | undefined;
  readonly requestId: string | undefined;
  readonly resources: readonly string[];
};

export type SiweParseError = {
  readonly code:
    | "SIWE_TOO_LONG"
    | "SIWE_MALFORMED"
    | "SIWE_ADDRESS_INVALID"
    | "SIWE_VERSION_UNKNOWN"
    | "SIWE_TIME_INVALID";
  /** The part of the message at fault, as the standard calls it. */
  readonly field: string;
};

/** Far above any real message; statements and resources have no limit of their own. */
export const SIWE_LENGTH_MAX = 4_096;

const GREETING = " wants you to sign in with your Ethereum account:";
const HEADING = /^(?:([A-Za-z][A-Za-z0-9+.-]*):\/\/)?([^\s/?#@]+)$/;
/** RFC 3986 without a space, a quote or a control character; the schemes are anyone's. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/;
/** reserved, unreserved and space of RFC 3986: nothing that could fake a line. */
const STATEMENT = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;= ]+$/;
const REQUEST_ID = /^[A-Za-z0-9\-._~!$&'()*+,;=:@%]*$/;
const DATE = /(\d{4})-(\d{2})-(\d{2})/;
const TIME = /([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?/;
const ZONE = /(Z|[+-]([01]\d|2[0-3]):[0-5]\d)/;
const DATE_TIME = new RegExp(`^${DATE.source}T${TIME.source}${ZONE.source}$`);

export function parseSiweMessage(text: string): Result<SiweMessage, SiweParseError> {
  if (text.length > SIWE_LENGTH_MAX) return err({ code: "SIWE_TOO_LONG", field: "message" });
  const lines = new Lines(text.split("\n"));
  const message = readMessage(lines);
  return lines.failure === undefined ? ok(message) : err(lines.failure);
}

/** The text to be signed. The parts are not checked: what parse would refuse, it refuses. */
export function formatSiweMessage(message: SiweMessage): string {
  const { scheme, domain, statement, expirationMs, notBeforeMs, requestId, resources } = message;
  const origin = scheme === undefined ? domain : `${scheme}://${domain}`;
  return [
    `${origin}${GREETING}`,
    addressToChecksumHex(message.address),
    "",
    ...(statement === undefined ? [] : [statement]),
    "",
    `URI: ${message.uri}`,
    "Version: 1",
    `Chain ID: ${message.chainId}`,
    `Nonce: ${message.nonce}`,
    `Issued At: ${isoTime(message.issuedAtMs)}`,
    ...(expirationMs === undefined ? [] : [`Expiration Time: ${isoTime(expirationMs)}`]),
    ...(notBeforeMs === undefined ? [] : [`Not Before: ${isoTime(notBeforeMs)}`]),
    ...(requestId === undefined ? [] : [`Request ID: ${requestId}`]),
    ...(resources.length === 0 ? [] : ["Resources:", ...resources.map((uri) => `- ${uri}`)]),
  ].join("\n");
}

function readMessage(lines: Lines): SiweMessage {
  const { scheme, domain } = readOrigin(lines);
  const address = readAddress(lines);
  lines.expectEmpty("statement");
  const isStated = lines.peek() !== "";
  const statement = isStated ? lines.match(STATEMENT, "statement") : undefined;
  lines.expectEmpty("statement");
  const uri = lines.field("URI", URI);
  const version = lines.field("Version", /^.*$/);
  if (version !== "1") lines.fail("SIWE_VERSION_UNKNOWN", "Version");
  const chainId = BigInt(lines.field("Chain ID", /^[1-9]\d{0,19}$/) || "0");
  const nonce = lines.field("Nonce", /^[A-Za-z0-9]{8,}$/);
  const issuedAtMs = readTime(lines, "Issued At");
  const expirationMs = lines.has("Expiration Time")
    ? readTime(lines, "Expiration Time")
    : undefined;
  const notBeforeMs = lines.has("Not Before") ? readTime(lines, "Not Before") : undefined;
  const requestId = lines.has("Request ID") ? lines.field("Request ID", REQUEST_ID) : undefined;
  const resources = readResources(lines);
  lines.expectEnd();
  return {
    scheme,
    domain,
    address,
    statement,
    uri,
    chainId,
    nonce,
    issuedAtMs,
    expirationMs,
    notBeforeMs,
    requestId,
    resources,
  };
}

function readOrigin(lines: Lines): Pick<SiweMessage, "scheme" | "domain"> {
  const line = lines.next() ?? "";
  const origin = line.endsWith(GREETING) ? HEADING.exec(line.slice(0, -GREETING.length)) : null;
  if (origin === null) lines.fail("SIWE_MALFORMED", "domain");
  return { scheme: origin?.[1], domain: origin?.[2] ?? "" };
}

/** With its checksum: a wallet shows it so, and a typing error is detected. */
function readAddress(lines: Lines): bigint {
  const text = lines.next() ?? "";
  const address = parseAddress(text);
  if (address === undefined || addressToChecksumHex(address) !== text) {
    lines.fail("SIWE_ADDRESS_INVALID", "address");
  }
  return address ?? 0n;
}

function readTime(lines: Lines, name: string): number {
  const text = lines.field(name, /^.*$/);
  const match = DATE_TIME.exec(text);
  const timeMs = match === null ? Number.NaN : Date.parse(text);
  // Date.parse takes 30 February for 1 March.
  const daysMax = new Date(Date.UTC(Number(match?.[1]), Number(match?.[2]), 0)).getUTCDate();
  if (Number.isNaN(timeMs) || Number(match?.[3]) > daysMax) lines.fail("SIWE_TIME_INVALID", name);
  return timeMs;
}

function readResources(lines: Lines): string[] {
  if (lines.peek() !== "Resources:") return [];
  lines.next();
  const resources: string[] = [];
  while (lines.peek()?.startsWith("- ") === true) {
    const uri = (lines.next() ?? "").slice(2);
    if (!URI.test(uri)) lines.fail("SIWE_MALFORMED", "Resources");
    resources.push(uri);
  }
  return resources;
}

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** Reads line by line and remembers the first thing that was wrong. */
class Lines {
  readonly #lines: readonly string[];
  #index = 0;
  failure: SiweParseError | undefined;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  peek(): string | undefined {
    return this.#lines[this.#index];
  }

  next(): string | undefined {
    const line = this.#lines[this.#index];
    this.#index += 1;
    return line;
  }

  has(name: string): boolean {
    return this.peek()?.startsWith(`${name}: `) === true;
  }

  field(name: string, pattern: RegExp): string {
    const line = this.next() ?? "";
    const value = line.startsWith(`${name}: `) ? line.slice(name.length + 2) : undefined;
    if (value === undefined || !pattern.test(value)) this.fail("SIWE_MALFORMED", name);
    return this.failure === undefined ? (value ?? "") : "";
  }

  match(pattern: RegExp, name: string): string {
    const line = this.next() ?? "";
    if (!pattern.test(line)) this.fail("SIWE_MALFORMED", name);
    return line;
  }

  expectEmpty(name: string): void {
    if (this.next() !== "") this.fail("SIWE_MALFORMED", name);
  }

  expectEnd(): void {
    if (this.#index !== this.#lines.length) this.fail("SIWE_MALFORMED", "end");
  }

  fail(code: SiweParseError["code"], field: string): void {
    this.failure ??= { code, field };
  }
}
