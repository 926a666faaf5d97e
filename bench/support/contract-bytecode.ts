/** The compiled benchmark contracts (bench/contracts, rebuilt by its main.ts) and their calls. */
import { readFileSync } from "node:fs";
import path from "node:path";

import { hexToBytes } from "../../src/base/hex.ts";

export type ContractName = "Loops" | "Snailtracer" | "Token";

type Contract = {
  readonly creation: string;
  readonly runtime: string;
  readonly selectors: Readonly<Record<string, string>>;
};

const file = readFileSync(
  path.join(import.meta.dirname, "..", "contracts", "bytecode.json"),
  "utf8",
);
const { contracts } = JSON.parse(file) as { contracts: Readonly<Record<ContractName, Contract>> };

export function creationCode(name: ContractName): Uint8Array {
  return hexToBytes(contracts[name].creation);
}

export function runtimeCode(name: ContractName): Uint8Array {
  return hexToBytes(contracts[name].runtime);
}

/** Call data of a method whose arguments are all words. */
export function callData(
  name: ContractName,
  method: string,
  ...args: readonly bigint[]
): Uint8Array {
  const selector = contracts[name].selectors[method];
  if (selector === undefined) throw new Error(`${name} has no method ${method}`);
  const words = args.map((word) => word.toString(16).padStart(64, "0"));
  return hexToBytes(`0x${selector}${words.join("")}`);
}
