/** What runs elsewhere calls the scripts of this repository, and those are there. */
import assert from "node:assert/strict";
import { globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";

const ROOT = path.join(import.meta.dirname, "../..");
const read = (name: string): string => readFileSync(path.join(ROOT, name), "utf8");
const { scripts } = JSON.parse(read("package.json")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

type Step = { readonly run?: string; readonly uses?: string };
type Workflow = {
  readonly permissions?: unknown;
  readonly jobs: Readonly<
    Record<string, { readonly "timeout-minutes"?: number; readonly steps: readonly Step[] }>
  >;
};
const workflows = globSync(".github/workflows/*.yml", { cwd: ROOT }).map((name) => ({
  name,
  text: read(name),
  workflow: parse(read(name)) as Workflow,
}));

describe("workflows", () => {
  it("run scripts of package.json and .ci/run, nothing of their own", () => {
    assert.ok(workflows.length > 0);
    for (const { name, workflow } of workflows) {
      const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);
      for (const { run } of steps.filter((step) => step.run !== undefined)) {
        assert.match(run ?? "", /^(npm (ci|test|run \S+.*)|\.ci\/run|\$\{\{.*\}\})$/, name);
      }
    }
  });

  it("and documents name only scripts that exist", () => {
    const documents = globSync(["*.md", "docs/**/*.md", ".github/**/*.{md,yml}"], { cwd: ROOT });
    const unknown = documents.flatMap((name) =>
      Array.from(read(name).matchAll(/npm run ([a-z][\w:-]*)/g), ([, script = ""]) => script)
        .filter((script) => scripts[script] === undefined)
        .map((script) => `${name}: npm run ${script}`),
    );
    assert.deepEqual(unknown, []);
  });

  it("may read only, and end", () => {
    for (const { name, workflow } of workflows) {
      assert.deepEqual(workflow.permissions, { contents: "read" }, name);
      for (const [job, { "timeout-minutes": minutes }] of Object.entries(workflow.jobs)) {
        assert.ok(minutes !== undefined, `${name}: ${job} has no timeout-minutes`);
      }
    }
  });

  it("cover types, lint, tests on two systems, chart, image and package", () => {
    const text = read(".github/workflows/ci.yml");
    for (const part of ["npm run check", ".ci/run", "macos", "npm run chart", "npm run release"]) {
      assert.ok(text.includes(part), part);
    }
  });
});

describe("the repository", () => {
  it("has what contributors look for", () => {
    for (const name of [
      ...["README.md", "LICENSE", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"],
      ...["CODE_OF_CONDUCT.md", ".editorconfig", ".github/CODEOWNERS", ".github/dependabot.yml"],
      ...[".github/PULL_REQUEST_TEMPLATE.md", ".github/ISSUE_TEMPLATE/bug.yml"],
    ]) {
      assert.ok(statSync(path.join(ROOT, name)).size > 0, name);
    }
  });

  it("has an owner for folders that exist", () => {
    const places = Array.from(
      read(".github/CODEOWNERS").matchAll(/^\/(\S+)/gm),
      ([, name]) => name,
    );
    for (const place of places) statSync(path.join(ROOT, place ?? ""));
  });
});
