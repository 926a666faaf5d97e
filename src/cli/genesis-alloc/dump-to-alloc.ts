/**
 * A dump of another chain's state becomes accounts of a genesis. Read are the dumps of geth
 * (`geth dump`, debug_dumpBlock), of Anvil (anvil_dumpState), the `alloc` of a genesis file of geth or
 * Besu, and each of them as the answer of JSON-RPC that it came in.
 */
import { gunzipSync } from "node:zlib";
import { parseHex } from "../../base/hex.ts";
import { err, ok, type Result } from "../../base/result.ts";
import { parseJson } from "../../base/parse-json.ts";
import { addressToChecksumHex, parseAddress, ZERO_ADDRESS } from "../../chain/address.ts";
import type { GenesisAccount } from "../../chain/genesis.ts";
import { PERMISSION_ADDRESS } from "../../chain/permissions.ts";
import type { ConfigProblem } from "../../config/config-problem.ts";
import { sortedStorage } from "../../config/genesis-account.ts";
import { isRecord } from "../../base/parse-json.ts";
import { type JsonRecord } from "../../config/json-fields.ts";

export type CarriedState = {
  readonly accounts: readonly GenesisAccount[];
  /** What has a meaning on its own chain alone, with the reason. */
  readonly leftOut: readonly { readonly address: string; readonly reason: string }[];
};

const UNPACKED_BYTES_MAX = 512 * 1024 * 1024;
const GZIP_MAGIC = "0x1f8b";
const PRECOMPILE_MAX = 0xffn;
const PRECOMPILE_P256 = 0x100n;
const DECIMAL = /^[0-9]{1,78}$/;
const HEX_WORD = /^0x[0-9a-fA-F]{1,64}$/;
const UINT256_MAX = 2n ** 256n - 1n;

/** Contracts that a chain's own clock and validators write to, and the old permission contract. */
const CHAIN_CONTRACTS: ReadonlyMap<bigint, string> = new Map([
  [0x000f3df6d732807ef1319fb7b8bb8522d0beac02n, "beacon roots (EIP-4788)"],
  [0x0000f90827f1c53a10cb7a02335b175320002935n, "block hashes (EIP-2935)"],
  [0x00000961ef480eb55e80d19ad83579a64c007002n, "withdrawal requests (EIP-7002)"],
  [0x0000bbddc7ce488642fb579f8b00f3a590007251n, "consolidation requests (EIP-7251)"],
  [0x57a268e7694371880a2c5881bd240db812bbfbf0n, "the permission contract of the old product"],
  [PERMISSION_ADDRESS, "the permission contract, which every genesis has"],
  [ZERO_ADDRESS, "the zero address"],
]);

export function dumpToAlloc(text: string): Result<CarriedState, readonly ConfigProblem[]> {
  const parsed = parseJson(text) ?? accountLines(text);
  const cut = cutOff(parsed);
  if (cut !== undefined) return err([{ path: "", message: cut }]);
  const records = accountRecords(parsed);
  if (records === undefined) {
    const known = "geth's debug_dumpBlock, Anvil's anvil_dumpState or a genesis file with alloc";
    return err([{ path: "", message: `it is no dump that is known here: ${known}` }]);
  }
  const problems: ConfigProblem[] = [];
  const accounts: GenesisAccount[] = [];
  const leftOut: CarriedState["leftOut"][number][] = [];
  for (const [key, record] of Object.entries(records)) {
    const account = readAccount(key, record, problems);
    if (account === undefined || isEmpty(account)) continue;
    const reason = whyLeftOut(account.address);
    if (reason === undefined) accounts.push(account);
    else leftOut.push({ address: addressToChecksumHex(account.address), reason });
  }
  accounts.sort((a, b) => (a.address < b.address ? -1 : 1));
  return problems.length > 0 ? err(problems) : ok({ accounts, leftOut });
}

/** `geth dump`: a line with the root, then one for each account. */
function accountLines(text: string): JsonRecord | undefined {
  const accounts: Record<string, unknown> = {};
  for (const line of text.split("\n").filter((one) => one.trim() !== "")) {
    const record = parseJson(line);
    if (!isRecord(record)) return undefined;
    if (record["balance"] === undefined) continue;
    accounts[String(record["address"] ?? record["key"])] = record;
  }
  return { accounts };
}

/** geth answers with 256 accounts at most and says where the next ones begin. */
function cutOff(value: unknown): string | undefined {
  const inner = isRecord(value) && isRecord(value["result"]) ? value["result"] : value;
  if (!isRecord(inner) || !isRecord(inner["accounts"])) return undefined;
  if (inner["next"] === undefined || inner["next"] === null) return undefined;
  const count = Object.keys(inner["accounts"]).length;
  return `it ends after ${count} accounts. Stop the node and take all: geth --datadir DIR dump`;
}

