/** What quorate_getCertificate gives, read back from JSON. It comes from outside. */
import { parseHex } from "../../base/hex.ts";
import { err, ok, type Result } from "../../base/result.ts";
import type { BlockCertificate } from "../../api/block-certificate.ts";
import type { ConfigProblem } from "../../config/config-problem.ts";
import { isRecord } from "../../base/parse-json.ts";
import { JsonFields, parseJsonRecord } from "../../config/json-fields.ts";

export type ShownCertificate = {
  /** What the certificate claims to be about; nothing is proved by it. */
  readonly blockNumber: bigint;
  readonly blockHash: Uint8Array;
  readonly encodedHeader: Uint8Array;
  readonly certificate: BlockCertificate;
};

const HASH_SIZE = 32;
const SIGNATURE_SIZE = 64;
const REPLICA_MAX = 255;
const UINT32_MAX = 2 ** 32 - 1;
const QUANTITY = /^0x(0|[1-9a-f][0-9a-f]{0,15})$/i;

/** The result alone, or the whole answer of a node with the result in it. */
export function parseCertificateJson(
  text: string,
): Result<ShownCertificate, readonly ConfigProblem[]> {
  const parsed = parseJsonRecord(text);
  if (!parsed.ok) return err([parsed.error]);
  const { result } = parsed.value;
  const problems: ConfigProblem[] = [];
  const fields = new JsonFields(isRecord(result) ? result : parsed.value, "", problems);
  const shown: ShownCertificate = {
    blockNumber: quantity(fields, "blockNumber"),
    blockHash: fields.bytes("blockHash", HASH_SIZE),
    encodedHeader: hex(fields, "header", fields.text("header")),
    certificate: {
      net: fields.bytes("network", HASH_SIZE),
      height: height(fields),
      consensusHash: fields.bytes("consensusHash", HASH_SIZE),
      headers: fields
        .texts("consensusHeaders")
        .map((value, at) => hex(fields, `consensusHeaders[${at}]`, value)),
      commit: hex(fields, "commitCertificate", fields.text("commitCertificate")),
      result: fields.bytes("result", HASH_SIZE),
      votes: fields.records("resultSignatures").map((vote) => ({
        replica: vote.integer("replica", 0, REPLICA_MAX),
        epoch: vote.integer("epoch", 0, UINT32_MAX),
        signature: vote.bytes("signature", SIGNATURE_SIZE),
      })),
    },
  };
  return problems.length > 0 ? err(problems) : ok(shown);
}

function height(fields: JsonFields): number {
  const value = quantity(fields, "height");
  if (value <= BigInt(UINT32_MAX)) return Number(value);
  fields.report("height", `must be at most ${UINT32_MAX}`);
  return 0;
}

function quantity(fields: JsonFields, name: string): bigint {
  const value = fields.text(name);
  if (QUANTITY.test(value)) return BigInt(value);
  if (value !== "") fields.report(name, "must be a number in 0x-hex");
  return 0n;
}

function hex(fields: JsonFields, name: string, value: string): Uint8Array {
  const bytes = parseHex(value);
  if (bytes === undefined && value !== "") fields.report(name, "must be 0x-hex");
  return bytes ?? new Uint8Array(0);
}
