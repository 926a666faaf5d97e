import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { verifyMessage } from "ethers";
import fc from "fast-check";
import { createSiweMessage, parseSiweMessage as parseByViem } from "viem/siwe";
import { privateKeyToAccount } from "viem/accounts";
import { bytesToHex, hexToBytes } from "../../../../src/base/hex.ts";
import { addressToChecksumHex, parseAddress } from "../../../../src/chain/address.ts";
import {
  personalMessageHash,
  recoverPersonalSigner,
} from "../../../../src/rpc/auth/personal-message.ts";
import {
  formatSiweMessage,
  parseSiweMessage,
  SIWE_LENGTH_MAX,
  type SiweMessage,
} from "../../../../src/rpc/auth/siwe-message.ts";

const ADDRESS = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const LINES: readonly string[] = [
  "https://app.example.org:8080 wants you to sign in with your Ethereum account:",
  ADDRESS,
  "",
  "I accept the terms: https://example.org/tos",
  "",
  "URI: https://app.example.org:8080/login?x=1#top",
  "Version: 1",
  "Chain ID: 5000",
  "Nonce: abcDEF1234",
  "Issued At: 2024-02-29T23:59:59.123Z",
  "Expiration Time: 2024-03-01T01:00:00+01:00",
  "Not Before: 2024-02-29T23:59:59Z",
  "Request ID: a-1",
  "Resources:",
  "- ipfs://bafybeiemxf5abjwjbikoz4mc3a3dla6ual3jsgpdr4cjr3oz3evfyavhwq/",
  "- https://example.org/claim.json",
];
const TEXT = LINES.join("\n");

function codeOf(text: string): string {
  const parsed = parseSiweMessage(text);
  return parsed.ok ? "taken" : `${parsed.error.code} ${parsed.error.field}`;
}

/** The message with the line that begins so replaced, or left out. */
function withLine(start: string, ...lines: readonly string[]): string {
  const index = LINES.findIndex((line) => line.startsWith(start));
  assert.ok(index >= 0, start);
  return LINES.toSpliced(index, 1, ...lines).join("\n");
}

