/** Decision records of docs/adr: one form, so that a reader finds status and decision at once. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";

const ROOT = path.join(import.meta.dirname, "../..");
const STATUS = /^Status: (proposed|accepted|rejected|superseded by (\d{4}))$/m;
const DECISION = /^(## Decision$|\*\*Decision\.\*\*)/m;

const records = globSync("docs/adr/*.md", { cwd: ROOT })
  .sort()
  .map((name) => ({ name, text: readFileSync(path.join(ROOT, name), "utf8") }));
const decided = records.filter(({ name }) => !name.endsWith("0000-template.md"));

describe("decision records", () => {
  it("are numbered without a gap, in the file's name and in the title", () => {
    assert.equal(records[0]?.name, path.join("docs", "adr", "0000-template.md"));
    records.forEach(({ name, text }, index) => {
      const number = String(index).padStart(4, "0");
      assert.match(path.basename(name), new RegExp(`^${number}-[a-z0-9-]+\\.md$`), name);
      assert.ok(text.startsWith(`# ${number}: `), `${name}: the title begins "# ${number}: "`);
    });
  });

  it("have a status and a decision, as the template asks", () => {
    assert.ok(decided.length > 0, "there are records to check");
    for (const { name, text } of decided) {
      assert.match(text, STATUS, `${name}: no "Status:" line of docs/adr/0000-template.md`);
      assert.match(text, DECISION, `${name}: no section "Decision"`);
    }
  });

  it("name a record that exists where they are superseded", () => {
    for (const { name, text } of decided) {
      const successor = STATUS.exec(text)?.[2];
      if (successor === undefined) continue;
      const isThere = decided.some((other) => path.basename(other.name).startsWith(successor));
      assert.ok(isThere, `${name}: superseded by ${successor}, which is not there`);
    }
  });
});
