/** An account of the genesis in JSON: in network file, values of the chart, file of its own. */
import { bytesToHex, parseHex } from "../base/hex.ts";
import { addressToChecksumHex, bytesToAddress } from "../chain/address.ts";
import type { CarriedAccount, GenesisAccount } from "../chain/genesis.ts";
import type { JsonFields, JsonRecord } from "./json-fields.ts";

const ADDRESS_SIZE = 20;
const WORD = /^0x[0-9a-fA-F]{1,64}$/;
const CARRIED_FIELDS = ["nonce", "code", "storage", "isAdmin"];

export function readGenesisAccount(fields: JsonFields): GenesisAccount {
  const address = bytesToAddress(fields.bytes("address", ADDRESS_SIZE));
  const balance = fields.bigint("balance");
  const isCarried = CARRIED_FIELDS.some((name) => fields.has(name));
  const carried = isCarried ? readCarried(fields) : undefined;
  fields.end();
  return { address, balance, ...(carried !== undefined && { carried }) };
}

export function genesisAccountToJson({ address, balance, carried }: GenesisAccount): JsonRecord {
  const plain = { address: addressToChecksumHex(address), balance: numberToJson(balance) };
  if (carried === undefined) return plain;
  const { isAdmin, nonce, code, storage } = carried;
  return {
    ...plain,
    isAdmin,
    ...(nonce > 0n && { nonce: numberToJson(nonce) }),
    ...(code.length > 0 && { code: bytesToHex(code) }),
    ...(storage.length > 0 && {
      storage: Object.fromEntries(
        storage.map(([slot, value]) => [wordText(slot), wordText(value)]),
      ),
    }),
  };
}

/** Numbers where JSON keeps them exactly, digits in quotes elsewhere. */
export function numberToJson(value: bigint): number | string {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : String(value);
}

/** Words by slot in the order that the genesis asks for; slots that hold 0 hold nothing. */
export function sortedStorage(
  words: Iterable<readonly [slot: bigint, value: bigint]>,
): CarriedAccount["storage"] {
  return [...words]
    .filter(([, value]) => value !== 0n)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

function readCarried(fields: JsonFields): CarriedAccount {
  const code = fields.has("code") ? parseHex(fields.text("code")) : new Uint8Array(0);
  if (code === undefined) fields.report("code", "must be 0x-hex");
  return {
    isAdmin: fields.has("isAdmin") ? fields.boolean("isAdmin") : false,
    nonce: fields.has("nonce") ? fields.bigint("nonce") : 0n,
    code: code ?? new Uint8Array(0),
    storage: sortedStorage(fields.has("storage") ? readStorage(fields) : []),
  };
}

function readStorage(fields: JsonFields): [bigint, bigint][] {
  const words: [bigint, bigint][] = [];
  for (const [slot, value] of fields.entries("storage")) {
    if (!WORD.test(slot) || typeof value !== "string" || !WORD.test(value)) {
      fields.report(`storage.${slot}`, "must be a word in 0x-hex by its slot in 0x-hex");
      continue;
    }
    words.push([BigInt(slot), BigInt(value)]);
  }
  return words;
}

function wordText(word: bigint): string {
  return `0x${word.toString(16)}`;
}
