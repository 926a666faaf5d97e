/**
 * Rebuilds bench/contracts/bytecode.json from the Solidity beside it:
 * `npx node bench/contracts/main.ts`. The result is checked in so that no run needs a compiler.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

type Compiler = { compile(input: string): string; version(): string };

type Output = {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Readonly<Record<string, Readonly<Record<string, Contract>>>>;
};

type Contract = {
  readonly evm: {
    readonly bytecode: { readonly object: string };
    readonly deployedBytecode: { readonly object: string };
    readonly methodIdentifiers: Readonly<Record<string, string>>;
  };
};

const FOLDER = import.meta.dirname;

function main(): void {
  const compiler = createRequire(import.meta.url)("solc") as Compiler;
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".sol"));
  const sources = names.map((name) => [name, { content: readText(name) }] as const);
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(sources),
    settings: {
      // Fixed, and equal for all engines under test. The metadata hash would change with comments.
      evmVersion: "cancun",
      optimizer: { enabled: true, runs: 200 },
      metadata: { bytecodeHash: "none", appendCBOR: false },
      outputSelection: {
        "*": {
          "*": ["evm.bytecode.object", "evm.deployedBytecode.object", "evm.methodIdentifiers"],
        },
      },
    },
  };
  const output = JSON.parse(compiler.compile(JSON.stringify(input))) as Output;
  const errors = (output.errors ?? []).filter((entry) => entry.severity === "error");
  if (errors.length > 0) throw new Error(errors.map((entry) => entry.formattedMessage).join("\n"));
  const contracts = Object.values(output.contracts).flatMap((file) => Object.entries(file));
  const built = contracts.map(([name, { evm }]) => [
    name,
    {
      creation: `0x${evm.bytecode.object}`,
      runtime: `0x${evm.deployedBytecode.object}`,
      selectors: evm.methodIdentifiers,
    },
  ]);
  const file = { compiler: compiler.version(), contracts: Object.fromEntries(built) as unknown };
  writeFileSync(path.join(FOLDER, "bytecode.json"), `${JSON.stringify(file, undefined, 2)}\n`);
}

function readText(name: string): string {
  return readFileSync(path.join(FOLDER, name), "utf8");
}

main();
