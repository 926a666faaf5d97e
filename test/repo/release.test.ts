/** A release is stopped by files that contradict each other, before anything is made of them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { releaseProblems, type ReleaseFiles } from "../../tools/release/release-checks.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const read = (name: string): string => readFileSync(path.join(ROOT, name), "utf8");

const FILES: ReleaseFiles = {
  lock: '{"version": "1.2.3"}',
  chart: "name: quorate\nversion: 1.2.3\nappVersion: 1.2.3\n",
  dockerfile: "FROM x\nARG VERSION=1.2.3\n",
  changelog: "# Changelog\n\n## 1.2.3 (2026-01-02)\n\n- Something.\n\n## 1.2.2\n\n- Before.\n",
  changes: "",
  tags: "v1.2.2\n",
};
const problems = (change: Partial<ReleaseFiles>): unknown =>
  releaseProblems("1.2.3", { ...FILES, ...change });

describe("a release", () => {
  it("has nothing in its way when all files agree", () => {
    assert.deepEqual(problems({}), { fatal: [], pending: [] });
  });

  it("stops where a version differs", () => {
    for (const [file, text] of [
      ["lock", '{"version": "1.2.2"}'],
      ["chart", FILES.chart.replace("version: 1.2.3", "version: 1.2.2")],
      ["chart", FILES.chart.replace("appVersion: 1.2.3", "")],
      ["dockerfile", "ARG VERSION=1.2.2\n"],
      ["changelog", FILES.changelog.replace("## 1.2.3", "## 1.2.4")],
      ["changelog", FILES.changelog.replace("- Something.", "")],
    ] as const) {
      const { fatal } = releaseProblems("1.2.3", { ...FILES, [file]: text });
      assert.equal(fatal.length, 1, `${file}: ${text}`);
    }
    assert.equal(releaseProblems("1.2", FILES).fatal.length, 1);
  });

  it("waits for a date, a commit and a free tag", () => {
    const changelog = FILES.changelog.replace("(2026-01-02)", "(unreleased)");
    const left = releaseProblems("1.2.3", {
      ...{ ...FILES, changelog, changes: " M x\n", tags: "v1.2.3\n" },
    });
    assert.deepEqual([left.fatal.length, left.pending.length], [0, 3]);
  });

  it("could be made of this repository: all versions match", () => {
    const { version } = JSON.parse(read("package.json")) as { readonly version: string };
    const { fatal } = releaseProblems(version, {
      lock: read("package-lock.json"),
      chart: read("deploy/chart/Chart.yaml"),
      dockerfile: read("deploy/image/Dockerfile"),
      changelog: read("CHANGELOG.md"),
      ...{ changes: "", tags: "" },
    });
    assert.deepEqual(fatal, []);
  });
});
