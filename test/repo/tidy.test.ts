/** Repository rules that no linter knows. Each failure names the file and says what to do. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";

const ROOT = path.join(import.meta.dirname, "../..");

/** A line of the table in docs/ARCHITECTURE.md. */
type FolderLaw = {
  readonly nature: string;
  readonly imports: readonly string[];
  readonly packages: readonly string[];
};

const EXPORTED =
  /^export (?:type|const|function\*?|async function|class|abstract class) ([A-Za-z0-9_]+)/gm;
/** Nouns of both chains, Ethereum's and that of consensus; each side needs its own. */
const SHARED_NAMES = new Set(["Block", "Header", "Transaction"]);
const NATURES = ["pure", "native", "types", "I/O"];
const LAW = loadLaw();

const FILE_LINES_MAX = 500;
const SWITCHBOARD_LINES_MAX = 400;
const FOLDER_FILES_MAX = 25;
const LINE_LENGTH_MAX = 100;

type SourceFile = { readonly name: string; readonly text: string; readonly imports: string[] };

const sources = loadSources();
const byName = new Map(sources.map((source) => [source.name, source]));

describe("tidy", () => {
  it("imports follow the law of docs/ARCHITECTURE.md", () => {
    for (const source of sources) {
      const folder = folderOf(source.name);
      if (folder === undefined) continue;
      const allowed = LAW.get(folder)?.imports;
      assert.ok(allowed !== undefined, `src/${folder} has no line in docs/ARCHITECTURE.md`);
      for (const target of source.imports.filter((name) => name.startsWith("src/"))) {
        const other = folderOf(target) ?? "";
        const lawful: boolean = other === folder || allowed.includes(other);
        assert.ok(lawful, `${source.name} imports ${target}: src/${folder} may not use ${other}`);
      }
      for (const target of source.imports.filter((name) => /^(test|bench)\//.test(name))) {
        assert.fail(`${source.name} imports ${target}: the product does not depend on its tests`);
      }
    }
  });

  it("relative imports resolve and carry their extension", () => {
    for (const source of sources) {
      for (const target of source.imports.filter((name) => /^(src|test|bench)\//.test(name))) {
        assert.ok(byName.has(target) || target.endsWith(".json"), `${source.name}: ${target}?`);
      }
    }
  });

  it("no file is part of an import cycle", () => {
    const done = new Set<string>();
    const visit = (name: string, trail: readonly string[]): void => {
      assert.ok(!trail.includes(name), `import cycle: ${[...trail, name].join(" -> ")}`);
      if (done.has(name)) return;
      for (const target of byName.get(name)?.imports ?? []) visit(target, [...trail, name]);
      done.add(name);
    };
    for (const source of sources) visit(source.name, []);
  });

  it("a folder imports only the packages of its line, and a pure one no node:* module", () => {
    for (const source of sources) {
      const folder = folderOf(source.name);
      if (folder === undefined) continue;
      const { nature, packages } = LAW.get(folder) ?? assert.fail(`${folder} has no line`);
      for (const target of source.imports.filter((name) => !/^(src|test|bench)\//.test(name))) {
        if (target.startsWith("node:")) {
          const mayUseNode = nature === "I/O" || nature === "native";
          assert.ok(mayUseNode, `${source.name} imports ${target}: src/${folder} is ${nature}`);
          continue;
        }
        const lawful = packages.some((name) => target === name || target.startsWith(`${name}/`));
        assert.ok(lawful, `${source.name} imports ${target}: list it in docs/ARCHITECTURE.md`);
      }
    }
  });

  it("the table of docs/ARCHITECTURE.md has a line for every folder and no other", () => {
    const folders = new Set(sources.flatMap(({ name }) => folderOf(name) ?? []));
    assert.deepEqual([...LAW.keys()].sort(), [...folders].sort());
    for (const [folder, { nature, imports }] of LAW) {
      assert.ok(NATURES.includes(nature), `src/${folder}: unknown nature ${nature}`);
      for (const other of imports) assert.ok(LAW.has(other), `src/${folder}: no folder ${other}`);
    }
  });

  it("the pure folders read no clock, draw no randomness and hold no promise", () => {
    const words =
      "Date|Math\\.random|performance|setTimeout|setInterval|setImmediate|queueMicrotask|" +
      "Promise|async|await|process|console|globalThis|require";
    const banned = new RegExp(`\\b(${words})\\b`);
    for (const source of sources) {
      const folder = folderOf(source.name);
      if (folder === undefined || LAW.get(folder)?.nature !== "pure") continue;
      const found = banned.exec(withoutComments(source.text));
      assert.equal(found, null, `${source.name} uses ${found?.[0] ?? ""}`);
    }
  });

  it("files are short and lines fit", () => {
    for (const source of sources) {
      const lines = source.text.split("\n");
      const count = lines.length - 1;
      assert.ok(count <= FILE_LINES_MAX, `${source.name}: ${count} lines; one concept per file`);
      lines.forEach((line, index) => {
        const fits =
          line.length <= LINE_LENGTH_MAX ||
          /https?:|0x[0-9a-f]{40}|import |`|^\s+(it\(|find:)/.test(line);
        assert.ok(fits, `${source.name}:${index + 1}: longer than ${LINE_LENGTH_MAX} characters`);
      });
    }
  });

  it("folders hold at most 25 files, and the switchboards at most 400 lines a file", () => {
    const counts = new Map<string, number>();
    for (const { name } of sources) {
      const folder = path.posix.dirname(name);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    for (const [folder, count] of counts) {
      assert.ok(count <= FOLDER_FILES_MAX, `${folder} has ${count} files: group them`);
    }
    for (const { name, text } of sources) {
      if (!/^src\/(replica|client|rpc|cli|node|local-network)\//.test(name)) continue;
      const count = text.split("\n").length - 1;
      assert.ok(count <= SWITCHBOARD_LINES_MAX, `${name}: ${count} lines; one concept per file`);
    }
  });

  it("names say one thing: no drawers, no barrels, kebab-case", () => {
    for (const { name } of sources) {
      const file = path.basename(name);
      assert.doesNotMatch(file, /^(utils?|helpers?|common|misc|index)\.ts$/, `${name} is a drawer`);
      assert.match(file, /^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.ts$/, `${name}: use kebab-case`);
    }
  });

  it("an exported name of src means one thing", () => {
    const places = new Map<string, string[]>();
    for (const { name, text } of sources.filter((source) => folderOf(source.name) !== undefined)) {
      for (const [, exported = ""] of text.matchAll(EXPORTED)) {
        places.set(exported, [...(places.get(exported) ?? []), name]);
      }
    }
    for (const [exported, files] of places) {
      const isUnique = files.length === 1 || SHARED_NAMES.has(exported);
      assert.ok(isUnique, `${exported} is exported by ${files.join(" and ")}: rename one`);
    }
    for (const name of SHARED_NAMES) {
      assert.ok((places.get(name)?.length ?? 0) > 1, `${name} need not be allowed any more`);
    }
  });

  it("no banned words and no silenced checks without a reason", () => {
    for (const source of sources.filter(({ name }) => name !== "test/repo/tidy.test.ts")) {
      assert.doesNotMatch(
        source.text,
        /\b(FIXME|XXX)\b/,
        `${source.name}: fix it or file an issue`,
      );
      assert.doesNotMatch(source.text, /TODO(?!\(#\d+\))/, `${source.name}: TODO needs an issue`);
      assert.doesNotMatch(source.text, /@ts-(ignore|nocheck)/, `${source.name}: silences types`);
      assert.doesNotMatch(source.text, /export default/, `${source.name}: no default exports`);
      assert.doesNotMatch(source.text, /\.(only|todo)\(/, `${source.name}: leaves tests out`);
      for (const line of source.text
        .split("\n")
        .filter((text) => text.includes("eslint-disable"))) {
        assert.match(line, /eslint-disable.* -- .+/, `${source.name}: say why after " -- "`);
      }
    }
  });

  it("no source file is dead: everything is reached from a test, a bench or a command", () => {
    const reached = new Set<string>();
    const visit = (name: string): void => {
      if (reached.has(name)) return;
      reached.add(name);
      byName.get(name)?.imports.forEach(visit);
    };
    for (const { name } of sources) if (isEntry(name)) visit(name);
    const dead = sources.map(({ name }) => name).filter((name) => !reached.has(name));
    assert.deepEqual(dead, [], "delete these or use them");
  });

  it("nothing names the machine it was written on", () => {
    const files = globSync(["**/*.{ts,js,json,md,yaml,yml,sh}", ".ci/*"], {
      cwd: ROOT,
      exclude: ["node_modules/**", ".cache/**", "test/repo/tidy.test.ts"],
    });
    for (const name of files) {
      const text = readFileSync(path.join(ROOT, name), "utf8");
      assert.doesNotMatch(text, /\/work\/(main|shared)|\/root\//, `${name} names a local path`);
    }
  });
});

/** bench/main.ts and src/cli load the others of their folder by name, when they are asked for. */
function isEntry(name: string): boolean {
  if (name === "src/cli/main.ts" || /^src\/cli\/commands\/[a-z-]+\.ts$/.test(name)) return true;
  if (name.endsWith(".test.ts") || /^bench\/[a-z-]+\.ts$/.test(name)) return true;
  return /^(test|bench)\/([a-z]+\/)?(main|run|worker)\.ts$/.test(name);
}

function loadLaw(): ReadonlyMap<string, FolderLaw> {
  const text = readFileSync(path.join(ROOT, "docs/ARCHITECTURE.md"), "utf8");
  const rows = [...text.matchAll(/^\| `src\/([a-z-]+)` +\|(.*)\|$/gm)];
  return new Map(
    rows.map(([, folder = "", rest = ""]) => {
      const [, , nature = "", imports = "", packages = ""] = rest.split("|").map((c) => c.trim());
      return [folder, { nature, imports: words(imports), packages: words(packages) }];
    }),
  );
}

function words(cell: string): readonly string[] {
  return cell === "-" ? [] : cell.split(" ");
}

function folderOf(name: string): string | undefined {
  return /^src\/([^/]+)\//.exec(name)?.[1];
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");
}

function loadSources(): SourceFile[] {
  const names = globSync(["src/**/*.ts", "test/**/*.ts", "bench/**/*.ts"], { cwd: ROOT });
  return names.map((name) => {
    const text = readFileSync(path.join(ROOT, name), "utf8");
    const found = text.matchAll(
      /^(?:import|export)\b[^;"'`]*?from\s+"([^"]+)"|^import\s+"([^"]+)"/gm,
    );
    const imports = [...found].map((match) => resolveImport(name, match[1] ?? match[2] ?? ""));
    return { name, text, imports };
  });
}

function resolveImport(from: string, target: string): string {
  return target.startsWith(".") ? path.posix.join(path.posix.dirname(from), target) : target;
}