describe("a message of Sign-In with Ethereum", () => {
  it("gives its parts", () => {
    const parsed = parseSiweMessage(TEXT);
    assert.deepEqual(parsed.ok && parsed.value, {
      scheme: "https",
      domain: "app.example.org:8080",
      address: BigInt(ADDRESS),
      statement: "I accept the terms: https://example.org/tos",
      uri: "https://app.example.org:8080/login?x=1#top",
      chainId: 5000n,
      nonce: "abcDEF1234",
      issuedAtMs: Date.UTC(2024, 1, 29, 23, 59, 59, 123),
      expirationMs: Date.UTC(2024, 2, 1, 0, 0, 0),
      notBeforeMs: Date.UTC(2024, 1, 29, 23, 59, 59),
      requestId: "a-1",
      resources: [
        "ipfs://bafybeiemxf5abjwjbikoz4mc3a3dla6ual3jsgpdr4cjr3oz3evfyavhwq/",
        "https://example.org/claim.json",
      ],
    });
  });

  it("is what others write and read", () => {
    const fields = {
      address: ADDRESS,
      chainId: 5000,
      domain: "localhost:3000",
      nonce: "0123456789abcdef",
      uri: "http://localhost:3000/",
      version: "1",
      issuedAt: new Date(1_700_000_000_000),
    } as const;
    for (const more of [{}, { statement: "Hello." }, { expirationTime: new Date(1.7e12 + 1) }]) {
      const text = createSiweMessage({ ...fields, ...more });
      const parsed = parseSiweMessage(text);
      assert.ok(parsed.ok, text);
      assert.equal(formatSiweMessage(parsed.value), text);
      assert.equal(parseByViem(text).nonce, parsed.value.nonce);
    }
  });

  it("comes back from its own text", () => {
    const word = fc.stringMatching(/^[A-Za-z0-9]{8,20}$/);
    const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
    const message = fc.record<SiweMessage>({
      scheme: fc.constantFrom(undefined, "https", "app+x"),
      domain: fc.constantFrom("localhost", "example.org:1", "[::1]:8545"),
      address: fc.bigInt({ min: 0n, max: 2n ** 160n - 1n }),
      statement: fc.option(fc.stringMatching(/^[A-Za-z0-9 .,:]{1,40}$/), { nil: undefined }),
      uri: fc.constantFrom("https://example.org/?a=b", "did:key:z6Mk", "http://localhost"),
      chainId: fc.bigInt({ min: 1n, max: 2n ** 63n }),
      nonce: word,
      issuedAtMs: time,
      expirationMs: fc.option(time, { nil: undefined }),
      notBeforeMs: fc.option(time, { nil: undefined }),
      requestId: fc.option(fc.stringMatching(/^[A-Za-z0-9-]{0,10}$/), { nil: undefined }),
      resources: fc.array(fc.constantFrom("https://a.example/b", "ipfs://c"), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(message, (value) => {
        const parsed = parseSiweMessage(formatSiweMessage(value));
        assert.deepEqual(parsed.ok && parsed.value, { ...value });
      }),
    );
  });

  const refused: readonly [what: string, text: string, code: string][] = [
    ["nothing", "", "SIWE_MALFORMED domain"],
    [
      "another greeting",
      withLine("https://", `app.example.org wants you to sign in:`),
      "SIWE_MALFORMED domain",
    ],
    ["a domain with a path", TEXT.replace(":8080 wants", ":8080/x wants"), "SIWE_MALFORMED domain"],
    ["a domain with a user", TEXT.replace("//app", "//me@app"), "SIWE_MALFORMED domain"],
    [
      "an address in lower case",
      TEXT.replace(ADDRESS, ADDRESS.toLowerCase()),
      "SIWE_ADDRESS_INVALID address",
    ],
    [
      "an address with a wrong checksum",
      TEXT.replace("0xf39F", "0xF39F"),
      "SIWE_ADDRESS_INVALID address",
    ],
    [
      "a statement of two lines",
      withLine("I accept", "I accept", "all"),
      "SIWE_MALFORMED statement",
    ],
    ["a statement with a tab", withLine("I accept", "I\taccept"), "SIWE_MALFORMED statement"],
    [
      "no line before the URI",
      withLine("I accept").replace("\n\n\nURI", "\n\nURI"),
      "SIWE_MALFORMED statement",
    ],
    ["a URI with a space", withLine("URI", "URI: https://a b"), "SIWE_MALFORMED URI"],
    ["a URI without a scheme", withLine("URI", "URI: //example.org"), "SIWE_MALFORMED URI"],
    ["version 2", withLine("Version", "Version: 2"), "SIWE_VERSION_UNKNOWN Version"],
    ["chain 0", withLine("Chain", "Chain ID: 0"), "SIWE_MALFORMED Chain ID"],
    ["a chain with leading zeros", withLine("Chain", "Chain ID: 05000"), "SIWE_MALFORMED Chain ID"],
    ["a chain in hexadecimal", withLine("Chain", "Chain ID: 0x1388"), "SIWE_MALFORMED Chain ID"],
    ["a nonce of 7", withLine("Nonce", "Nonce: 1234567"), "SIWE_MALFORMED Nonce"],
    ["a nonce with a dash", withLine("Nonce", "Nonce: 1234-5678"), "SIWE_MALFORMED Nonce"],
    ["no nonce", withLine("Nonce"), "SIWE_MALFORMED Nonce"],
    [
      "fields in another order",
      withLine("Nonce", "Issued At: 2024-02-29T23:59:59Z", "Nonce: 12345678"),
      "SIWE_MALFORMED Nonce",
    ],
    [
      "a day that is not",
      withLine("Issued", "Issued At: 2023-02-29T00:00:00Z"),
      "SIWE_TIME_INVALID Issued At",
    ],
    [
      "a time without a zone",
      withLine("Issued", "Issued At: 2024-02-29T00:00:00"),
      "SIWE_TIME_INVALID Issued At",
    ],
    ["a date alone", withLine("Issued", "Issued At: 2024-02-29"), "SIWE_TIME_INVALID Issued At"],
    [
      "hour 24",
      withLine("Expiration", "Expiration Time: 2024-02-29T24:00:00Z"),
      "SIWE_TIME_INVALID Expiration Time",
    ],
    ["a resource that is no URI", `${TEXT}\n- here`, "SIWE_MALFORMED Resources"],
    ["a line too many", `${TEXT}\nPS: hello`, "SIWE_MALFORMED end"],
    ["an empty line at the end", `${TEXT}\n`, "SIWE_MALFORMED end"],
    ["lines of another system", TEXT.replaceAll("\n", "\r\n"), "SIWE_MALFORMED domain"],
    [
      "more than any wallet shows",
      TEXT + "\n- https://x.example".repeat(SIWE_LENGTH_MAX / 10),
      "SIWE_TOO_LONG message",
    ],
  ];
  for (const [what, text, code] of refused) {
    it(`is refused with ${what}`, () => assert.equal(codeOf(text), code));
  }

  it("is refused or parsed, never thrown over, whatever stands in it", () => {
    const line = fc.oneof(fc.constantFrom(...LINES), fc.string());
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
        parseSiweMessage(lines.join("\n"));
      }),
    );
  });
});

describe("a signature of a personal message", () => {
  const account = privateKeyToAccount(`0x${"11".repeat(32)}`);

  it("gives the account that signed, as other libraries see it", async () => {
    for (const text of ["", "hello", TEXT, "ünïcödé ☕"]) {
      const signature = await account.signMessage({ message: text });
      assert.equal(verifyMessage(text, signature), account.address);
      const signer = recoverPersonalSigner(text, hexToBytes(signature)) ?? 0n;
      assert.equal(addressToChecksumHex(signer), account.address, text);
    }
  });

  it("may count its parity from 0", async () => {
    const signature = hexToBytes(await account.signMessage({ message: "x" }));
    signature[64] = signature[64]! - 27;
    assert.equal(recoverPersonalSigner("x", signature), parseAddress(account.address));
  });

  it("has no signer with another text, another length, a wrong parity or a high s", async () => {
    const signature = hexToBytes(await account.signMessage({ message: "x" }));
    assert.notEqual(recoverPersonalSigner("y", signature), parseAddress(account.address));
    assert.equal(recoverPersonalSigner("x", signature.subarray(0, 64)), undefined);
    for (const v of [2, 26, 29, 30, 255]) {
      const other = Uint8Array.from(signature);
      other[64] = v;
      assert.equal(recoverPersonalSigner("x", other), undefined, `v ${v}`);
    }
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const s = BigInt(bytesToHex(signature.subarray(32, 64)));
    const twin = Uint8Array.from(signature);
    twin.set(hexToBytes(`0x${(order - s).toString(16).padStart(64, "0")}`), 32);
    twin[64] = signature[64] === 27 ? 28 : 27;
    assert.equal(recoverPersonalSigner("x", twin), undefined);
    assert.equal(personalMessageHash("x").length, 32);
  });
});
