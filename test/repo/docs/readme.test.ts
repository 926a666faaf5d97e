import assert from "node:assert/strict";
import { globSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { COMMANDS } from "../../../src/cli/command-table.ts";

const ROOT = path.join(import.meta.dirname, "../../..");
const read = (name: string): string => readFileSync(path.join(ROOT, name), "utf8");

describe("README.md and docs/cli.md", () => {
  it("lead to every document", () => {
    const readme = read("README.md");
    const documents = ["CONTRIBUTING.md", "CHANGELOG.md", "docs/adr", ...inDocs()];
    const missing = documents.filter((name) => !readme.includes(`](${name})`));
    assert.deepEqual(missing, []);
  });

  it("name every folder of the source", () => {
    const readme = read("README.md");
    const folders = readdirSync(path.join(ROOT, "src")).map((folder) => `src/${folder}`);
    const missing = folders.filter((folder) => !readme.includes(`\`${folder}\``));
    assert.deepEqual(missing, []);
  });

  it("name every command, and every flag of those for a network on this machine", async () => {
    const text = read("docs/cli.md");
    const missing = [...COMMANDS.keys()].filter((name) => !text.includes(`\`${name}\``));
    const up = await COMMANDS.get("up")?.load();
    assert.ok(up !== undefined && up.options.length > 0);
    const unknown = up.options.filter(({ name }) => !text.includes(`\`--${name}`));
    assert.deepEqual([...missing, ...unknown.map(({ name }) => `up --${name}`)], []);
  });
});

function inDocs(): string[] {
  return globSync("docs/*.md", { cwd: ROOT });
}
