/**
 * What comments and documents cite is in the repository: clauses of docs/SPEC.md and
 * docs/PROTOCOL.md, decision records, and documents by name.
 */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { citationProblems, specIds, protocolClauses, type Known } from "./citations.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const EXCLUDED = ["node_modules/**", ".cache/**", ".release/**", "dist/**", "test/repo/citations*"];

const read = (name: string): string => readFileSync(path.join(ROOT, name), "utf8");
const known: Known = {
  spec: specIds(read("docs/SPEC.md")),
  protocol: protocolClauses(read("docs/PROTOCOL.md")),
  records: new Set(
    globSync("docs/adr/*.md", { cwd: ROOT }).map((name) => path.basename(name).slice(0, 4)),
  ),
  documents: new Set(
    globSync(["**/*.md", ".github/**/*.md"], { cwd: ROOT, exclude: EXCLUDED }).map((name) =>
      path.basename(name),
    ),
  ),
};

describe("citations", () => {
  it("resolve in every source, test, script and document", () => {
    const files = globSync(
      [
        ...["{src,test,bench,contracts,bin,deploy,docs}/**/*.{ts,js,sol,md,tpl,yaml,sh,txt}"],
        ...["deploy/image/Dockerfile", "*.md", ".ci/*", ".github/**/*.{md,yml,yaml}"],
      ],
      { cwd: ROOT, exclude: EXCLUDED },
    );
    const problems = files.flatMap((name) =>
      citationProblems(read(name), known).map((problem) => `${name}:${problem}`),
    );
    assert.deepEqual(problems, []);
  });

  it("of documents by a relative link lead to a file", () => {
    const names = globSync(["*.md", "docs/**/*.md", ".github/**/*.md"], { cwd: ROOT });
    const broken = names.flatMap((name) =>
      [...read(name).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)\s]*)?\)/g)]
        .map(([, target = ""]) => path.join(path.dirname(name), target))
        .filter((target) => !existsSync(path.join(ROOT, target)))
        .map((target) => `${name}: ${target}`),
    );
    assert.deepEqual(broken, []);
  });

  it("that do not resolve are found, each with its line", () => {
    const found = (text: string): string[] => citationProblems(text, known);
    assert.deepEqual(found("/** SPEC E13, A4-A6 and PROTOCOL §5.1, §9; docs/adr/0004. */"), []);
    assert.deepEqual(found("// RFC 6455 §5.3 and EIP-4361"), []);
    assert.deepEqual(found("\n// SPEC E99"), ["2: no clause E99 in docs/SPEC.md"]);
    assert.deepEqual(found("// SPEC P8-P77"), ["1: no clause P77 in docs/SPEC.md"]);
    assert.deepEqual(found("// PROTOCOL §5.77"), ["1: no clause §5.77 in docs/PROTOCOL.md"]);
    assert.deepEqual(found("// (§44)"), ["1: no clause §44 in docs/PROTOCOL.md"]);
    assert.deepEqual(found("// ADR 0999"), ["1: no decision record 0999 in docs/adr"]);
    assert.deepEqual(found("// docs/adr/0999"), ["1: no decision record 0999 in docs/adr"]);
    assert.deepEqual(found("// see PLANS.md"), ["1: no document PLANS.md"]);
    assert.deepEqual(found("// PLANS §1"), ["1: no document PLANS.md"]);
    assert.deepEqual(found('// PLANS "Spam"'), ["1: no document PLANS.md"]);
  });

  it("join SPEC and PROTOCOL in both directions", () => {
    assert.match(read("docs/SPEC.md"), /\]\(PROTOCOL\.md\)/);
    assert.match(read("docs/PROTOCOL.md"), /\]\(SPEC\.md\)/);
  });
});
