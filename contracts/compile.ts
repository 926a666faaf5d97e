/** Compiles the contracts of this folder: the same bytes from the same sources, on any machine. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

type Compiler = { compile(input: string): string; version(): string };

type CompilerOutput = {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Readonly<Record<string, Readonly<Record<string, CompilerContract>>>>;
};

type CompilerContract = {
  readonly abi: readonly unknown[];
  readonly storageLayout: {
    readonly storage: readonly {
      readonly label: string;
      readonly slot: string;
      readonly offset: number;
    }[];
  };
  readonly evm: {
    readonly deployedBytecode: { readonly object: string };
    readonly methodIdentifiers: Readonly<Record<string, string>>;
  };
};

/** What is checked in as contracts/permissions.json. */
export type CompiledPermissions = {
  readonly compiler: string;
  readonly storage: Readonly<Record<string, number>>;
  readonly methods: Readonly<Record<string, string>>;
  readonly abi: readonly unknown[];
  readonly runtime: string;
};

export type BuiltFile = { readonly path: string; readonly text: string };

const FOLDER = import.meta.dirname;
const SOURCE = "Permissions.sol";
const HEX_PER_LINE = 92;

export function compilePermissions(): CompiledPermissions {
  const compiler = createRequire(import.meta.url)("solc") as Compiler;
  const input = {
    language: "Solidity",
    sources: { [SOURCE]: { content: readFileSync(path.join(FOLDER, SOURCE), "utf8") } },
    settings: {
      evmVersion: "cancun",
      optimizer: { enabled: true, runs: 10_000 },
      // Without the hash of the metadata a comment changes no byte of the genesis.
      metadata: { bytecodeHash: "none", appendCBOR: false },
      outputSelection: {
        "*": {
          "*": ["abi", "storageLayout", "evm.deployedBytecode.object", "evm.methodIdentifiers"],
        },
      },
    },
  };
  const output = JSON.parse(compiler.compile(JSON.stringify(input))) as CompilerOutput;
  const problems = (output.errors ?? []).map((entry) => entry.formattedMessage);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const built = output.contracts[SOURCE]?.["Permissions"];
  if (built === undefined) throw new Error(`${SOURCE} holds no contract Permissions`);
  const { abi, evm, storageLayout } = built;
  return {
    compiler: compiler.version(),
    storage: Object.fromEntries(
      storageLayout.storage.map(({ label, slot }) => [label, Number(slot)]),
    ),
    methods: evm.methodIdentifiers,
    abi,
    runtime: `0x${evm.deployedBytecode.object}`,
  };
}

/** The files that are checked in, by their path from the root of the project. */
export function renderPermissions(compiled: CompiledPermissions): readonly BuiltFile[] {
  return [
    { path: "contracts/permissions.json", text: `${JSON.stringify(compiled, undefined, 2)}\n` },
    { path: "src/execution/permission-bytecode.ts", text: renderBytecode(compiled.runtime) },
  ];
}

/** Pure folders read no files, so the code of the contract is a module. */
function renderBytecode(runtime: string): string {
  const digits = runtime.slice(2);
  const lines: string[] = [];
  for (let start = 0; start < digits.length; start += HEX_PER_LINE) {
    lines.push(`  "${digits.slice(start, start + HEX_PER_LINE)}",`);
  }
  return [
    "/** Made by `npm run contracts` from contracts/Permissions.sol: change that, not this. */",
    "const LINES: readonly string[] = [",
    ...lines,
    "];",
    "",
    "/** The code at the permission contract's address. */",
    'export const PERMISSION_BYTECODE = `0x${LINES.join("")}`;',
    "",
  ].join("\n");
}
