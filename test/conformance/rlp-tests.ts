/** RLPTests: what encodes to what, and what no decoder may accept. */
import { bytesToHex, hexToBytes } from "../../src/base/hex.ts";
import { decodeRlp, encodeRlp, type RlpInput } from "../../src/chain/rlp/rlp.ts";
import { asObject, asText, type Fixture, type Json } from "./fixture-data.ts";
import { failed, PASSED, type Verdict } from "./outcome.ts";

/** Deeper than our own limit on untrusted input: the tests are about the encoding. */
const DEPTH_MAX = 1024;

export function runRlpTest({ body }: Fixture): Verdict {
  const test = asObject(body);
  const text = asText(test["out"]).toLowerCase();
  const bytes = hexToBytes(text.startsWith("0x") ? text : `0x${text}`);
  const decoded = decodeRlp(bytes, DEPTH_MAX);
  if (test["in"] === "INVALID") return decoded.ok ? failed("decoded, though invalid") : PASSED;
  if (!decoded.ok) return failed(`not decoded: ${decoded.error.code}`);
  const again = bytesToHex(encodeRlp(decoded.value));
  if (again !== bytesToHex(bytes)) return failed(`encoded again as ${again}`);
  if (test["in"] === "VALID") return PASSED;
  const encoded = bytesToHex(encodeRlp(toInput(test["in"] ?? "")));
  return encoded === bytesToHex(bytes) ? PASSED : failed(`encoded as ${encoded}`);
}

/** Texts are ASCII, except that one which begins with # is a decimal number. */
function toInput(value: Json): RlpInput {
  if (Array.isArray(value)) return value.map((item) => toInput(item as Json));
  if (typeof value === "number") return BigInt(value);
  const text = asText(value);
  if (text.startsWith("#")) {
    // Our integers end at 256 bits; a larger one is the byte string it stands for.
    const digits = BigInt(text.slice(1)).toString(16);
    return hexToBytes(`0x${digits.length % 2 === 0 ? "" : "0"}${digits}`);
  }
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