function accountRecords(value: unknown): JsonRecord | undefined {
  if (typeof value === "string" && value.startsWith(GZIP_MAGIC)) {
    return accountRecords(parseJson(unpack(value)));
  }
  if (!isRecord(value)) return undefined;
  if (value["result"] !== undefined) return accountRecords(value["result"]);
  for (const name of ["accounts", "alloc"]) {
    const inner = value[name];
    if (isRecord(inner)) return inner;
  }
  const names = Object.keys(value);
  const areAddresses = names.every((name) => addressOf(name) !== undefined);
  return names.length > 0 && areAddresses ? value : undefined;
}

function unpack(hex: string): string {
  const bytes = parseHex(hex);
  if (bytes === undefined) return "";
  try {
    return gunzipSync(bytes, { maxOutputLength: UNPACKED_BYTES_MAX }).toString("utf8");
  } catch {
    return "";
  }
}

function readAccount(
  key: string,
  record: unknown,
  problems: ConfigProblem[],
): GenesisAccount | undefined {
  const before = problems.length;
  const report = (field: string, message: string): void => {
    problems.push({ path: field === "" ? key : `${key}.${field}`, message });
  };
  const fields = isRecord(record) ? record : {};
  if (!isRecord(record)) report("", "must be a record");
  // geth writes `pre(0x...)` and then the address beside it, where it has the address at all.
  const address = addressOf(key) ?? addressOf(String(fields["address"]));
  if (address === undefined) {
    report("", "has no address: run geth with --cache.preimages, and dump again");
  }
  const balance = numberOf(fields["balance"] ?? "0");
  if (balance === undefined) report("balance", "must be a number");
  const nonce = numberOf(fields["nonce"] ?? "0");
  if (nonce === undefined) report("nonce", "must be a number");
  const codeText = fields["code"] ?? "0x";
  const code = typeof codeText === "string" ? parseHex(withPrefix(codeText)) : undefined;
  if (code === undefined) report("code", "must be hex");
  const storage = sortedStorage(readStorage(fields["storage"] ?? {}, report));
  if (problems.length > before) return undefined;
  if (address === undefined || balance === undefined) return undefined;
  if (nonce === undefined || code === undefined) return undefined;
  return { address, balance, carried: { isAdmin: false, nonce, code, storage } };
}

function readStorage(
  storage: unknown,
  report: (field: string, message: string) => void,
): readonly (readonly [bigint, bigint])[] {
  if (!isRecord(storage)) report("storage", "must be a record");
  const words: [bigint, bigint][] = [];
  for (const [slot, value] of Object.entries(isRecord(storage) ? storage : {})) {
    const [slotWord, word] = [wordOf(slot), wordOf(value)];
    if (slotWord === undefined || word === undefined) {
      report(`storage.${slot}`, "must be a word in hex by its slot in hex");
      break;
    }
    words.push([slotWord, word]);
  }
  return words;
}

function isEmpty({ balance, carried }: GenesisAccount): boolean {
  if (balance > 0n || carried === undefined) return false;
  return carried.nonce === 0n && carried.code.length === 0;
}

function whyLeftOut(address: bigint): string | undefined {
  const known = CHAIN_CONTRACTS.get(address);
  if (known !== undefined) return known;
  const isPrecompile = address <= PRECOMPILE_MAX || address === PRECOMPILE_P256;
  return isPrecompile ? "a precompiled contract" : undefined;
}

function addressOf(text: string): bigint | undefined {
  return parseAddress(withPrefix(text).toLowerCase());
}

/** Decimal as geth writes balances, hex as genesis files do. */
function numberOf(value: unknown): bigint | undefined {
  if (typeof value === "number") {
    return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined;
  }
  if (typeof value !== "string") return undefined;
  const isNumber = DECIMAL.test(value) || HEX_WORD.test(value);
  const number = isNumber ? BigInt(value) : undefined;
  return number !== undefined && number <= UINT256_MAX ? number : undefined;
}

/** Slots and words are hex everywhere, with 0x or without it. */
function wordOf(value: unknown): bigint | undefined {
  if (typeof value !== "string") return undefined;
  const text = withPrefix(value);
  return HEX_WORD.test(text) ? BigInt(text) : undefined;
}

function withPrefix(hex: string): string {
  return hex.startsWith("0x") ? hex : `0x${hex}`;
}
